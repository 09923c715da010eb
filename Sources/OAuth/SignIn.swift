package import Secrets

/// An interactive sign-in at an authority.
package struct SignIn<Rules: AuthorityRules>: Sendable {
    let client: OAuthClient
    let rules: Rules

    /// Creates a client's sign-in with an authority's rules.
    package init(_ client: OAuthClient, by rules: Rules) {
        self.client = client
        self.rules = rules
    }

    /// Signs the user in with the first flow that is possible here.
    ///
    /// - Parameters:
    ///   - flows: The flows to try, best first.
    ///   - user: The user who signs in.
    /// - Returns: The rules' result for the tokens.
    /// - Throws: `cancelled` if the user declines in the host or at the authority, the authority's refusal, or the
    ///   reason why no flow is possible.
    package func run(_ flows: [Flow], _ user: any SignInUser) async throws(OAuthError) -> Rules.Tokens {
        var obstacle = OAuthError(.unsupported, "there is no way to sign in here")
        for flow in flows {
            switch try await run(flow, user) {
            case .signedIn(let tokens): return tokens
            case .notHere(let error): obstacle = error
            }
        }
        throw obstacle
    }

    private func run(_ flow: Flow, _ user: any SignInUser) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        switch flow {
        case .browser: try await BrowserFlow(self).run(user)
        case .deviceCode: try await DeviceFlow(signIn: self).run(user)
        case .paste: try await PasteFlow(signIn: self).run(user)
        }
    }

    /// Returns the tokens for the response to an authorization request (RFC 6749, 4.1.3).
    ///
    /// - Throws: `invalidRequest` if the response belongs to another request, or `untrusted` if it is another issuer's;
    ///   in both cases nothing is sent. Otherwise the authority's refusal, in the response or at the token endpoint.
    func tokens(
        for response: AuthorizationResponse, to request: AuthorizationRequest
    ) async throws(OAuthError) -> Rules.Tokens {
        guard response["response"] == nil else {
            throw OAuthError(.unsupported, "\(client.authority) answers with a signed response that was not requested")
        }
        guard response.answers(state: request.state) else { throw Self.stray("belongs to another sign-in") }
        guard response.mayHaveCome(to: request.redirectURI) else { throw Self.stray("was sent to another place") }
        if let issuer = client.issuer, !issuer.accepts(response["iss"]) {
            throw Self.foreign(response["iss"], to: client.authority)
        }
        if let refusal = response.refusal { throw OAuthError(refusal, at: .authorization) }
        guard let code = response.code else {
            throw OAuthError(.untrusted, "\(client.authority) answered without a code")
        }
        let grant = TokenGrant.code(
            code, redirectURI: request.redirectURI, verifier: request.proofKey.verifier)
        let tokens = try await client.redeem(grant, headers: rules.headers(redeeming: response))
        return try await rules.accept(tokens, nonce: client.sendsNonce ? request.nonce : nil)
    }

    /// Returns the error for a response to another request.
    private static func stray(_ fault: String) -> OAuthError {
        OAuthError(
            .invalidRequest, "this answer \(fault)", hint: "paste the last page's address from the newest sign-in")
    }

    /// Returns the error for a response that names another issuer, or none (RFC 9207, 2.4).
    private static func foreign(_ name: String?, to authority: String) -> OAuthError {
        OAuthError(
            .untrusted, "the answer to the sign-in is not from \(authority)",
            hint: name.map(OAuthError.checkAuthority)
                ?? "sign in again, and check that nothing else answers in its place: this answer doesn't name its issuer"
        )
    }
}

/// A flow for an interactive sign-in.
package enum Flow: String, Sendable {
    /// Authorization code with PKCE in a browser, with a loopback redirect (RFC 8252).
    case browser
    /// A device code, shown here and typed on any device (RFC 8628).
    case deviceCode = "device-code"
    /// Authorization code with PKCE in a browser on any device; the user pastes the final URL.
    case paste
}

/// The result of a flow that didn't fail.
enum FlowOutcome<Tokens: Sendable>: Sendable {
    /// The user signed in.
    case signedIn(Tokens)
    /// The flow isn't possible here; the next one may be.
    case notHere(OAuthError)
}

extension Result where Failure == OAuthError {
    /// Runs the body, for a place that can't throw such an error itself.
    init(_ body: () async throws(OAuthError) -> Success) async {
        do throws(OAuthError) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// The user who signs in, as far as a flow can reach them.
package protocol SignInUser: Sendable {
    /// Opens a page in the user's browser; the browser returns to the redirect URI.
    ///
    /// The reply may take as long as the sign-in. A flow that no longer needs it cancels the task.
    func open(_ url: String, redirectURI: String) async -> UserReply

    /// Shows a code and the page to type it at.
    func show(_ code: DeviceAuthorization) async -> UserReply

    /// Reports progress.
    func progress(_ message: String) async
}

/// The result of asking the user.
package enum UserReply: Sendable, Equatable {
    /// The page was opened, or the code shown.
    case done
    /// The final URL in the browser, pasted by the user.
    case pasted(Secret)
    /// Nobody is there, or it isn't possible here.
    case unavailable
    /// The user declined.
    case cancelled
}
