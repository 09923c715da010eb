internal import SecretService

/// Why the store could not do what it was asked to; nothing was deleted.
public struct StoreError: Error, Sendable, Equatable {
    /// What is wrong, as far as a remedy depends on it.
    public enum Reason: String, Sendable, CaseIterable {
        /// The keyring is locked and the provider may not ask.
        case locked
        /// There is no session bus, or its address is stale.
        case noSessionBus
        /// Nothing on the bus provides the Secret Service.
        case noProvider
        /// There is no default keyring and none was made.
        case noDefaultCollection
        /// The provider did not answer in time.
        case timedOut
        /// The person dismissed the prompt, or the provider refused.
        case denied
        /// libsecret is not installed, or lacks a function.
        case noLibrary
        /// `SECRET_BACKEND` has a value that libsecret hangs on.
        case badBackend
        /// Something else; see the detail.
        case broken
    }

    /// What is wrong.
    public var reason: Reason
    /// The provider's own words, for verbose output only; not yet made fit to show.
    public var detail: String

    /// Makes an error.
    public init(_ reason: Reason, detail: String = "") {
        self.reason = reason
        self.detail = detail
    }
}

extension StoreError {
    /// What is wrong with a keyring in this state; nil if nothing is.
    public init?(state: KeyringState) {
        switch state {
        case .unlocked: return nil
        case .locked: self.init(.locked)
        case .noDefaultCollection: self.init(.noDefaultCollection)
        case .noSessionBus: self.init(.noSessionBus)
        case .noProvider: self.init(.noProvider)
        case .hung: self.init(.timedOut)
        case .badBackend(let detail): self.init(.badBackend, detail: detail)
        case .failed(let detail): self.init(.broken, detail: detail)
        }
    }
}

extension StoreError {
    /// What the Secret Service said, in the store's terms.
    init(_ failure: ServiceFailure) {
        self.init(Reason(failure.reason), detail: failure.detail)
    }
}

extension StoreError.Reason {
    fileprivate init(_ reason: ServiceFailure.Reason) {
        self =
            switch reason {
            case .locked: .locked
            case .noSessionBus: .noSessionBus
            case .noProvider: .noProvider
            case .noDefaultCollection: .noDefaultCollection
            case .timedOut: .timedOut
            case .denied: .denied
            case .noLibrary: .noLibrary
            case .badBackend: .badBackend
            case .broken: .broken
            }
    }
}
