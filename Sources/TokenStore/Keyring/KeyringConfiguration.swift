internal import Addresses
internal import Files
internal import JSON
internal import SecretService

/// Where and how records are stored.
public struct KeyringConfiguration: Sendable {
    /// The default number of seconds that the provider may take for one call.
    public static let defaultDeadline = 2.0

    /// A collection of the Secret Service, by its alias.
    public enum Collection: String, Sendable {
        /// The user's default keyring, on disk.
        case `default`
        /// The provider's memory, which needs no unlocking and is lost at log-out.
        case session
    }

    /// The connection to the keyring's service.
    public var connection: KeyringConnection
    /// The group of the items, like a keychain access group: items in the same group are shared.
    public var group: String
    /// The collection of new items.
    public var collection: Collection
    /// The number of seconds that the provider may take for one call, except for a prompt that the user answers and for
    /// one that is busy, which may take fifteen times as long.
    public var deadline: Double
    /// Whether the provider may ask the user to unlock the keyring.
    ///
    /// It never does over SSH (`SSH_CONNECTION` is set), where the prompt would open on somebody else's screen.
    public var mayPrompt: Bool
    /// The cache of answers based on this keyring, which every change clears; nil if there is none.
    public var answers: AnswerCache?

    /// Creates a configuration.
    public init(
        _ connection: KeyringConnection, group: String, collection: Collection = .default,
        deadline: Double = Self.defaultDeadline, mayPrompt: Bool = false, answers: AnswerCache? = nil
    ) {
        self.connection = connection
        self.group = group
        self.collection = collection
        self.deadline = deadline
        self.mayPrompt = mayPrompt
        self.answers = answers
    }

    /// Makes a change to the store, after which no cached answer is valid.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let answers else { return try body() }
        return try answers.changing(body)
    }

    /// Runs an operation on the keyring; the operation must be safe to run twice.
    func withKeyring<Result>(
        _ body: (borrowing KeyringSession) throws(ServiceError) -> Result
    ) throws(StoreError) -> Result {
        var access = KeyringAccess(
            alias: collection.rawValue, isConfined: collection == .session, deadline: deadline, mayPrompt: mayPrompt)
        do throws(ServiceError) {
            do throws(ServiceError) {
                return try connection.service.run(access, body)
            } catch  where error.wantsTurn {
                // By the time it is this process's turn, the keyring may be open.
                access.hasTurn = true
                return try taking(turn: KeyringTurn(connection.environment)) { () throws(ServiceError) in
                    try connection.service.run(access, body)
                }
            }
        } catch {
            var error = StoreError(error)
            explain(&error)
            throw error
        }
    }

    /// Runs an operation when it is this process's turn to have the user unlock or create the keyring.
    private func taking<Result>(
        turn: consuming KeyringTurn, _ body: () throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        let began = SharedNotes.milliseconds
        guard turn.acquire() else { throw ServiceError(.locked) }
        // A "no" while this process waited was its answer, too.
        if turn.wasDeclined(since: began) { throw ServiceError(.denied, detail: "another process was told no") }
        do throws(ServiceError) {
            return try body()
        } catch {
            if error.isDeclined { turn.noteDeclined() }
            throw error
        }
    }

    /// Adds to an error what is locked, who can open it, or who keeps the provider from starting.
    func explain(_ error: inout StoreError) {
        switch error.reason {
        case .locked, .noDefaultCollection:
            error.provider = (try? connection.provider(deadline: deadline))?.flatMap(\.programName)
            if error.reason == .locked { error.lock = lockBesideDefault() }
        case .timedOut, .busy:
            // The bus answers at once, or not at all.
            do throws(StoreError) {
                let running = try connection.provider(deadline: 0.5)
                error.provider = running?.programName
                guard running == nil else { return }
                error.otherBus = KeyringProvider.blockingBus(environment: connection.environment)
            } catch {}
        default: break
        }
    }

    /// Returns what can be locked although the default keyring is open; nil if it isn't open.
    private func lockBesideDefault() -> StoreError.Lock? {
        let access = KeyringAccess(
            alias: collection.rawValue, isConfined: collection == .session, deadline: deadline, mayPrompt: false)
        let labels = try? connection.service.run(access) { session throws(ServiceError) in
            try session.lockedBesideDefault()
        }
        guard let labels = labels ?? nil else { return nil }
        return labels.isEmpty ? .items : .keyrings(labels)
    }
}

