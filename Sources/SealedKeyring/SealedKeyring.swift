import Addresses
public import AnswerCache
import Files
internal import Glibc
public import Keyring
public import Secrets

/// lanyard's own keyring, for machines without a Secret Service: sealed files of this machine's in the user's state folder.
///
/// It exists only if it was created. Files can be read only with its key, which protectors wrap, each in a slot of its own;
/// while it is unlocked, the kernel holds the key.
public final class SealedKeyring: Keyring {
    /// The program that errors of this keyring name as their provider.
    public static let provider = "lanyard"

    /// The folder of this machine's keyring; nil if the environment has no place for it.
    public let path: String?
    /// The folder with those of all machines.
    private let parent: String?
    private let environment: [String: String]
    private let unlockFor: UInt32
    private let allowed: [String]?
    private let credentials: SystemdCredentials
    private let runtimeFolder: String

    /// Creates a reference to this machine's keyring, which need not exist.
    ///
    /// - Parameters:
    ///   - environment: `XDG_STATE_HOME` or `HOME` decides the place.
    ///   - unlockFor: Seconds until an unlocked keyring locks itself; 0 if it stays open until logout.
    ///   - allowed: The kinds of protectors that it may have; nil for all.
    public convenience init(environment: [String: String], unlockFor: Int = 0, allowed: [String]? = nil) {
        self.init(
            environment: environment, unlockFor: unlockFor, allowed: allowed, machine: Self.machineID(),
            credentials: .init())
    }

    init(
        environment: [String: String], unlockFor: Int = 0, allowed: [String]? = nil, machine: String,
        credentials: SystemdCredentials, runtimeFolder: String = "/run/user/\(UserNamespace.user)"
    ) {
        self.runtimeFolder = runtimeFolder
        self.allowed = allowed
        self.environment = environment
        self.unlockFor = UInt32(clamping: unlockFor)
        self.credentials = credentials
        parent = environment.stateFolder.map { "\($0)/keyring" }
        path = parent.map { "\($0)/\("lanyard keyring \(machine)".shortDigest)" }
    }

