import PluginKit
import PluginWire
import Secrets

/// Device authorization grant (RFC 8628): a code is shown here and typed in a browser anywhere.
struct DeviceFlow: Sendable {
    let session: AuthoritySession

    /// Signs the person in.
    ///
    /// - Parameter person: shown the code.
    /// - Returns: the tokens, or that no code can be shown here or that a policy forbids codes.
    /// - Throws: `cancelled` where the person refuses here or there or lets the code expire, and what the authority
    ///   refuses with.
    func run(_ person: any Conversation) async throws(PluginError) -> FlowOutcome {
        guard let endpoint = session.configuration.deviceAuthorizationEndpoint else {
            return .notHere(PluginError(.unsupported, "\(session.authority.environment) gives no device codes"))
        }
        let code: DeviceAuthorization
        do throws(PluginError) {
            code = try await start(at: endpoint)
        } catch {
            return try Self.judge(error).get()
        }
        let outcome = await withTaskGroup(of: Step.self) { group -> Result<FlowOutcome, PluginError> in
            defer { group.cancelAll() }
            group.addTask { await show(code, to: person) }
            group.addTask { .ended(await poll(code)) }
            for await step in group {
                switch step {
                case .shown: continue
                case .refused(let outcome), .ended(let outcome): return outcome
                }
            }
            return .failure(PluginError(.cancelled, "the sign-in was ended"))
        }
        return try outcome.get()
    }

    private enum Step: Sendable {
        case shown
        case refused(Result<FlowOutcome, PluginError>)
        case ended(Result<FlowOutcome, PluginError>)
    }

    private func start(at endpoint: String) async throws(PluginError) -> DeviceAuthorization {
        let answer = try await session.transport.post(
            endpoint, Self.request(session.request, claims: session.claims), .harmless)
        return try DeviceAuthorization(answer, from: session.authority.environment)
    }

    /// The fields of the device authorization request.
    static func request(_ request: PluginRequest, claims: String?) -> [FormEncoding.Field] {
        let fields: [FormEncoding.Field] = [
            ("client_id", request.clientID), ("scope", Scopes.requested(request.scopes)),
        ]
        return fields + (claims.map { [("claims", $0)] } ?? [])
    }

    /// The fields of a poll; Entra takes the code under either name.
    static func poll(_ code: Secret, clientID: String) -> [FormEncoding.Field] {
        [
            ("client_id", clientID), ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_info", "1"), ("device_code", code.reveal()), ("code", code.reveal()),
        ]
    }

    private func show(_ code: DeviceAuthorization, to person: any Conversation) async -> Step {
        let reply = await person.ask(
            .showCode(
                userCode: code.userCode, verificationURI: code.verificationURI, message: code.message,
                expiresIn: code.expiresIn))
        return switch reply {
        case .done, .answer, .redirected: .shown
        case .unsupported: .refused(.success(.notHere(PluginError(.unsupported, "no code can be shown here"))))
        case .cancelled: .refused(.failure(PluginError(.cancelled, "the sign-in was cancelled")))
        }
    }

    private func poll(_ code: DeviceAuthorization) async -> Result<FlowOutcome, PluginError> {
        var polling = DevicePolling(interval: code.interval, lifetime: code.expiresIn)
        let end = try? await polling.run {
            try await Task.sleep(for: .seconds($0))
        } poll: {
            await pollOnce(code)
        }
        do throws(PluginError) {
            switch end {
            case .tokens(let tokens): return .success(.signedIn(try session.result(tokens, nonce: nil)))
            case .refused(let failure): return Self.judge(session.explain(failure, .redemption))
            case .failed(let error): return .failure(error)
            case .expired: return .failure(PluginError(.cancelled, "the code expired before it was used"))
            case nil: return .failure(PluginError(.cancelled, "the sign-in was ended"))
            }
        } catch {
            return .failure(error)
        }
    }

    private func pollOnce(_ code: DeviceAuthorization) async -> DevicePolling.Answer {
        do throws(PluginError) {
            let answer = try await session.transport.post(
                session.configuration.tokenEndpoint,
                Self.poll(code.deviceCode, clientID: session.request.clientID), .never)
            if let failure = OAuthFailure(answer) { return .refused(failure) }
            return .tokens(try session.read(answer, stage: .redemption))
        } catch {
            return .failed(error)
        }
    }

    /// Policies that look at the device can't be satisfied with a code, but may be in a browser.
    private static let needsBrowser: Set<Int> = [53000, 53001, 53003, 530_032, 50097]

    private static func judge(_ error: PluginError) -> Result<FlowOutcome, PluginError> {
        needsBrowser.isDisjoint(with: error.errorCodes) ? .failure(error) : .success(.notHere(error))
    }
}
