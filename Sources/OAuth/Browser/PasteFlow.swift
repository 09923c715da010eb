/// Authorization code with PKCE in a browser on another computer.
///
/// The person pastes the address that it ended at. That needs the answer in that address, which a posted one never is.
/// If the redirect leads to a loopback port it is listened at as well: the browser may be here, or find the way here.
struct PasteFlow<Rules: AuthorityRules>: Sendable {
    let signIn: SignIn<Rules>

    /// Signs the person in.
    ///
    /// - Parameter person: asked to open the page and to paste.
    /// - Returns: the tokens, or that nobody can paste here.
    /// - Throws: `cancelled` if the person refuses here or there, and what the authority refuses with.
    func run(_ person: any Person) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let target = try RedirectTarget(signIn.client.redirectURI)
        // A port that is taken is no obstacle: the address can still be pasted.
        if target.isLoopback, let listener = try? await LoopbackListener.open(port: target.port) {
            return try await BrowserFlow(signIn, mayBePasted: true).run(person, target, on: listener)
        }
        let request = AuthorizationRequest(redirectURI: target.uri(port: nil), responseMode: .query)
        switch await person.openToPaste(try signIn.page(of: request), for: request) {
        case .pasted(let address):
            let response = AuthorizationResponse(pasted: address)
            guard response.isResponse else { throw .noAnswer }
            return .signedIn(try await signIn.redeem(response, of: request))
        case .cancelled: throw .cancelled
        case .done, .unavailable:
            return .notHere(OAuthError(.unsupported, "nobody can paste the browser's last address"))
        }
    }
}

extension SignIn {
    /// The page of the authority that the browser is to open.
    func page(of request: AuthorizationRequest) throws(OAuthError) -> String {
        guard let endpoint = client.endpoints.authorization else {
            throw OAuthError(.unsupported, "\(client.authority) has no page to sign in at")
        }
        return request.url(for: client, at: endpoint, try rules.authorizationParameters())
    }
}

extension OAuthError {
    /// What was pasted isn't the address that the sign-in ended at.
    static let noAnswer = OAuthError(
        .invalidRequest, "the pasted address holds no answer to the sign-in",
        hint: "paste the whole address that the browser shows after the sign-in")
}

extension Person {
    /// Asks for the address of the last page, and again, with the reason, if another one is pasted: a slip ends no
    /// sign-in.
    func openToPaste(_ page: String, for request: AuthorizationRequest) async -> PersonReply {
        for _ in 0..<3 {
            let reply = await open(page, redirectURI: request.redirectURI)
            guard case .pasted(let address) = reply,
                let slip = AuthorizationResponse(pasted: address).slip(of: request)
            else { return reply }
            await progress(slip)
        }
        return await open(page, redirectURI: request.redirectURI)
    }
}

extension AuthorizationResponse {
    /// Why what was pasted can't be the answer to the request; nil if it can.
    fileprivate func slip(of request: AuthorizationRequest) -> String? {
        let whole = "paste all of the last page's address, from http to the end"
        if self["response_type"] != nil {
            return "that is the address of the page to open; sign in there, then paste the last page's address"
        }
        guard isResponse else { return "there is no code in what was pasted; \(whole)" }
        guard self["state"] != nil else { return "that address is incomplete: there is no state in it; \(whole)" }
        guard answers(state: request.state), mayHaveCome(to: request.redirectURI) else {
            return "that address belongs to another sign-in; open the page below, and paste the last page's address"
        }
        return refusal == nil && code == nil ? "the code in that address is empty; \(whole)" : nil
    }
}
