internal import CSecret
internal import Dispatch
internal import Glibc

/// The agreement with the provider on a key for secrets, on a thread of its own.
final class KeyAgreement: Sendable {
    private let service: SecretServiceProxy
    private let deadline: Double
    private let isOver = DispatchSemaphore(value: 0)

    /// Makes it; nothing is asked yet.
    ///
    /// - Parameters:
    ///   - service: the service that the key is for.
    ///   - deadline: how many seconds it may take.
    init(_ service: SecretServiceProxy, deadline: Double) {
        self.service = service
        self.deadline = deadline
    }

    /// Starts the thread; where there can be none, the agreement is over without a key.
    func start() {
        let argument = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<KeyAgreement>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard status == 0 else {
            argument.release()
            isOver.signal()
            return
        }
        pthread_detach(thread)
    }

    /// Waits until there is a key, or until there can be none.
    func wait() {
        isOver.wait()
        isOver.signal()
    }

    private func run() {
        let watchdog = Watchdog(seconds: deadline)
        // Whoever needs the key and finds none asks for one again, and fails then.
        _ = secret_service_ensure_session_sync(service.pointer, watchdog.cancellable, nil)
        isOver.signal()
    }
}
