internal import CGLib
internal import Glibc
internal import Keyring
internal import Synchronization

/// The provider of the Secret Service, as libsecret's service, and its bus.
final class Provider: Sendable {
    /// The time in microseconds until a request has reached the provider by way of the bus.
    private static let delivery: UInt32 = 200

    let bus: BusConnection
    // GDBus's proxies can be used on any thread.
    nonisolated(unsafe) let service: OpaquePointer
    /// The name of the provider on the bus; libsecret takes it from SECRET_SERVICE_BUS_NAME if that is set.
    let name: String
    private let opening = Mutex<SessionOpening?>(nil)

    init(on bus: BusConnection, _ watchdog: borrowing Watchdog) throws(KeyringError) {
        self.bus = bus
        let type = lanyard_secret_service_get_type()
        let service = try watchdog.calling {
            secret_service_open_sync(type, nil, SECRET_SERVICE_NONE, $0, $1)
        }
        guard let service else { throw KeyringError(.broken, detail: "no service") }
        self.service = service
        name = g_dbus_proxy_get_name(service).map { String(cString: $0) } ?? ""
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(service)) }

    /// Requests a session for reading secrets, and lets the provider begin.
    ///
    /// Linux often wakes a process on the processor it last ran on, even if another is idle: the provider would share
    /// it with this thread, and take twice as long.
    func openSession(_ watchdog: Watchdog) {
        opening.withLock { $0 = SessionOpening(of: service, watchdog) }
        usleep(Self.delivery)
    }

    /// Waits for the requested session, or requests one and waits; does nothing if one is open.
    ///
    /// - Throws: The reason why there is none; that may be the fault of the key that was drawn for it.
    func requireSession(_ watchdog: borrowing Watchdog) throws(KeyringError) {
        opening.withLock { opening in
            opening?.wait()
            opening = nil
        }
        // The wait had its own time limit.
        watchdog.extend()
        let reply = reply { secret_service_ensure_session(service, watchdog.cancellable, $0, $1) }
        do throws(KeyringError) {
            try watchdog.succeeding { secret_service_ensure_session_finish(service, reply.result, $1) }
        } catch  where error.reason == .broken || error.reason == .denied {
            throw error.worthRepeating
        }
    }

    /// What the process has done so far; nil if that isn't known, or if the bus doesn't answer.
    var activity: ProcessActivity? {
        bus.provider(withinMilliseconds: 500).flatMap { ProcessActivity(of: $0) }
    }

    /// Makes a non-blocking call, and waits for the reply; a requested session is opened meanwhile.
    func reply(to call: ReplyContext.Call) -> ReplyContext.Reply {
        opening.withLock { opening in
            let replies = opening?.replies ?? ReplyContext()
            let reply = replies.begin(call)
            replies.wait(for: reply)
            return reply
        }
    }
}

extension Provider {
    // GLib would write messages to stderr that are in the returned errors anyway; stderr is for the user.
    private static let silence: Void = g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)

    /// Loads libsecret, and the GLib that comes with it, unless they are loaded already.
    static func openLibrary() throws(KeyringError) {
        if let problem = lanyard_secret_open() {
            throw KeyringError(.noLibrary, detail: String(cString: problem))
        }
        _ = silence
    }
}
