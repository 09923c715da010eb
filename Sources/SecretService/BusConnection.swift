internal import CGLib
internal import Glibc
internal import Keyring

/// The session bus, for the bus's own methods and for those of the provider for which libsecret has no functions, or
/// functions that wait for a prompt for ever.
///
/// libsecret only reads properties of items and collections that are proxies, each of which takes six calls.
struct BusConnection: @unchecked Sendable {
    // GDBus connections are thread-safe.
    private let connection: OpaquePointer

    /// Opens the process's connection, which is never released because GLib shares it.
    init(_ watchdog: borrowing Watchdog) throws(KeyringError) {
        do throws(KeyringError) {
            let connection = try watchdog.calling { g_bus_get_sync(G_BUS_TYPE_SESSION, $0, $1) }
            guard let connection else { throw KeyringError(.broken, detail: "no connection") }
            self.connection = connection
        } catch {
            // What GLib calls an invalid argument here is the bus's address.
            throw error.reason == .broken ? KeyringError(.noSessionBus, detail: error.detail) : error
        }
        // The loss of the bus is an ordinary error, and must not end the process.
        g_dbus_connection_set_exit_on_close(connection, 0)
    }

    /// Reads a property of an object; `owner` is a name on the bus.
    func property(
        _ property: String, of path: String, _ interface: String, owner: String, _ watchdog: borrowing Watchdog
    ) throws(KeyringError) -> Variant? {
        try call(
            "Get", of: "org.freedesktop.DBus.Properties", at: path, owner: owner,
            [.text(interface), .text(property)], giving: "(v)", watchdog
        )?.child(0)?.child(0)
    }

    /// Returns the process that provides the Secret Service.
    func provider(_ watchdog: borrowing Watchdog) throws(KeyringError) -> Int32? {
        try ask("GetConnectionUnixProcessID", about: Self.secrets, giving: "(u)", watchdog)?
            .child(0)?.smallNumber.map { Int32(bitPattern: $0) }
    }

    /// Returns the unique name of the process that owns a name; what is said to it reaches no other process.
    func owner(of name: String, _ watchdog: borrowing Watchdog) throws(KeyringError) -> String {
        try ask("GetNameOwner", about: name, giving: "(s)", watchdog)?.child(0)?.text ?? ""
    }

    /// Returns the process that provides the Secret Service if the bus says so in these milliseconds; a watchdog may
    /// ask this.
    func provider(withinMilliseconds limit: gint) -> Int32? {
        let question = NewVariant.tuple([.text(Self.secrets)])
        let reply = "(u)".withCString { type in
            g_dbus_connection_call_sync(
                connection, Self.bus, Self.path, Self.bus, "GetConnectionUnixProcessID", question, OpaquePointer(type),
                G_DBUS_CALL_FLAGS_NONE, limit, nil, nil)
        }
        return Variant(owned: reply)?.child(0)?.smallNumber.map { Int32(bitPattern: $0) }
    }

    /// Checks that a process on the bus answers in these milliseconds, which any library for D-Bus does by itself.
    func ping(_ owner: String, withinMilliseconds limit: gint) throws(KeyringError) {
        let reply = try throwing { error in
            g_dbus_connection_call_sync(
                connection, owner, "/", "org.freedesktop.DBus.Peer", "Ping", nil, nil, G_DBUS_CALL_FLAGS_NONE, limit,
                nil, error)
        }
        _ = Variant(owned: reply)
    }

    /// Calls a method; a reply of another type than `reply` is an error.
    func call(
        _ method: String, of interface: String, at path: String, owner: String, _ arguments: [NewVariant],
        giving reply: String, _ watchdog: borrowing Watchdog
    ) throws(KeyringError) -> Variant? {
        let tuple = NewVariant.tuple(arguments)
        let value = try watchdog.calling { cancellable, error in
            reply.withCString { reply in
                g_dbus_connection_call_sync(
                    connection, owner, path, interface, method, tuple, OpaquePointer(reply), G_DBUS_CALL_FLAGS_NONE,
                    .max, cancellable, error)
            }
        }
        return Variant(owned: value)
    }

    /// Receives an object's signal in the thread's own main context, until it is told to stop with the number that this
    /// returns.
    func receive(
        _ signal: String, of interface: String, at path: String, owner: String, _ data: UnsafeMutableRawPointer,
        _ callback: GDBusSignalCallback
    ) -> guint {
        g_dbus_connection_signal_subscribe(
            connection, owner, interface, signal, path, nil, G_DBUS_SIGNAL_FLAGS_NONE, callback, data, nil)
    }

    /// Ends the reception of a signal.
    func stop(_ subscription: guint) { g_dbus_connection_signal_unsubscribe(connection, subscription) }

    private static let secrets = "org.freedesktop.secrets"
    private static let bus = "org.freedesktop.DBus"
    private static let path = "/org/freedesktop/DBus"

    private func ask(
        _ method: String, about name: String, giving reply: String, _ watchdog: borrowing Watchdog
    ) throws(KeyringError) -> Variant? {
        try call(method, of: Self.bus, at: Self.path, owner: Self.bus, [.text(name)], giving: reply, watchdog)
    }
}

/// A private main context for the replies to asynchronous libsecret calls; it receives nothing else.
///
/// Only one thread may use it at a time.
final class ReplyContext: @unchecked Sendable {
    /// A future reply.
    final class Reply: @unchecked Sendable {
        /// The reply's `GAsyncResult`; nil until it arrives.
        fileprivate(set) var result: OpaquePointer?

        deinit { if let result { g_object_unref(UnsafeMutableRawPointer(result)) } }
    }

    /// A function that makes a call and passes these two arguments on to libsecret.
    typealias Call = (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void

    private let context: OpaquePointer

    init() { context = g_main_context_new() }

    deinit { g_main_context_unref(context) }

    /// Makes a call without waiting for the reply.
    func begin(_ call: Call) -> Reply {
        let reply = Reply()
        entered {
            call(
                { _, result, data in
                    guard let data, let result else { return }
                    g_object_ref(UnsafeMutableRawPointer(result))
                    Unmanaged<Reply>.fromOpaque(data).takeRetainedValue().result = result
                }, Unmanaged.passRetained(reply).toOpaque())
        }
        return reply
    }

    /// Waits for a reply, handling those that arrive before it.
    func wait(for reply: Reply) {
        // The replies to further calls of libsecret's, made because of a reply, arrive here, too.
        while reply.result == nil { entered { _ = g_main_context_iteration(context, 1) } }
    }

    /// Handles what has arrived, without waiting.
    func receive() { entered { while g_main_context_iteration(context, 0) != 0 {} } }

    /// Runs a body whose calls and subscriptions have their replies and signals sent here.
    func entered<Result>(_ body: () -> Result) -> Result {
        g_main_context_push_thread_default(context)
        defer { g_main_context_pop_thread_default(context) }
        return body()
    }
}
