import Addresses
import OAuth
import PluginOAuth
import PluginWire
import Secrets

extension AuthoritySession: AuthorityRules {
    /// Hints, claims and further parameters.
    ///
    /// - Throws: as `PluginRequest.signInFields`.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        try request.signInFields(at: authority.environment, claims.map { [("claims", $0)] } ?? []) {
            [("login_hint", $0), ("X-AnchorMailbox", "UPN:\($0)")]
        }
    }

    /// The account's data centre.
    func headers(redeeming response: AuthorizationResponse) -> [(String, String)] {
        AnchorMailbox.header(response: response).map { [(AnchorMailbox.name, $0)] } ?? []
    }

    /// Checked tokens in the plugin protocol's terms.
    func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> PluginResult {
        try result(response, nonce: nonce)
    }

    /// Policies that look at the device can't be satisfied with a code, but may be in a browser.
    func mayDoBetterElsewhere(after error: OAuthError) -> Bool {
        !Self.needsBrowser.isDisjoint(with: pluginError(error).errorCodes)
    }

    /// What looks at the device, or forbids codes.
    static let needsBrowser: Set = [
        "AADSTS53000", "AADSTS53001", "AADSTS53003", "AADSTS530032", "AADSTS50097",
    ]
}
