internal import CSecret
internal import Synchronization

/// The Secret Service as this process calls it, over one connection and with one key for secrets.
final class SecretServiceProxy: Sendable {
    private static let current = Mutex<SecretServiceProxy?>(nil)

    /// The service; GDBus's proxies may be called from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer

    private let opened = Mutex<SecretSession?>(nil)

    private init(owned pointer: OpaquePointer) { self.pointer = pointer }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// The process's, connected to where it isn't yet.
    static func shared(_ watchdog: borrowing Watchdog) throws(ProviderFailure) -> SecretServiceProxy {
        if let proxy = current.withLock(\.self) { return proxy }
        guard let pointer = try calling({ lanyard_secret_service_new(watchdog.cancellable, $0) }) else {
            throw .found(StoreError(.broken, detail: "no service"))
        }
        let proxy = SecretServiceProxy(owned: pointer)
        current.withLock { $0 = proxy }
        return proxy
    }

    /// Calls a method of the service's object, or of another one of the provider's.
    func call(
        _ method: String, of interface: String = "org.freedesktop.Secret.Service",
        at path: String = "/org/freedesktop/secrets", _ arguments: [Argument], _ watchdog: borrowing Watchdog
    ) throws(ProviderFailure) -> Variant? {
        let owner = try owner
        return Variant(
            owned: try calling {
                g_dbus_connection_call_sync(
                    connection, owner, path, interface, method, Argument.tuple(arguments), nil, G_DBUS_CALL_FLAGS_NONE,
                    -1, watchdog.cancellable, $0)
            })
    }

    /// Calls a method of the service's object, of which the reply is awaited later.
    func begin(_ method: String, _ arguments: [Argument], seconds: Double) throws(ProviderFailure) -> PendingCall {
        let call = ProviderCall(
            destination: try owner, path: "/org/freedesktop/secrets", interface: "org.freedesktop.Secret.Service",
            method: method)
        return PendingCall(call, Argument.tuple(arguments), on: connection, seconds: seconds)
    }

    /// The session in which secrets are read, opened where it isn't yet.
    func session(seconds: Double) throws(ProviderFailure) -> SecretSession {
        try opened.withLock { opened throws(ProviderFailure) in
            if let session = opened { return session }
            let session = try SecretSession(of: self, seconds: seconds)
            opened = session
            return session
        }
    }

    private var connection: OpaquePointer { g_dbus_proxy_get_connection(pointer) }

    /// The name of the process on the bus.
    private var owner: String {
        get throws(ProviderFailure) {
            guard let owner = g_dbus_proxy_get_name_owner(pointer) else { throw .noOwner }
            defer { g_free(owner) }
            return String(cString: owner)
        }
    }

    /// Has the next operation connect anew, as it must where another process provides the service now.
    static func forget() { current.withLock { $0 = nil } }
}
