/// Device authorization grant (RFC 8628): lanyard shows a code that the user types in a browser on any device.
struct DeviceFlow<Rules: AuthorityRules>: Sendable {
    private typealias Outcome = Result<FlowOutcome<Rules.Tokens>, OAuthError>

    let signIn: SignIn<Rules>

    /// Signs the user in.
    ///
    /// - Parameter person: The user, who is shown the code.
    /// - Returns: The tokens, or `notHere` if no code can be shown here or a policy forbids device codes.
    /// - Throws: `cancelled` if the user declines in the host or at the authority or lets the code expire, or the
    ///   authority's refusal.
    func run(_ person: any Person) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        guard let endpoint = signIn.client.endpoints.deviceAuthorization else {
            return .notHere(OAuthError(.unsupported, "\(signIn.client.authority) offers no device codes"))
        }
        let code: DeviceAuthorization
        do throws(OAuthError) {
            code = try await signIn.client.deviceCode(from: endpoint)
        } catch {
            return try judge(error)
        }
        let outcome = await withTaskGroup(of: Outcome?.self) { group -> Outcome in
            defer { group.cancelAll() }
            group.addTask { await show(code, to: person) }
            group.addTask { await Outcome { () async throws(OAuthError) in try await poll(code) } }
            for await case let outcome? in group { return outcome }
            return .failure(.ended)
        }
        return try outcome.get()
    }

    /// Returns the outcome if the code can't be shown; nil if it is.
    private func show(_ code: DeviceAuthorization, to person: any Person) async -> Outcome? {
        switch await person.show(code) {
        case .done, .pasted: nil
        case .unavailable: .success(.notHere(OAuthError(.unsupported, "no code can be shown here")))
        case .cancelled: .failure(.cancelled)
        }
    }

    private func poll(_ code: DeviceAuthorization) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        var polling = DevicePolling(
            interval: code.interval, lifetime: code.expiresIn, waitsFirst: signIn.client.waitsBeforePolling)
        let tokens: TokenResponse
        do throws(OAuthError) {
            tokens = try await polling.run {
                try await Task.sleep(for: .seconds($0))
            } poll: { () async throws(OAuthError) in
                try await signIn.client.redeem(.deviceCode(code.deviceCode))
            }
        } catch {
            guard case .refused = error.kind else { throw error }
            return try judge(error)
        }
        return .signedIn(try await signIn.rules.accept(tokens, nonce: nil))
    }

    private func judge(_ error: OAuthError) throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        guard signIn.rules.mayDoBetterElsewhere(after: error) else { throw error }
        return .notHere(error)
    }
}

extension OAuthClient {
    /// The form of a device authorization request (RFC 8628, 3.1).
    package var deviceAuthorizationRequest: [FormEncoding.Field] { credentials + scopeField + grantParameters }

    /// Requests a device code; an unused code simply expires.
    ///
    /// - Throws: the authority's refusal, or `untrusted` if its page may be another authority's.
    package func deviceCode(from endpoint: String) async throws(OAuthError) -> DeviceAuthorization {
        let answer = try await transport.post(endpoint, deviceAuthorizationRequest, headers: proof, .harmless)
        let code = try DeviceAuthorization(answer, from: authority)
        try code.check(from: endpoint, for: self)
        return code
    }
}
