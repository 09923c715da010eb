internal import CSecret
internal import Synchronization

/// The process's connection to whatever provides the Secret Service.
///
/// What is read is asked for by calls of its own; what changes the store goes through libsecret. Its service object is a
/// proxy that takes three calls to make, and its session one that takes long to agree on (see `KeyExchange`).
final class ProviderConnection: Sendable {
    private static let current = Mutex<ProviderConnection?>(nil)

    /// Connections may be used by any thread.
    nonisolated(unsafe) private let bus: OpaquePointer
    private let opened = Mutex<SecretSession?>(nil)
    private let proxy = Mutex<UInt?>(nil)

    private init(owned bus: OpaquePointer) { self.bus = bus }

    deinit {
        proxy.withLock { $0.map { g_object_unref(UnsafeMutableRawPointer(bitPattern: $0)) } }
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    /// The process's, connected to the bus where it isn't yet.
    static func shared(_ watchdog: borrowing Watchdog) throws(ProviderFailure) -> ProviderConnection {
        if let connection = current.withLock(\.self) { return connection }
        guard let bus = try calling({ g_bus_get_sync(G_BUS_TYPE_SESSION, watchdog.cancellable, $0) }) else {
            throw .found(StoreError(.noSessionBus, detail: "no connection"))
        }
        let connection = ProviderConnection(owned: bus)
        current.withLock { $0 = connection }
        return connection
    }

    /// Has the next operation begin anew, as it must where another process provides the service now.
    static func forget() { current.withLock { $0 = nil } }

    /// Calls a method of the service's object, or of another one of the provider's; one that doesn't run is started.
    func call(
        _ method: String, of interface: String = "org.freedesktop.Secret.Service",
        at path: String = "/org/freedesktop/secrets", _ arguments: [Argument], _ watchdog: borrowing Watchdog
    ) throws(ProviderFailure) -> Variant? {
        Variant(
            owned: try calling {
                g_dbus_connection_call_sync(
                    bus, Self.name, path, interface, method, Argument.tuple(arguments), nil, G_DBUS_CALL_FLAGS_NONE,
                    -1, watchdog.cancellable, $0)
            })
    }

    /// Calls a method of the service's object, or of another one of the provider's, and leaves its reply for later.
    func begin(
        _ method: String, of interface: String = "org.freedesktop.Secret.Service",
        at path: String = "/org/freedesktop/secrets", _ arguments: [Argument], seconds: Double
    ) -> PendingCall {
        let call = ProviderCall(destination: Self.name, path: path, interface: interface, method: method)
        return PendingCall(call, Argument.tuple(arguments), on: bus, seconds: seconds)
    }

    /// The session in which secrets are read, asked for where it isn't yet.
    func session(seconds: Double) throws(ProviderFailure) -> SecretSession {
        try opened.withLock { opened throws(ProviderFailure) in
            if let session = opened { return session }
            let session = try SecretSession(of: self, seconds: seconds)
            opened = session
            return session
        }
    }

    /// Does its part for a session that was asked for; what is wrong with it is told to whoever reads secrets.
    func finishSession() {
        let session = opened.withLock(\.self)
        session?.finish()
    }

    /// libsecret's service object, made where it isn't yet; it may be used by any thread.
    func service(_ watchdog: borrowing Watchdog) throws(ProviderFailure) -> OpaquePointer {
        let address = try proxy.withLock { proxy throws(ProviderFailure) in
            if let proxy { return proxy }
            guard let pointer = try calling({
                secret_service_open_sync(
                    secret_service_get_type(), nil, SECRET_SERVICE_NONE, watchdog.cancellable, $0)
            }) else { throw .found(StoreError(.broken, detail: "no service")) }
            proxy = UInt(bitPattern: pointer)
            return UInt(bitPattern: pointer)
        }
        return OpaquePointer(bitPattern: address)!
    }

    private static let name = "org.freedesktop.secrets"
}