extension SecretServiceStore {
    /// Tells why items can't be read although the default keyring is open, without a prompt; nil if they can.
    public func problemOfItems() -> StoreError? {
        let schemas = [ItemAttributes.schemaName, PasswordItem.schemaName]
        do throws(StoreError) {
            try configuration.withKeyring { session throws(ServiceError) in
                for schema in schemas where try !session.reachable(["xdg:schema": schema]).locked.isEmpty {
                    throw ServiceError(.locked)
                }
            }
            return nil
        } catch {
            return error.lock == nil ? nil : error
        }
    }
}

/// The connection to the keyring's service, which all of a process's stores share; it is made when it is first needed.
public final class KeyringConnection: Sendable {
    let service: ServiceConnection
    /// The environment of the process.
    let environment: [String: String]

    /// Creates a connection without contacting anything.
    ///
    /// `environment` must be the process's own, because that is what the libraries read.
    public init(environment: [String: String]) {
        service = ServiceConnection(environment: environment)
        self.environment = environment
    }

    /// Starts opening the connection and the session with the keyring early, because that takes longer than everything
    /// that is read before they are needed.
    public func open() { service.open(deadline: KeyringConfiguration.defaultDeadline) }

    /// Asks the bus for the provider, without starting one; nil if none is running.
    ///
    /// This also finds a provider that hangs, because the bus answers rather than the provider.
    ///
    /// - Parameter deadline: The number of seconds that the bus may take.
    /// - Returns: The provider.
    /// - Throws: `StoreError` if the bus can't be asked.
    public func provider(
        deadline: Double = KeyringConfiguration.defaultDeadline
    ) throws(StoreError) -> KeyringProvider? {
        do throws(ServiceError) {
            return try service.providerProcess(deadline: deadline).map { KeyringProvider(processID: $0) }
        } catch {
            throw StoreError(error)
        }
    }
}

/// The turn of a process to have the user unlock or create the keyring, so that one window opens for all who need it.
///
/// gnome-keyring opens a window for each request, and forgets all but one if the user dismisses that.
struct KeyringTurn: ~Copyable {
    private static let key = "keyring prompt"
    /// Seconds to wait for a user who is asked by another process.
    private static let patience = 900.0

    private let file: LockFile?
    private let notes: SharedNotes

    init(_ environment: [String: String]) {
        file = try? SingleFlight(environment: environment).open(Self.key)
        notes = SharedNotes(environment: environment)
    }

    /// Waits for the turn, which ends with this value; false if it didn't come.
    ///
    /// Where there can be no locks, it is always this process's turn.
    func acquire() -> Bool {
        guard let isLocked = try? file?.lock(within: Self.patience) else { return true }
        return isLocked
    }

    /// Whether the user said no to a process that had its turn since this time in `SharedNotes.milliseconds`.
    func wasDeclined(since time: Int) -> Bool {
        notes.note(about: Self.key)?["at"]?.time.map { $0 >= time } ?? false
    }

    /// Tells the processes that wait that the user said no.
    func noteDeclined() { notes.noteTime(about: Self.key) }
}

/// The session bus that an environment names, which decides whose keyring is used.
enum KeyringBus {
    /// Returns the same name for all environments that lead to the same bus, without asking it.
    ///
    /// A bus is recognised by its socket, however its address is written: processes outside of the desktop may have
    /// another one, or none.
    static func name(in environment: [String: String]) -> String {
        var address = environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        if address.isEmpty {
            let folder = environment.ownRuntimeFolder ?? environment.sharedRuntimeFolder
            address = folder.map { "unix:path=\($0)/bus" } ?? ""
        }
        let first = address.pieces(between: ";").first ?? ""
        let parts = (first.cut(at: ":")?.1 ?? "").pieces(between: ",")
        guard let path = parts.lazy.compactMap({ $0.cut(at: "=") }).first(where: { $0.0 == "path" })?.1,
            let socket = FileStatus(of: String(path))
        else { return parts.filter { !$0.hasPrefix("guid=") }.joined(separator: ",") }
        return "\(socket.device) \(socket.inode)"
    }
}
