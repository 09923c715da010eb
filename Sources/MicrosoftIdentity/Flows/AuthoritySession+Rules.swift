import Addresses
import Claims
import OAuth
import PluginOAuth
import PluginWire
import Secrets

extension AuthoritySession: OAuthSession {
    /// Returns hints, claims and other additional parameters.
    ///
    /// - Throws: `invalidRequest` for a parameter that only the plugin sets, and as `PluginRequest.signInFields`.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        do throws(SignInParameterError) { try request.signIn.requireUnreserved() } catch {
            throw OAuthError(.invalidRequest, error.reason, hint: error.hint)
        }
        return try request.signInFields(at: authority.environment, claims.map { [("claims", $0)] } ?? []) {
            [("login_hint", $0), ("X-AnchorMailbox", "UPN:\($0)")]
        }
    }

    /// Returns the header that routes to the account's data centre.
    func headers(redeeming response: AuthorizationResponse) -> [(String, String)] {
        AnchorMailbox.header(response: response).map { [(AnchorMailbox.name, $0)] } ?? []
    }

    /// Returns the validated tokens as a result of the plugin protocol.
    func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> PluginResult {
        try result(response, nonce: nonce)
    }

    /// Returns the validated tokens if they are the account's.
    func renewed(_ tokens: TokenResponse) throws(OAuthError) -> PluginResult {
        try result(tokens, nonce: nil, account: request.account)
    }

    /// Whether a browser may succeed: policies that inspect the device can't be satisfied with a device code.
    func mayDoBetterElsewhere(after error: OAuthError) -> Bool {
        !Self.needsBrowser.isDisjoint(with: pluginError(error).errorCodes)
    }

    /// Whether a sign-in in the browser may work: a policy may forbid device codes, or the client must authenticate.
    func mayKnowClient(after error: OAuthError) -> Bool {
        let error = pluginError(error)
        return [.interactionRequired, .cancelled, .unsupported].contains(error.code) || error.error == "invalid_client"
    }

    /// Errors of policies that inspect the device or forbid device codes.
    static let needsBrowser: Set = [
        "AADSTS53000", "AADSTS53001", "AADSTS53003", "AADSTS530032", "AADSTS50097",
    ]
}
