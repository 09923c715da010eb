import Addresses
import Secrets

/// Authorization code with PKCE in a browser on another computer.
///
/// The user pastes the final URL, so the response must be in that URL rather than posted. If the redirect leads to a
/// loopback port, the flow listens there, too: the browser may be on this computer, or its port may be forwarded here.
struct PasteFlow<Rules: AuthorityRules>: Sendable {
    let signIn: SignIn<Rules>

    /// Signs the user in.
    ///
    /// - Parameter user: The user, who is asked to open the page and to paste.
    /// - Returns: The tokens, or `notHere` if nobody can paste here.
    /// - Throws: `cancelled` if the user declines in the host or at the authority, or the authority's refusal.
    func run(_ user: any SignInUser) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let target = try signIn.redirect()
        // The port may be taken; the URL can still be pasted.
        if target.isLoopback, let listener = try? await LoopbackListener.open(port: target.port) {
            return try await BrowserFlow(signIn, mayBePasted: true).run(user, target, on: listener)
        }
        let request = AuthorizationRequest(redirectURI: target.text(listeningAt: nil), responseMode: .query)
        switch await user.openToPaste(try signIn.page(of: request), for: request) {
        case .pasted(let address):
            let response = AuthorizationResponse(pasted: address)
            guard response.isResponse else { throw .noAnswer }
            return .signedIn(try await signIn.tokens(for: response, to: request))
        case .cancelled: throw .cancelled
        case .done, .unavailable:
            return .notHere(OAuthError(.unsupported, "nobody can paste the browser's last address"))
        }
    }
}

extension SignIn {
    /// Returns the redirect URI of the client.
    ///
    /// - Throws: `unusableRedirect` if no response may be sent there.
    func redirect() throws(OAuthError) -> RedirectURI {
        guard let redirect = RedirectURI(client.redirectURI) else {
            throw OAuthError(
                .unusableRedirect, "the redirect URI \(client.redirectURI.displayable(limit: 200)) cannot be used",
                hint: "use http://127.0.0.1 or http://localhost, as it is registered for the application")
        }
        return redirect
    }

    /// Returns the authority's page that the browser must open.
    func page(of request: AuthorizationRequest) throws(OAuthError) -> String {
        guard let endpoint = client.endpoints.authorization else {
            throw OAuthError(.unsupported, "\(client.authority) has no page to sign in at")
        }
        return request.url(for: client, at: endpoint, try rules.authorizationParameters())
    }
}

extension OAuthError {
    /// The pasted URL isn't the final URL of the sign-in.
    static let noAnswer = OAuthError(
        .invalidRequest, "the pasted address holds no answer to the sign-in",
        hint: "paste the whole address that the browser shows after the sign-in")
}

extension SignInUser {
    /// Asks for the final URL, up to three times.
    ///
    /// After a wrong URL, it asks again and states the reason, so that a slip doesn't end the sign-in.
    func openToPaste(_ page: String, for request: AuthorizationRequest) async -> UserReply {
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
    /// Returns why the pasted text can't be the response to the request; nil if it can.
    fileprivate func slip(of request: AuthorizationRequest) -> String? {
        let whole = "paste all of the last page's address, from http to the end"
        if self["response_type"] != nil {
            return "that is the address of the page to open; sign in there, then paste the last page's address"
        }
        guard isResponse else { return "there is no code in what was pasted; \(whole)" }
        guard self["state"] != nil else { return "that address is incomplete: there is no state in it; \(whole)" }
        guard answers(state: request.state), mayHaveCome(to: request.redirectURI) else {
            return "that address belongs to another sign-in; open the page above, and paste the last page's address"
        }
        return refusal == nil && code == nil ? "the code in that address is empty; \(whole)" : nil
    }
}
