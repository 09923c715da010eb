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
    /// What was begun before anybody asked for it.
    private let foresight = Mutex(Foresight())

    // Each call is waited for by the one who takes it.
    private struct Foresight: @unchecked Sendable {
        var attributes: [String: String] = [:]
        var search: PendingCall?
        /// Whether the collection at a path is locked, asked for right after the search.
        var lock: (path: String, call: PendingCall)?
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

    /// Begins a search that somebody is going to ask for, and to find nothing with: then it matters whether the
    /// collection is locked.
    func beginSearch(
        _ attributes: [String: String], collection: String, _ patience: Patience
    ) throws(ProviderFailure) {
        try attributes.requireNoNUL()
        let search = begin("SearchItems", [.texts(attributes)], giving: "(aoao)", patience)
        let lock = begin(readingOf: "Locked", of: collection, "org.freedesktop.Secret.Collection", patience)
        foresight.withLock { $0 = Foresight(attributes: attributes, search: search, lock: (collection, lock)) }
    }

    /// Searches, unless just that was begun before and nobody has taken it yet.
    func search(_ attributes: [String: String], _ patience: Patience) throws(ProviderFailure) -> PendingCall {
        let begun = foresight.withLock { begun in
            let search = begun.attributes == attributes ? begun.search : nil
            // Of another search's time is what was begun with this one.
            begun = Foresight(lock: search == nil ? nil : begun.lock)
            return search
        }
        if let begun { return begun }
        try attributes.requireNoNUL()
        return begin("SearchItems", [.texts(attributes)], giving: "(aoao)", patience)
    }

    /// Asks whether a collection is locked, unless that was begun with the last search and nobody has taken it yet.
    func beginReadingLock(of collection: String, _ patience: Patience) -> PendingCall {
        let begun = foresight.withLock { begun in
            defer { begun.lock = nil }
            return begun.lock?.path == collection ? begun.lock?.call : nil
        }
        return begun ?? begin(readingOf: "Locked", of: collection, "org.freedesktop.Secret.Collection", patience)
    }

    /// Asks for an object's property.
    func begin(readingOf property: String, of path: String, _ interface: String, _ patience: Patience) -> PendingCall {
        begin(
            "Get", of: "org.freedesktop.DBus.Properties", at: path, [.text(interface), .text(property)],
            giving: "(v)", patience)
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
