public import AnswerCache
internal import CGLib
internal import Dispatch
internal import Glibc
internal import JSON
public import Keyring
internal import Synchronization

/// The Secret Service, by way of libsecret; the connection is made when it is first needed.
public final class SecretServiceKeyring: Keyring {
    /// Seconds for which a bus that didn't let anybody in isn't tried again.
    private static let pardon = 10.0

    private let environment: SessionEnvironment
    private let connected = Mutex<Provider?>(nil)
    private let silentUntil = Mutex<DispatchTime?>(nil)

    /// Creates a keyring without contacting anything.
    ///
    /// `environment` must be the process's own, because that is what GLib and libsecret read.
    public init(environment: [String: String]) { self.environment = SessionEnvironment(variables: environment) }

    /// The specification's name.
    public var name: String { "the Secret Service" }

    /// The locks of the processes on the same bus.
    public var locks: SingleFlight { SingleFlight(environment: environment.variables) }

    /// Loads libsecret, connects and requests a session in advance; errors are left to the operation that follows.
    public func open() {
        do throws(KeyringError) {
            try prepare()
            let watchdog = Watchdog(seconds: KeyringConfiguration.defaultDeadline)
            try provider(watchdog).openSession(watchdog)
        } catch {
            return
        }
    }

    /// Runs an operation; if the provider vanishes during it, or no longer knows the session, runs it again, because a
    /// provider that crashed is restarted.
    public func run<Result>(
        _ configuration: KeyringConfiguration, _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try session(configuration, body)
    }

