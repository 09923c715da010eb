internal import CGLib
internal import Synchronization

/// Whatever provides the Secret Service, as libsecret's service, and the bus it is on; one for the process.
final class Provider: Sendable {
    private static let current = Mutex<Provider?>(nil)

    let bus: SessionBus
    // GDBus's proxies may be used by any thread.
    nonisolated(unsafe) let service: OpaquePointer
    /// Its name on the bus: libsecret takes another from SECRET_SERVICE_BUS_NAME.
    let name: String
    private let opening = Mutex<SessionOpening?>(nil)

    private init(_ watchdog: borrowing Watchdog) throws(ServiceFailure) {
        bus = try SessionBus(watchdog)
        let type = lanyard_secret_service_get_type()
        let service = try watchdog.calling {
            secret_service_open_sync(type, nil, SECRET_SERVICE_NONE, $0, $1)
        }
        guard let service else { throw ServiceFailure(.broken, detail: "no service") }
        self.service = service
        name = g_dbus_proxy_get_name(service).map { String(cString: $0) } ?? ""
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(service)) }

    /// The process's, made if there is none.
    static func shared(_ watchdog: borrowing Watchdog) throws(ServiceFailure) -> Provider {
        if let provider = current.withLock(\.self) { return provider }
        let provider = try Provider(watchdog)
        current.withLock { $0 = provider }
        return provider
    }

    /// Asks for a session to read secrets in.
    func openSession(_ watchdog: Watchdog) { opening.withLock { $0 = SessionOpening(of: service, watchdog) } }

    /// Waits for the session that was asked for, if any was; libsecret would open another one.
    func awaitSession(_ watchdog: borrowing Watchdog) {
        opening.withLock { opening in
            opening?.wait()
            opening = nil
        }
        // The wait had a time of its own.
        watchdog.extend()
    }

    /// Makes a call that doesn't block, and waits for the reply; a session that was asked for is opened meanwhile.
    func reply(to call: ReplyContext.Call) -> ReplyContext.Reply {
        opening.withLock { opening in
            let replies = opening?.replies ?? ReplyContext()
            let reply = replies.begin(call)
            replies.wait(for: reply)
            return reply
        }
    }

    /// Has the next operation begin anew, as it must if another process provides the service now.
    static func forget() { current.withLock { $0 = nil } }
}
