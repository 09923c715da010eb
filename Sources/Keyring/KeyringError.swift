/// The reason why an operation of the store failed; nothing was deleted.
public struct KeyringError: Error, Sendable, Equatable {
    /// The reasons that need different remedies.
    public enum Reason: String, Sendable, CaseIterable {
        /// The keyring is locked, and the provider may not ask the user.
        case locked
        /// There is no session bus, or its address is stale.
        case noSessionBus
        /// No program on the bus provides the keyring.
        case noProvider
        /// There is no default keyring, and none was created.
        case noDefaultCollection
        /// The provider didn't answer in time.
        case timedOut
        /// The provider was at work for others all the time that an answer may take.
        case busy
        /// The user dismissed the prompt, or the provider refused.
        case denied
        /// The keyring has no password, and would give this secret back damaged.
        case damaging
        /// libsecret isn't installed, or lacks a function.
        case noLibrary
        /// `SECRET_BACKEND` has a value that makes libsecret hang.
        case badBackend
        /// The sealed keyring hasn't been created on this machine.
        case notCreated
        /// The sealed keyring's key can't be unwrapped here; the detail says why.
        case sealedElsewhere
        /// The configuration, or the administrator, doesn't allow the sealed keyring as it is; the detail says what.
        case forbidden
        /// Another failure; see the detail.
        case broken
    }

    /// The reason.
    public var reason: Reason
    /// The provider's own words, for verbose output only; they must be made displayable first.
    public var detail: String
    /// The name of the provider's program, if what to do depends on it; nil if it isn't known.
    public var provider: String?
    /// The address of the bus of a gnome-keyring beside which none starts on this bus; nil if that isn't the reason.
    public var otherBus: String?
    /// What is locked instead of the default keyring, which isn't.
    public var lock: Lock?

    /// Whether the user can open the keyring at a terminal: with the default keyring's password, or by having the first
    /// keyring made.
    public var opensWithPassword: Bool {
        reason == .noDefaultCollection || isAbsent || reason == .locked && lock == nil
    }

    /// Whether there is no keyring that could be opened, so that one may be made.
    public var isAbsent: Bool { [.noSessionBus, .noProvider, .noLibrary, .notCreated].contains(reason) }

    /// What may be locked while the default keyring is open.
    public enum Lock: Sendable, Equatable {
        /// Other keyrings, by their labels.
        case keyrings([String])
        /// Only the items, because the provider asks the user before each access.
        case items
    }

    /// What the keyring itself does about it, before any store sees it.
    package var handling: Handling?

    /// What a keyring does about an error.
    package enum Handling: Sendable {
        /// Nothing, if what doesn't exist need not exist.
        case missingObject
        /// It tries again over a new connection.
        case reconnect
        /// It waits for this process's turn to have the user asked.
        case awaitTurn
        /// It tells the other processes that wait that the user said no.
        case tellDeclined
        /// It keeps the file that can't be opened, and does without it.
        case passOver
    }

    /// Creates an error.
    public init(_ reason: Reason, detail: String = "") {
        self.reason = reason
        self.detail = detail
    }

    /// Creates an error that a keyring does something about.
    package init(_ reason: Reason, detail: String = "", _ handling: Handling) {
        self.init(reason, detail: detail)
        self.handling = handling
    }
}