    /// Runs an operation of this keyring's own, when it is this process's turn to ask the user if it needs that.
    private func session<Result>(
        _ configuration: KeyringConfiguration, _ body: (ServiceSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        do throws(KeyringError) {
            do throws(KeyringError) {
                return try attempt(configuration, body)
            } catch  where error.handling == .awaitTurn {
                return try taking(turn: KeyringTurn(environment.variables)) { () throws(KeyringError) in
                    // By now, the keyring may be open.
                    try attempt(configuration, hasTurn: true, body)
                }
            }
        } catch {
            var error = error
            error.handling = nil
            explain(&error, configuration)
            throw error
        }
    }

    private func attempt<Result>(
        _ configuration: KeyringConfiguration, hasTurn: Bool = false,
        _ body: (ServiceSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try prepare()
        let watchdog = Watchdog(seconds: configuration.deadline)
        func session(isRepeated: Bool) throws(KeyringError) -> ServiceSession {
            ServiceSession(
                try provider(watchdog), watchdog, configuration,
                mayPrompt: configuration.mayPrompt && !environment.isRemote, hasTurn: hasTurn,
                environment: environment.variables, isRepeated: isRepeated)
        }
        do throws(KeyringError) {
            return try body(session(isRepeated: false))
        } catch  where error.handling == .reconnect {
            // Another process may provide the service now.
            connected.withLock { $0 = nil }
            return try body(session(isRepeated: true))
        }
    }

    /// Runs an operation when it is this process's turn to have the user unlock or create the keyring.
    private func taking<Result>(
        turn: consuming KeyringTurn, _ body: () throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        let began = SharedNotes.milliseconds
        guard turn.acquire() else { throw KeyringError(.locked) }
        // A "no" while this process waited was its answer, too.
        if turn.wasDeclined(since: began) { throw KeyringError(.denied, detail: "another process was told no") }
        do throws(KeyringError) {
            return try body()
        } catch {
            if error.handling == .tellDeclined { turn.noteDeclined() }
            throw error
        }
    }

    /// Adds to an error what is locked, who can open it, or who keeps the provider from starting.
    private func explain(_ error: inout KeyringError, _ configuration: KeyringConfiguration) {
        switch error.reason {
        case .locked, .noDefaultCollection:
            error.provider = (try? provider(deadline: configuration.deadline))?.flatMap(\.programName)
            if error.reason == .locked { error.lock = lockBesideDefault(configuration) }
        case .timedOut, .busy:
            // The bus answers at once, or not at all.
            do throws(KeyringError) {
                let running = try provider(deadline: 0.5)
                error.provider = running?.programName
                guard running == nil else { return }
                error.otherBus = KeyringProvider.blockingBus(environment: environment.variables)
            } catch {}
        default: break
        }
    }

    /// Returns what can be locked although the default keyring is open; nil if it isn't open.
    private func lockBesideDefault(_ configuration: KeyringConfiguration) -> KeyringError.Lock? {
        var configuration = configuration
        configuration.mayPrompt = false
        let labels = try? attempt(configuration) { session throws(KeyringError) in try session.lockedBesideDefault() }
        guard let labels = labels ?? nil else { return nil }
        return labels.isEmpty ? .items : .keyrings(labels)
    }

    /// Locks the default keyring.
    ///
    /// - Throws: `denied` if the provider asks and the user declines.
    public func lock(_ configuration: KeyringConfiguration) throws(KeyringError) {
        try session(configuration) { session throws(KeyringError) in try session.lock() }
    }

    /// Returns the path of the default keyring's file if gnome-keyring keeps it as text, because it has no password; nil
    /// if it doesn't, or if the keyring can't be asked.
    public func plainFile(_ configuration: KeyringConfiguration) -> String? {
        try? session(configuration) { session throws(KeyringError) in try session.plainFile() }
    }

    /// Asks the bus for the provider, without starting one; nil if none is running.
    ///
    /// This also finds a provider that hangs, because the bus answers rather than the provider.
    ///
    /// - Parameter deadline: The number of seconds that the bus may take.
    /// - Returns: The provider.
    /// - Throws: `KeyringError` if the bus can't be asked.
    public func provider(
        deadline: Double = KeyringConfiguration.defaultDeadline
    ) throws(KeyringError) -> KeyringProvider? {
        try prepare()
        let watchdog = Watchdog(seconds: deadline)
        do throws(KeyringError) {
            return try bus(watchdog).provider(watchdog).map { KeyringProvider(processID: $0) }
        } catch {
            guard error.reason == .noProvider else {
                throw KeyringError(error.reason, detail: error.detail)
            }
            return nil
        }
    }

    private func prepare() throws(KeyringError) {
        try environment.check()
        try Provider.openLibrary()
    }

    private func provider(_ watchdog: borrowing Watchdog) throws(KeyringError) -> Provider {
        let provider: Provider
        if let known = connected.withLock(\.self) {
            provider = known
        } else {
            provider = try Provider(on: bus(watchdog), watchdog)
            connected.withLock { $0 = provider }
        }
        watchdog.watch(provider)
        return provider
    }

    /// Connects to the bus, unless it just kept this process waiting: what follows would wait as long.
    private func bus(_ watchdog: borrowing Watchdog) throws(KeyringError) -> BusConnection {
        if let end = silentUntil.withLock(\.self), .now() < end { throw KeyringError(.timedOut) }
        do throws(KeyringError) {
            return try BusConnection(watchdog)
        } catch {
            if error.reason == .timedOut { silentUntil.withLock { $0 = .now() + Self.pardon } }
            throw error
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

/// The environment variables that matter for the keyring before anything is contacted.
struct SessionEnvironment: Sendable {
    let variables: [String: String]

    /// Whether a prompt would open on a screen that the user isn't looking at.
    var isRemote: Bool { value("SSH_CONNECTION") != nil }

    /// Detects settings that would make libsecret hang or start a bus of its own.
    func check() throws(KeyringError) {
        let backend = variables["SECRET_BACKEND"] ?? ""
        guard ["", "service", "file"].contains(backend) else {
            throw KeyringError(.badBackend, detail: "SECRET_BACKEND is \(backend)")
        }
        guard hasBus else { throw KeyringError(.noSessionBus, detail: "no session bus is announced") }
    }

    /// Whether the environment has a bus; without one, GLib would run dbus-launch, which may leave a stray bus behind.
    private var hasBus: Bool {
        if let address = value("DBUS_SESSION_BUS_ADDRESS") {
            return !address.hasPrefix("autolaunch:") && !address.hasPrefix("disabled:")
        }
        guard let directory = value("XDG_RUNTIME_DIR") else { return false }
        var status = stat()
        return stat(directory + "/bus", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private func value(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// A session for secrets that is requested before any are needed, because agreeing on its key takes the provider longer
/// than everything that is read meanwhile.
final class SessionOpening: @unchecked Sendable {
    /// The replies to other calls made meanwhile also arrive here, so this side computes its part of the key while the
    /// provider works.
    let replies = ReplyContext()
    private let reply: ReplyContext.Reply
    private let watchdog: Watchdog

    /// Requests a session; the watchdog limits the wait for it.
    init(of service: OpaquePointer, _ watchdog: Watchdog) {
        self.watchdog = watchdog
        reply = replies.begin { secret_service_ensure_session(service, watchdog.cancellable, $0, $1) }
    }

    /// Waits until the request has succeeded or failed; after a failure, the caller that needs a session requests it
    /// again and gets the error.
    ///
    /// Only one thread may wait at a time.
    func wait() { replies.wait(for: reply) }
}
