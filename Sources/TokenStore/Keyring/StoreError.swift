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
    /// What the Secret Service said, in the store's terms, which have the same names.
    init(_ failure: ServiceFailure) {
        self.init(Reason(rawValue: failure.reason.rawValue) ?? .broken, detail: failure.detail)
    }
}
