internal import CSecret
internal import Synchronization

/// This process's connection to whatever provides the Secret Service.
///
/// What is stored is read with calls of lanyard's own, and changed through libsecret: its service is a proxy that asks the
/// bus and the provider five things before the first that is wanted, and its session takes long (see `KeyExchange`).
final class ProviderConnection: Sendable {
    /// The name of whatever provides the Secret Service, on the bus.
    static let name = "org.freedesktop.secrets"
    private static let current = Mutex<ProviderConnection?>(nil)

    // GDBus's connections and proxies may be used by any thread.
    nonisolated(unsafe) private let bus: OpaquePointer
    private let session = Mutex<SecretSession?>(nil)
    private let service = Mutex<Service?>(nil)
    /// A search that was begun before anybody asked for it.
    private let foresight = Mutex<Search?>(nil)

    // Waited for by the one who takes it.
    private struct Search: @unchecked Sendable {
        let attributes: [String: String]
        let call: PendingCall
    }

    private struct Service: @unchecked Sendable { let pointer: OpaquePointer }

    private init(owned bus: OpaquePointer) {
        self.bus = bus
        // A bus that goes away is an error like others, and no reason to be killed.
        g_dbus_connection_set_exit_on_close(bus, 0)
    }

    deinit {
        service.withLock { service in
            if let service { g_object_unref(UnsafeMutableRawPointer(service.pointer)) }
        }
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    /// The process's, made where there is none.
    static func shared(_ watchdog: borrowing Watchdog) throws(ProviderFailure) -> ProviderConnection {
        if let connection = current.withLock(\.self) { return connection }
        guard let bus = try calling({ g_bus_get_sync(G_BUS_TYPE_SESSION, watchdog.cancellable, $0) }) else {
            throw .found(StoreError(.broken, detail: "no connection"))
        }
        let connection = ProviderConnection(owned: bus)
        current.withLock { $0 = connection }
        return connection
    }

    /// Has the next operation begin anew, as it must where another process provides the service now.
    static func forget() { current.withLock { $0 = nil } }

    /// Calls a method of the service, or of another object of the provider's, which is started where none runs; or the bus's.
    ///
    /// A reply of another type than the one given here is an error, so that whoever reads it may rely on its type.
    func begin(
        _ method: String, to destination: String = name, of interface: String = "org.freedesktop.Secret.Service",
        at path: String = "/org/freedesktop/secrets", _ arguments: [Argument], giving reply: String,
        _ patience: Patience
    ) -> PendingCall {
        let call = Call(
            destination: destination, path: path, interface: interface, method: method, arguments: arguments,
            reply: reply)
        return PendingCall(call, on: bus, patience)
    }

    /// Begins a search that somebody is going to ask for.
    func beginSearch(_ attributes: [String: String], _ patience: Patience) throws(ProviderFailure) {
        try attributes.requireNoNUL()
        let call = begin("SearchItems", [.texts(attributes)], giving: "(aoao)", patience)
        let search = Search(attributes: attributes, call: call)
        foresight.withLock { $0 = search }
    }

    /// Searches, unless just that was begun before and nobody has taken it yet.
    func search(_ attributes: [String: String], _ patience: Patience) throws(ProviderFailure) -> PendingCall {
        let begun = foresight.withLock { begun in
            defer { begun = nil }
            return begun
        }
        if let begun, begun.attributes == attributes { return begun.call }
        try attributes.requireNoNUL()
        return begin("SearchItems", [.texts(attributes)], giving: "(aoao)", patience)
    }

    /// The session in which secrets are read, asked for where it wasn't yet.
    func session(seconds: Double) throws(ProviderFailure) -> SecretSession {
        try session.withLock { session throws(ProviderFailure) in
            if let session { return session }
            let made = try SecretSession(of: self, seconds: seconds)
            session = made
            return made
        }
    }

    /// Does this side's part for a session that was asked for; what is wrong with it is told to whoever reads secrets.
    func finishSession() {
        let session = session.withLock(\.self)
        session?.finish()
    }

    /// libsecret's service, made where there is none.
    func service(_ watchdog: borrowing Watchdog) throws(ProviderFailure) -> OpaquePointer {
        let service = try service.withLock { service throws(ProviderFailure) in
            if let service { return service }
            try SecretLibrary.openForChanges()
            let type = secret_service_get_type()
            let pointer = try calling {
                secret_service_open_sync(type, nil, SECRET_SERVICE_NONE, watchdog.cancellable, $0)
            }
            guard let pointer else { throw .found(StoreError(.broken, detail: "no service")) }
            let made = Service(pointer: pointer)
            service = made
            return made
        }
        return service.pointer
    }
}
