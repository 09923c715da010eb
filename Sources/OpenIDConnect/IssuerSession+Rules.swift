import Claims
import OAuth
import PluginOAuth
import PluginWire

extension IssuerSession: AuthorityRules {
    /// Prompt, hints, claims, resources and further parameters.
    ///
    /// - Throws: as `PluginRequest.signInFields`.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        let claims = request.claims.map { [("claims", $0)] } ?? []
        return try traits.parameters
            + request.signInFields(
                prompts: traits.prompts, at: address.environment, claims + request.resources.map { ("resource", $0) }
            ) { [(traits.hintName, $0)] }
    }

    /// Checked tokens in the plugin protocol's terms.
    func accept(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> PluginResult {
        try await result(response, nonce: nonce)
    }

    /// An issuer may give this client or these scopes no device codes, and yet sign the person in by a browser.
    func mayDoBetterElsewhere(after error: OAuthError) -> Bool {
        switch error.kind {
        case .notFound: true
        case .refused(let response, .device): Self.withoutDeviceCodes.contains(response.error)
        default: false
        }
    }

    private static let withoutDeviceCodes: Set = ["device_flow_disabled", "unauthorized_client", "invalid_scope"]

    /// The page after a sign-in that went well: who signed in, and to what.
    func page(with result: PluginResult) -> LoopbackPage {
        var page = LoopbackPage.success
        page.facts = request.facts(account: result.account?.username, authority: request.authority)
        return page
    }

    /// The page after an error: for the person's own no, or for all else.
    func page(after error: OAuthError) -> LoopbackPage {
        var page = LoopbackPage(after: error)
        page.facts = request.facts(account: request.signIn.loginHint, authority: request.authority)
        return page
    }
}
