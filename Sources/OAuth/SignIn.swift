/// Has a person sign in at an authority.
package struct SignIn<Rules: AuthorityRules>: Sendable {
    let client: OAuthClient
    let rules: Rules

    /// Makes a sign-in of a client, by an authority's rules.
    package init(_ client: OAuthClient, by rules: Rules) {
        self.client = client
        self.rules = rules
    }

    /// Signs the person in by the first flow that can be used here.
    ///
    /// - Parameters:
    ///   - flows: ways to sign in, best first.
    ///   - person: who signs in.
    /// - Returns: what the rules make of the tokens.
    /// - Throws: `cancelled` if the person refuses here or there, what the authority refuses with, and why no flow can be
    ///   used.
    package func run(_ flows: [Flow], _ person: any Person) async throws(OAuthError) -> Rules.Tokens {
        var obstacle = OAuthError(.unsupported, "there is no way to sign in here")
        for flow in flows {
            switch try await run(flow, person) {
            case .signedIn(let tokens): return tokens
            case .notHere(let error): obstacle = error
            }
        }
        throw obstacle
    }

    private func run(_ flow: Flow, _ person: any Person) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        switch flow {
        case .browser: try await BrowserFlow(self).run(person)
        case .deviceCode: try await DeviceFlow(signIn: self).run(person)
        case .paste: try await PasteFlow(signIn: self).run(person)
        }
    }

    /// Turns the answer to an authorization request into tokens (RFC 6749, 4.1.3).
    ///
    /// - Throws: `invalidRequest` if the answer belongs to another request, `broken` if it is another issuer's: then nothing is
    ///   sent; else what the authority refuses with, in the answer or at the token endpoint.
    func redeem(
        _ response: AuthorizationResponse, of request: AuthorizationRequest
    ) async throws(OAuthError) -> Rules.Tokens {
        guard response["response"] == nil else {
            throw OAuthError(.unsupported, "\(client.authority) answers with a signed response that was not requested")
        }
        guard response.answers(state: request.state) else {
            throw OAuthError(
                .invalidRequest, "this answer belongs to another sign-in",
                hint: "paste the last page's address from the newest sign-in")
        }
        guard response.mayHaveCome(to: request.redirectURI) else {
            throw OAuthError(
                .invalidRequest, "this answer was sent to another place",
                hint: "paste the last page's address from the newest sign-in")
        }
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

    /// An answer that names another issuer, or doesn't say whose it is (RFC 9207, 2.4).
    private static func foreign(_ name: String?, to authority: String) -> OAuthError {
        OAuthError(
            .untrusted, "the answer to the sign-in is not from \(authority)",
            hint: name.map(OAuthError.checkAuthority)
                ?? "sign in again, and check that nothing else answers in its place: this answer doesn't name its issuer"
        )
    }
}

/// A way to have a person sign in.
package enum Flow: Sendable, Equatable {
    /// Authorization code with PKCE in a browser, answered on a loopback redirect (RFC 8252).
    case browser
    /// A code shown here and typed elsewhere (RFC 8628).
    case deviceCode
    /// Authorization code with PKCE in a browser anywhere; the person pastes the address that it ends at.
    case paste
}

/// How a flow ended, if it did not fail.
enum FlowOutcome<Tokens: Sendable>: Sendable {
    /// The person signed in.
    case signedIn(Tokens)
    /// The flow can't be used here; the next one may.
    case notHere(OAuthError)
}
