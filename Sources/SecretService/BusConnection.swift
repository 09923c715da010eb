internal import CGLib

/// The session bus, for calls that libsecret has no functions for: the bus's own methods, and single properties.
///
/// libsecret only reads properties of items and collections that are proxies, each of which takes six calls.
struct BusConnection: @unchecked Sendable {
    // GDBus connections are thread-safe.
    private let connection: OpaquePointer

    /// Opens the process's connection, which is never released because GLib shares it.
    init(_ watchdog: borrowing Watchdog) throws(ServiceFailure) {
        do throws(ServiceFailure) {
            let connection = try watchdog.calling { g_bus_get_sync(G_BUS_TYPE_SESSION, $0, $1) }
            guard let connection else { throw ServiceFailure(.broken, detail: "no connection") }
            self.connection = connection
        } catch {
            // What GLib calls an invalid argument here is the bus's address.
            throw error.reason == .broken ? ServiceFailure(.noSessionBus, detail: error.detail) : error
        }
        // The loss of the bus is an ordinary error, and must not end the process.
        g_dbus_connection_set_exit_on_close(connection, 0)
    }

    /// Reads a property of an object; `owner` is a name on the bus.
    func property(
        _ property: String, of path: String, _ interface: String, owner: String, _ watchdog: borrowing Watchdog
    ) throws(ServiceFailure) -> Variant? {
        try call(
            "Get", of: "org.freedesktop.DBus.Properties", at: path, owner: owner, [interface, property],
            giving: "(v)", watchdog)?.child(0)?.child(0)
    }

    /// Returns the process that provides the Secret Service.
    func provider(_ watchdog: borrowing Watchdog) throws(ServiceFailure) -> Int32? {
        let bus = "org.freedesktop.DBus"
        let reply = try call(
            "GetConnectionUnixProcessID", of: bus, at: "/org/freedesktop/DBus", owner: bus,
            ["org.freedesktop.secrets"], giving: "(u)", watchdog)
        return reply?.child(0)?.smallNumber.map { Int32(bitPattern: $0) }
    }

    /// Calls a method with string arguments; a reply of another type than `reply` is an error.
    private func call(
        _ method: String, of interface: String, at path: String, owner: String, _ arguments: [String],
        giving reply: String, _ watchdog: borrowing Watchdog
    ) throws(ServiceFailure) -> Variant? {
        var values = arguments.map { g_variant_new_string($0) }
        let tuple = g_variant_new_tuple(&values, gsize(values.count))
        let value = try watchdog.calling { cancellable, error in
            reply.withCString { reply in
                g_dbus_connection_call_sync(
                    connection, owner, path, interface, method, tuple, OpaquePointer(reply), G_DBUS_CALL_FLAGS_NONE,
                    -1, cancellable, error)
            }
        }
        return Variant(owned: value)
    }
}
