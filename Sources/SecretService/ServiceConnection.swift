internal import CGLib
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The connection to the Secret Service, which all operations share; it is made when it is first needed.
package final class ServiceConnection: Sendable {
    /// Seconds for which a bus that didn't let anybody in isn't tried again.
    private static let pardon = 10.0

    private let environment: SessionEnvironment
    private let connected = Mutex<Provider?>(nil)
    private let silentUntil = Mutex<DispatchTime?>(nil)

    /// Creates a connection without contacting anything.
    ///
    /// `environment` must be the process's own, because that is what GLib and libsecret read.
    package init(environment: [String: String]) { self.environment = SessionEnvironment(variables: environment) }

    /// Runs an operation; if the provider vanishes during it, or no longer knows the session, runs it again, because a
    /// provider that crashed is restarted.
    ///
    /// Operations must therefore be safe to run twice.
    package func run<Result>(
        _ access: KeyringAccess, _ body: (borrowing KeyringSession) throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        try prepare()
        let watchdog = Watchdog(seconds: access.deadline)
        do throws(ServiceError) {
            return try body(session(access, watchdog))
        } catch  where error.isWorthRepeating {
            // Another process may provide the service now.
            connected.withLock { $0 = nil }
            return try body(session(access, watchdog, isRepeated: true))
        }
    }

    private func session(
        _ access: KeyringAccess, _ watchdog: Watchdog, isRepeated: Bool = false
    ) throws(ServiceError) -> KeyringSession {
        KeyringSession(
            provider: try provider(watchdog), watchdog: watchdog, access: access,
            mayPrompt: access.mayPrompt && !environment.isRemote, environment: environment.variables,
            isRepeated: isRepeated)
    }

    /// Loads libsecret, connects and requests a session in advance; errors are left to the operation that follows.
    package func open(deadline: Double) {
        do throws(ServiceError) {
            try prepare()
            let watchdog = Watchdog(seconds: deadline)
            try provider(watchdog).openSession(watchdog)
        } catch {
            return
        }
    }

    /// Asks the bus for the process that provides the Secret Service, without starting one; nil if none is running.
    package func providerProcess(deadline: Double) throws(ServiceError) -> Int32? {
        try prepare()
        let watchdog = Watchdog(seconds: deadline)
        do throws(ServiceError) {
            return try bus(watchdog).provider(watchdog)
        } catch  where error.reason == .noProvider {
            return nil
        }
    }

    private func prepare() throws(ServiceError) {
        try environment.check()
        try SecretLibrary.open()
    }

    private func provider(_ watchdog: borrowing Watchdog) throws(ServiceError) -> Provider {
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
    private func bus(_ watchdog: borrowing Watchdog) throws(ServiceError) -> BusConnection {
        if let end = silentUntil.withLock(\.self), .now() < end { throw ServiceError(.timedOut) }
        do throws(ServiceError) {
            return try BusConnection(watchdog)
        } catch {
            if error.reason == .timedOut { silentUntil.withLock { $0 = .now() + Self.pardon } }
            throw error
        }
    }
}

/// The environment variables that matter for the keyring before anything is contacted.
struct SessionEnvironment: Sendable {
    let variables: [String: String]

    /// Whether a prompt would open on a screen that the user isn't looking at.
    var isRemote: Bool { value("SSH_CONNECTION") != nil }

    /// Detects settings that would make libsecret hang or start a bus of its own.
    func check() throws(ServiceError) {
        let backend = variables["SECRET_BACKEND"] ?? ""
        guard ["", "service", "file"].contains(backend) else {
            throw ServiceError(.badBackend, detail: "SECRET_BACKEND is \(backend)")
        }
        guard hasBus else { throw ServiceError(.noSessionBus, detail: "no session bus is announced") }
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