    /// The machine's ID (machine-id(5)), which must not be shown; in most containers, there is none.
    private static func machineID() -> String {
        let file = try? OpenFile("/etc/machine-id")
        let bytes = (try? file?.contents(atMost: 64)) ?? []
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// What messages call it.
    public var name: String { "the sealed keyring" }

    /// The locks of the processes that use it, on whichever bus.
    public var locks: SingleFlight { SingleFlight(in: environment.lockFolders, of: path ?? "") }

    /// Does nothing: it opens in less time than a thread starts.
    public func open() {}

    /// Runs an operation; the deadline doesn't matter, because no other program is waited for.
    public func run<Result>(
        _ configuration: KeyringConfiguration, _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try explaining { () throws(KeyringError) in
            let session = SealedSession(self, try opened())
            let kinds = try session.slots().keys
            for kind in kinds { try requireAllowed(kind) }
            if configuration.collection == .session, kinds.contains(where: { $0 != .session }) {
                throw KeyringError(.forbidden, detail: "a shared device allows no protector but session")
            }
            return try body(session)
        }
    }

    private func requireAllowed(_ kind: ProtectorKind) throws(KeyringError) {
        guard let allowed, !allowed.contains(kind.rawValue) else { return }
        throw KeyringError(
            .forbidden,
            detail: allowed.isEmpty
                ? "this machine's policy allows no sealed keyring"
                : "this machine's policy allows only these protectors: \(allowed.joined(separator: ", ").displayable())"
        )
    }

    /// Whether systemd's credentials service encrypts for this user.
    public var hasSystemd: Bool { (try? credentials.encrypt([0], named: "lanyard-test")) != nil }

    /// Whether the kernel keeps keys for this user, which the protectors passphrase and session need.
    public var hasKernelKeys: Bool {
        let key = KeyringKey.random()
        defer { kernelKey(key.id).forget() }
        return (try? kernelKey(key.id).put(key, seconds: 1)) != nil
    }

    /// Whether the policy allows a kind of protector.
    public func allows(_ kind: ProtectorKind) -> Bool { allowed?.contains(kind.rawValue) ?? true }

    /// Whether the keyring has been created on this machine.
    public var exists: Bool {
        guard let path else { return false }
        return access("\(path)/keyring", F_OK) == 0
    }

    // MARK: What commands do with it

    /// What there is to tell about the keyring.
    public struct State: Sendable {
        /// The protectors of its slots.
        public var protectors: [ProtectorKind]
        /// Why it can't be used; nil if it is unlocked.
        public var problem: KeyringError?
        /// The number of items; nil if it is locked.
        public var items: Int?
        /// The files that can't be opened, and the reasons.
        public var unopened: [(name: String, reason: String)] = []
        /// Whether its session has ended, and with it everything that was stored.
        public var isLost = false
    }

    /// Reads the keyring's state.
    ///
    /// - Throws: `notCreated` if there is none.
    public func state() throws(KeyringError) -> State {
        try explaining { () throws(KeyringError) in
            let session = SealedSession(self, try opened())
            var state = State(protectors: ProtectorKind.allCases.filter(try session.slots().keys.contains))
            do throws(KeyringError) {
                if let key = try session.key() {
                    state.items = session.folder.index(key).names.count
                    state.unopened = session.folder.unopened(key)
                } else {
                    (state.items, state.isLost) = (0, true)
                }
            } catch {
                var error = error
                error.provider = Self.provider
                state.problem = error
            }
            return state
        }
    }

    /// The number of keyrings in the home that other machines created.
    public var ofOtherMachines: Int {
        guard let parent, let path, let folder = try? Folder(parent) else { return 0 }
        return folder.names(atMost: 1000).filter {
            "\(parent)/\($0)" != path && access("\(parent)/\($0)/keyring", F_OK) == 0
        }.count
    }

    /// Creates the keyring and unlocks it.
    ///
    /// - Throws: `forbidden` if there is one.
    public func create(_ protector: Protector) throws(KeyringError) {
        try explaining { () throws(KeyringError) in
            guard let path, let folder = try KeyringFolder.open(path, making: true) else { throw Self.noPlace }
            let lock = try folder.locked()
            defer { withExtendedLifetime(lock) {} }
            guard try folder.id() == nil else { throw KeyringError(.forbidden, detail: "it has been created already") }
            folder.clearItems()
            let key = KeyringKey.random()
            let slot = try slot(key, by: protector)
            // Without the kernel's keyring, each process unwraps the key, if it can without asking.
            do throws(KeyringError) { try kernelKey(key.id).put(key, seconds: unlockFor) } catch {
                guard [.systemd, .command].contains(protector.kind) else { throw error }
            }
            try folder.put(slot, protector.kind)
            try folder.begin(key)
        }
    }

    /// Adds a protector, or replaces the slot of its kind.
    public func protect(_ protector: Protector) throws(KeyringError) {
        try withKey { (folder, key) throws(KeyringError) in
            try folder.put(slot(key, by: protector), protector.kind)
        }
    }

    /// Returns a new slot once it has been shown to give back the key.
    private func slot(_ key: KeyringKey, by protector: Protector) throws(KeyringError) -> Slot {
        try requireAllowed(protector.kind)
        let slot = try Slot(key, by: protector, credentials)
        if protector.kind != .session {
            let unwrapped = try slot.key(protector.passphrase, credentials)
            guard unwrapped?.bytes == key.bytes else {
                throw KeyringError(.sealedElsewhere, detail: "the protector doesn't give back the key that it got")
            }
        }
        return slot
    }

    /// Removes the slot of a kind.
    ///
    /// - Throws: `forbidden` if there is no other.
    public func unprotect(_ kind: ProtectorKind) throws(KeyringError) {
        try withKey { (folder, key) throws(KeyringError) in
            let slots = try folder.slots(of: key.id)
            guard slots[kind] != nil else {
                throw KeyringError(.forbidden, detail: "it has no protector \(kind.rawValue)")
            }
            guard slots.count > 1 else {
                throw KeyringError(.forbidden, detail: "\(kind.rawValue) is its only protector")
            }
            try folder.removeSlot(kind)
        }
    }

    private func withKey(
        _ body: (borrowing KeyringFolder, KeyringKey) throws(KeyringError) -> Void
    ) throws(KeyringError) {
        try explaining { () throws(KeyringError) in
            let session = SealedSession(self, try opened())
            guard let key = try session.key() else { throw KeyringError(.locked) }
            let lock = try session.folder.locked()
            defer { withExtendedLifetime(lock) {} }
            guard try session.folder.id() == key.id else { throw KeyringError(.notCreated) }
            try body(session.folder, key)
        }
    }

    /// Unlocks the keyring with its passphrase.
    ///
    /// - Throws: `denied` if it is another one.
    public func unlock(_ passphrase: Secret) throws(KeyringError) {
        try explaining { () throws(KeyringError) in
            let session = SealedSession(self, try opened())
            guard let key = try session.slots()[.passphrase]?.key(passphrase, credentials) else {
                throw KeyringError(.forbidden, detail: "it has no passphrase")
            }
            guard try session.folder.opens(with: key) else { throw Self.otherKey }
            try kernelKey(key.id).put(key, seconds: unlockFor)
        }
    }

    /// The number of items that `lock` makes unreadable for good: all, if only the session has the key.
    public func itemsLostByLocking() throws(KeyringError) -> Int {
        try explaining { () throws(KeyringError) in
            let session = SealedSession(self, try opened())
            guard try session.slots().keys.allSatisfy({ $0 == .session }), let key = try session.key() else { return 0 }
            return session.folder.index(key).names.count
        }
    }

    /// Makes all processes forget the key.
    public func lock() throws(KeyringError) {
        try explaining { () throws(KeyringError) in
            guard let id = try opened().id() else { throw KeyringError(.notCreated) }
            kernelKey(id).forget()
        }
    }

    /// Deletes the keyring with all that it has; its key need not be known.
    public func delete() throws(KeyringError) {
        try explaining { () throws(KeyringError) in
            let folder = try opened()
            let lock = try folder.locked()
            defer { withExtendedLifetime(lock) {} }
            // One that can't be read is deleted, too.
            if let id = try? folder.id() { kernelKey(id).forget() }
            try folder.clear()
        }
    }

    // MARK: Opening it

    func kernelKey(_ id: KeyringID) -> KernelKey { KernelKey(id, in: path ?? "", runtimeFolder: runtimeFolder) }

    private static let noPlace = KeyringError(.broken, detail: "neither HOME nor XDG_STATE_HOME says where it would be")
    static let otherKey = KeyringError(
        .sealedElsewhere, detail: "what the protector unwraps is the key of another keyring")

    private func opened() throws(KeyringError) -> KeyringFolder {
        guard let path else { throw Self.noPlace }
        guard exists, let folder = try KeyringFolder.open(path) else { throw KeyringError(.notCreated) }
        return folder
    }

    private func explaining<Result: ~Copyable>(
        _ body: () throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        do throws(KeyringError) { return try body() } catch {
            var error = error
            error.provider = Self.provider
            throw error
        }
    }

    /// Unwraps the key without asking for a passphrase, and has the kernel keep it.
    func unwrapped(_ slots: [ProtectorKind: Slot], _ folder: borrowing KeyringFolder) throws(KeyringError)
        -> KeyringKey?
    {
        var failure: KeyringError?
        for kind in [ProtectorKind.systemd, .command] {
            guard let slot = slots[kind] else { continue }
            do throws(KeyringError) {
                guard let key = try slot.key(nil, credentials) else { continue }
                guard try folder.opens(with: key) else { throw Self.otherKey }
                try? kernelKey(key.id).put(key, seconds: unlockFor)
                return key
            } catch {
                failure = failure ?? error
            }
        }
        // The passphrase still opens it.
        if slots[.passphrase] != nil { throw KeyringError(.locked, detail: failure?.detail ?? "") }
        if let failure { throw failure }
        return nil
    }

    /// Gives the keyring of a session that ended a new key; what it held can never be opened again.
    func startAnew(_ folder: borrowing KeyringFolder, after old: KeyringID) throws(KeyringError)
        -> KeyringKey
    {
        let lock = try folder.locked()
        defer { withExtendedLifetime(lock) {} }
        guard let id = try folder.id() else { throw KeyringError(.notCreated) }
        if let key = kernelKey(id).read() { return key }
        guard id == old else { throw KeyringError(.busy) }
        let key = KeyringKey.random()
        try kernelKey(key.id).put(key, seconds: unlockFor)
        folder.clearItems()
        try folder.put(Slot(key, by: .session, credentials), .session)
        try folder.begin(key)
        return key
    }
}

extension Protector {
    fileprivate var passphrase: Secret? {
        guard case .passphrase(let passphrase) = self else { return nil }
        return passphrase
    }
}
