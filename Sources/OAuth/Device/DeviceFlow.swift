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
            return try judge(error).get()
        }
        let outcome = await withTaskGroup(of: Step.self) { group -> Outcome in
            defer { group.cancelAll() }
            group.addTask { await show(code, to: person) }
            group.addTask { .ended(await poll(code)) }
            for await step in group {
                switch step {
                case .shown: continue
                case .refused(let outcome), .ended(let outcome): return outcome
                }
            }
            return .failure(.ended)
        }
        return try outcome.get()
    }

    private enum Step: Sendable {
        case shown
        case refused(Outcome)
        case ended(Outcome)
    }

    private func show(_ code: DeviceAuthorization, to person: any Person) async -> Step {
        switch await person.show(code) {
        case .done, .pasted: .shown
        case .unavailable: .refused(.success(.notHere(OAuthError(.unsupported, "no code can be shown here"))))
        case .cancelled: .refused(.failure(.cancelled))
        }
    }

    private func poll(_ code: DeviceAuthorization) async -> Outcome {
        var polling = DevicePolling(
            interval: code.interval, lifetime: code.expiresIn, waitsFirst: signIn.client.waitsBeforePolling)
        let end = try? await polling.run {
            try await Task.sleep(for: .seconds($0))
        } poll: {
            await pollOnce(code)
        }
        do throws(OAuthError) {
            switch end {
            case .tokens(let tokens): return .success(.signedIn(try await signIn.rules.accept(tokens, nonce: nil)))
            case .refused(let refusal): return judge(OAuthError(refusal, at: .device))
            case .failed(let error): return .failure(error)
            case .expired: return .failure(OAuthError(.cancelled, "the code expired before it was used"))
            case nil: return .failure(.ended)
            }
        } catch {
            return .failure(error)
        }
    }

    private func pollOnce(_ code: DeviceAuthorization) async -> DevicePolling.Answer {
        do throws(OAuthError) {
            return .tokens(try await signIn.client.redeem(.deviceCode(code.deviceCode)))
        } catch {
            guard case .refused(let refusal, _) = error.kind else { return .failed(error) }
            return .refused(refusal)
        }
    }

    private func judge(_ error: OAuthError) -> Outcome {
        signIn.rules.mayDoBetterElsewhere(after: error) ? .success(.notHere(error)) : .failure(error)
    }
}

extension OAuthClient {
    /// The form of a device authorization request (RFC 8628, 3.1).
    package var deviceAuthorizationRequest: [FormEncoding.Field] { credentials + scopeField + grantParameters }

    /// Requests a device code; an unused code simply expires.
    package func deviceCode(from endpoint: String) async throws(OAuthError) -> DeviceAuthorization {
        let answer = try await transport.post(endpoint, deviceAuthorizationRequest, headers: proof, .harmless)
        return try DeviceAuthorization(read(answer), from: authority)
    }
}
