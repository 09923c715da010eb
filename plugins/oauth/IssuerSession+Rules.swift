import Addresses
import Claims
import OAuth
import PluginOAuth
import PluginWire

extension IssuerSession: OAuthSession {
    /// Returns prompt, hints, claims, resources and other additional parameters.
    ///
    /// - Throws: as `PluginRequest.signInFields`.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        let claims = request.claims.map { [("claims", $0)] } ?? []
        return try traits.parameters
            + request.signInFields(
                prompts: traits.prompts, at: address.hostText, claims + request.resources.map { ("resource", $0) }
            ) { [(traits.hintName, $0)] }
    }

    /// Returns the validated tokens as a result of the plugin protocol.
    func accept(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> PluginResult {
        try await result(response, nonce: nonce)
    }

    /// Whether another flow may succeed: an issuer may deny device codes to this client or for these scopes, but allow
    /// a sign-in in the browser.
    func mayDoBetterElsewhere(after error: OAuthError) -> Bool {
        switch error.kind {
        case .notFound: true
        case .refused(let response, .device): Self.withoutDeviceCodes.contains(response.error)
        default: false
        }
    }

    private static let withoutDeviceCodes: Set = ["device_flow_disabled", "unauthorized_client", "invalid_scope"]

    /// Returns the page for a successful sign-in: the account, and the resource or authority.
    func page(with result: PluginResult) -> LoopbackPage {
        var page = LoopbackPage.success
        page.facts = request.facts(account: result.account?.username, authority: request.authority)
        return page
    }

    /// Returns the page for an error: the user's cancellation, or any other failure.
    func page(after error: OAuthError) -> LoopbackPage {
        var page = LoopbackPage(after: error)
        page.facts = request.facts(account: request.signIn.loginHint, authority: request.authority)
        return page
    }
}
