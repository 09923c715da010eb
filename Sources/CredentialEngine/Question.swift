public import Rules
public import Secrets

/// What a consumer asks of the engine.
public enum Question: Sendable, Equatable {
    case get(CredentialRequest)
    /// That this is kept, which was found to work.
    case store(Credential, CredentialRequest)
    /// That what was found not to work is forgotten; without a secret, whatever is stored for this.
    case erase(CredentialRequest, Refused)
    /// Which servers there are credentials for: passwords that were stored under a label that begins with this, before the server,
    /// and what a token was or can be exchanged for, such as registries' own.
    case list(labelPrefix: String)

    /// The secret that a server refused, as far as the consumer tells.
    public struct Refused: Sendable, Equatable {
        /// The password, or a token that was presented as one.
        public var password: Secret?
        /// What was presented in an `Authorization` header.
        public var authorization: Secret?
        /// Whether it is an error if there is no such password.
        public var mustExist: Bool

        /// Takes what the consumer tells; without either secret it tells none.
        public init(_ password: Secret? = nil, _ authorization: Secret? = nil, mustExist: Bool = false) {
            self.password = password
            self.authorization = authorization
            self.mustExist = mustExist
        }
    }
}

/// What the engine says to a question.
public enum Outcome: Sendable {
    case credential(Credential)
    /// Servers, and whose what is kept for each is; no secrets.
    case list([String: String])
    /// There is none, and nobody objects to another source; to `store` and `erase`: it is done.
    case nothing
    /// There is none, for this reason.
    case refused(Refusal)
}

/// How far the engine comes by itself.
public enum Attempt: Sendable {
    /// It is through.
    case settled(Outcome)
    /// It has to wait for others: another process, the authority, or the person.
    case needsOthers(PendingOutcome)
}

/// What is left to do for a question if what is stored doesn't settle it.
///
/// It is apart from what goes before because waiting takes Swift's threads, and starting them takes longer than most answers.
public struct PendingOutcome: Sendable {
    private let body: @Sendable () async throws(Refusal) -> Outcome

    init(_ body: @escaping @Sendable () async throws(Refusal) -> Outcome) {
        self.body = body
    }

    /// Does it.
    public func run() async -> Outcome {
        do throws(Refusal) { return try await body() } catch { return .refused(error) }
    }
}
