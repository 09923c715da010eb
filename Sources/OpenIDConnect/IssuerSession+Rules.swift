import Claims
import OAuth
import PluginOAuth
import PluginWire

extension IssuerSession: AuthorityRules {
    /// Prompt, hints, claims, resources and further parameters.
    ///
    /// - Throws: `invalidRequest` if the issuer doesn't know the prompt.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        var fields = traits.parameters
        if let prompt = request.signIn.prompt {
            guard traits.prompts.contains(prompt) else {
                throw OAuthError(
                    .invalidRequest, "prompt \(prompt) is not known to \(address.environment)",
                    hint: "use one of \(traits.prompts.joined(separator: ", "))")
            }
            fields.append(("prompt", prompt))
        }
        if let hint = request.signIn.loginHint { fields.append((traits.hintName, hint)) }
        if let hint = request.signIn.domainHint { fields.append(("domain_hint", hint)) }
        if let claims = request.claims { fields.append(("claims", claims)) }
        fields += request.resources.map { ("resource", $0) }
        return fields + request.signIn.queryParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
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
