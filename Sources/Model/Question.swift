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

        /// Creates the tool's report; with neither secret, it is about whatever is stored.
        public init(_ password: Secret? = nil, _ authorization: Secret? = nil, mustExist: Bool = false) {
            self.password = password
            self.authorization = authorization
            self.mustExist = mustExist
        }
    }
}
