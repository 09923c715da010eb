import PluginKit
import PluginWire

/// Authorization code with PKCE in a browser on another computer.
///
/// The person pastes the address that it ended at. That needs the answer in that address, which a posted one never is.
/// Where the redirect leads to a loopback port it is listened at as well: the browser may be here, or find the way here.
struct PasteFlow: Sendable {
    let session: AuthoritySession

    /// The error for an address that isn't the one that the sign-in ended at.
    static let noAnswer = PluginError(
        .invalidRequest, "the pasted address holds no answer to the sign-in",
        hint: "paste the whole address that the browser shows after the sign-in")

    /// Signs the person in.
    ///
    /// - Parameter person: asked to open the page and to paste.
    /// - Returns: the tokens, or that nobody can paste here.
    /// - Throws: `cancelled` where the person refuses here or there, and what the authority refuses with.
    func run(_ person: any Conversation) async throws(PluginError) -> FlowOutcome {
        let target = try RedirectTarget(session.request.redirectURI)
        // A port that is taken is no obstacle: the address can still be pasted.
        if target.isLoopback, let listener = try? await LoopbackListener.open(port: target.port) {
            return try await BrowserFlow(session: session, responseMode: .query).run(person, target, on: listener)
        }
        let request = AuthorizationRequest(redirectURI: target.uri(port: nil), responseMode: .query)
        let url = try request.url(
            at: session.configuration.authorizationEndpoint, for: session.request, claims: session.claims)
        switch await person.askToPaste(.openURL(url: url, redirectURI: request.redirectURI), for: request) {
        case .redirected(let pasted):
            let response = AuthorizationResponse(pasted: pasted)
            guard response.isResponse else { throw Self.noAnswer }
            return .signedIn(try await CodeRedemption(session: session).redeem(response, of: request))
        case .cancelled: throw PluginError(.cancelled, "the sign-in was cancelled")
        case .done, .answer, .unsupported:
            return .notHere(PluginError(.unsupported, "nobody can paste where the browser was led"))
        }
    }
}

extension Conversation {
    /// Asks for the address of the last page, and again, with the reason, where another one is pasted: a slip ends no
    /// sign-in.
    func askToPaste(_ page: PluginEvent, for request: AuthorizationRequest) async -> PluginReply {
        for _ in 0..<3 {
            let reply = await ask(page)
            guard case .redirected(let pasted) = reply,
                let slip = AuthorizationResponse(pasted: pasted).slip(state: request.state)
            else { return reply }
            await progress(slip)
        }
        return await ask(page)
    }
}

extension AuthorizationResponse {
    /// Why what was pasted can't be the answer to the request with this state; nil if it can.
    fileprivate func slip(state: String) -> String? {
        if !isResponse {
            return "that is not the address of the sign-in's last page; paste all of it, from http to the end"
        }
        return answers(state: state)
            ? nil : "that address is another sign-in's; open the page below, and paste the address that it ends at"
    }
}
