internal import CSecret
internal import Dispatch
internal import Glibc
internal import Logging
internal import Synchronization

/// The connection to the Secret Service, opened on a thread of its own while something else is done.
///
/// libsecret takes some milliseconds to be loaded, to connect, and to agree with the provider on a key for secrets. The
/// first operation of the process takes over what was begun; where it failed, the operation fails so.
public enum KeyringOpening {
    private static let begun = Mutex<OpeningConnection?>(nil)

    /// Begins to open the connection, where there is a bus to connect to.
    ///
    /// - Parameter deadline: how many seconds it may take.
    public static func begin(deadline: Double = KeyringConfiguration.defaultDeadline) {
        do throws(ProviderFailure) { try SessionEnvironment.process.check() } catch { return }
        let connection = OpeningConnection(deadline: deadline)
        guard connection.start() else { return }
        begun.withLock { $0 = connection }
    }

    /// Takes over what was begun; nil where nothing was, or it was taken over before.
    static func take() -> OpeningConnection? {
        begun.withLock { connection in
            defer { connection = nil }
            return connection
        }
    }
}

/// A connection on its way.
final class OpeningConnection: Sendable {
    private let deadline: Double
    private let failure = Mutex<ProviderFailure?>(nil)
    private let isConnected = DispatchSemaphore(value: 0)
    private let hasSession = DispatchSemaphore(value: 0)

    fileprivate init(deadline: Double) {
        self.deadline = deadline
    }

    /// Starts the thread; false where there can be none.
    fileprivate func start() -> Bool {
        let argument = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<OpeningConnection>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard status == 0 else {
            argument.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Waits until the service can be called.
    func waitForConnection() throws(ProviderFailure) {
        isConnected.wait()
        isConnected.signal()
        if let failure = failure.withLock(\.self) { throw failure }
    }

    /// Waits until secrets can be read, or until that has failed.
    func waitForSession() {
        hasSession.wait()
        hasSession.signal()
    }

    private func run() {
        defer {
            isConnected.signal()
            hasSession.signal()
        }
        do throws(ProviderFailure) {
            try SecretLibrary.open()
            let watchdog = Watchdog(seconds: deadline)
            let pointer = try calling { secret_service_get_sync(SECRET_SERVICE_NONE, watchdog.cancellable, $0) }
            guard let service = GRef(owned: pointer) else { return }
            isConnected.signal()
            // Whoever needs the key and finds none asks for one again, and fails then.
            _ = secret_service_ensure_session_sync(service.pointer, watchdog.cancellable, nil)
        } catch {
            failure.withLock { $0 = error }
        }
    }
}
