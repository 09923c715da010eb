internal import AnswerCache
import Keyring
public import Rules
public import Secrets

/// A tool's question to the engine.
public indirect enum Question: Sendable, Equatable {
    case get(CredentialRequest)
    /// Stores a credential that was found to work.
    case store(Credential, CredentialRequest)
    /// Erases a credential that was found not to work; without a secret, whatever is stored for the request.
    case erase(CredentialRequest, Refused)
    /// Lists the servers that have credentials: passwords whose labels are this prefix and the server, and credentials
    /// that a token was or can be exchanged for, such as a registry's own.
    case list(labelPrefix: String)

    /// The secret that a server refused, as far as the tool reports it.
    public struct Refused: Sendable, Equatable {
        /// The password, or a token that was sent as a password.
        public var password: Secret?
        /// The credential that was sent in an `Authorization` header.
        public var authorization: Secret?
        /// Whether it is an error if no such password is stored.
        public var mustExist: Bool

        /// The fingerprints of everything in the secrets that may be a token; nil if there are no secrets.
        var fingerprints: Set<String>? {
            let secrets = [password, authorization].compactMap(\.self)
            return secrets.isEmpty ? nil : secrets.reduce(into: []) { $0.formUnion($1.fingerprints) }
        }

        /// Creates the tool's report; with neither secret, it is about whatever is stored.
        public init(_ password: Secret? = nil, _ authorization: Secret? = nil, mustExist: Bool = false) {
            self.password = password
            self.authorization = authorization
            self.mustExist = mustExist
        }
    }
}

/// The engine's answer to a question.
public indirect enum Outcome: Sendable {
    case credential(Credential)
    /// The servers with the user name of each one's credential; no secrets.
    case list([String: String])
    /// There is no credential, and the tool may try another source; for `store` and `erase`, it is done.
    case nothing
    /// There is no credential, for this reason.
    case refused(Refusal)
}

/// How far the engine gets by itself.
public indirect enum Attempt: Sendable {
    /// The question is answered.
    case settled(Outcome)
    /// The engine has to wait for another process, the authority or the user.
    case needsOthers(PendingOutcome)
}

/// The work that remains for a question that what is stored doesn't settle.
///
/// It is separate because waiting needs Swift's threads, and starting them takes longer than most answers.
public struct PendingOutcome: Sendable {
    private let body: @Sendable () async throws(Refusal) -> Outcome

    init(_ body: @escaping @Sendable () async throws(Refusal) -> Outcome) {
        self.body = body
    }

    /// Finishes the work and waits for the result.
    public func run() async -> Outcome {
        do throws(Refusal) { return try await body() } catch { return .refused(error) }
    }
}
