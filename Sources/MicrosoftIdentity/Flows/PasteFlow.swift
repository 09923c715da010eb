import AuthorityPlugin

/// Authorization code with PKCE in a browser on another computer.
///
/// Its redirect leads nowhere, and the person pastes the address it ended at. That needs the answer in that address,
/// which a posted one never is.
struct PasteFlow: Sendable {
    let session: AuthoritySession

    /// Signs the person in.
    ///
    /// - Parameter person: asked to open the page and to paste.
    /// - Returns: the tokens, or that nobody can paste here.
    /// - Throws: `cancelled` where the person refuses here or there, and what the authority refuses with.
    func run(_ person: any Conversation) async throws(PluginError) -> FlowOutcome {
        let target = try RedirectTarget(session.request.redirectURI)
        let request = AuthorizationRequest(redirectURI: target.uri(port: nil), responseMode: .query)
        let url = try request.url(
            at: session.configuration.authorizationEndpoint, for: session.request, claims: session.claims)
        switch await person.ask(.openURL(url: url, redirectURI: request.redirectURI)) {
        case .redirected(let pasted):
            let response = AuthorizationResponse(pasted: pasted)
            guard response.isResponse else {
                throw PluginError(
                    .invalidRequest, "the pasted address holds no answer to the sign-in",
                    hint: "paste the whole address that the browser shows after the sign-in")
            }
            return .signedIn(try await CodeRedemption(session: session).redeem(response, of: request))
        case .cancelled: throw PluginError(.cancelled, "the sign-in was cancelled")
        case .done, .answer, .unsupported:
            return .notHere(PluginError(.unsupported, "nobody can paste where the browser was led"))
        }
    }
}
