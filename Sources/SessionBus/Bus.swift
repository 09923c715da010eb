internal import Addresses
internal import CGLib
internal import Dispatch
internal import Synchronization

/// A connection to the user's session bus, for calls with text arguments and one text as the reply.
///
/// The calls use GDBus, which is loaded with the first connection. They may run concurrently.
package final class Bus: Sendable {
    /// The size limit of a reply, in bytes.
    package static let longestReply = 1 << 20
    /// The size limit of an error text, in bytes.
    static let longestError = 4096

    // GDBus connections are thread-safe.
    private nonisolated(unsafe) let connection: OpaquePointer

    /// Connects to the bus at an address in the format of `DBUS_SESSION_BUS_ADDRESS`.
    ///
    /// Only sockets of this machine are accepted: a token must not be sent over a network, and no bus is started for
    /// it.
    package init(at address: String, within limit: Duration) async throws(BusError) {
        let sockets = Self.sockets(in: address)
        guard !sockets.isEmpty else { throw BusError(.noBus, detail: "its address names no socket of this machine") }
        try Self.openLibrary()
        let found = try await Self.run(within: limit) { cancellable throws(BusError) in
            try failing(as: .noBus) { error in
                g_dbus_connection_new_for_address_sync(
                    sockets,
                    GDBusConnectionFlags(
                        rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue), nil, cancellable, error
                ).map(Held.init)
            }
        }
        connection = found.pointer
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(connection)) }

    /// Returns the addresses in a list that are sockets of this machine.
    static func sockets(in address: String) -> String {
        address.pieces(between: ";").filter { $0.hasPrefix("unix:path=") || $0.hasPrefix("unix:abstract=") }
            .joined(separator: ";")
    }

    /// Calls a method with text arguments that returns one text; starts the service if the bus can.
    ///
    /// The call is sent immediately. Cancelling the task ends the wait, but doesn't stop the service.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - arguments: Its arguments, without NUL.
    ///   - limit: The time limit for the reply; nil for none.
    /// - Returns: The reply's text.
    /// - Throws: the service's error, or the reason why there is no reply.
    package func call(
        _ method: BusMethod, _ arguments: [String], within limit: Duration?
    ) async throws(BusError) -> String {
        guard !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw BusError(.broken, detail: "an argument holds a NUL")
        }
        let connection = Held(pointer: connection)
        return try await Self.run(within: limit) { cancellable throws(BusError) in
            let reply = try failing(as: .broken) { error in
                var values = arguments.map { g_variant_new_string($0) }
                let tuple = g_variant_new_tuple(&values, gsize(values.count))
                return "(s)".withCString { type in
                    g_dbus_connection_call_sync(
                        connection.pointer, method.service, method.path, method.interface, method.name, tuple,
                        OpaquePointer(type), G_DBUS_CALL_FLAGS_NONE, .max, cancellable, error)
                }
            }
            defer { g_variant_unref(reply) }
            return try Self.text(of: reply)
        }
    }

    /// Returns the only text in a reply, unless it is too long.
    private static func text(of reply: OpaquePointer) throws(BusError) -> String {
        let value = g_variant_get_child_value(reply, 0)
        defer { g_variant_unref(value) }
        var length: gsize = 0
        guard let start = g_variant_get_string(value, &length) else { return "" }
        guard length <= longestReply else {
            throw BusError(.broken, detail: "the reply is longer than \(longestReply) bytes")
        }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }
}

/// A method of a service on the bus.
package struct BusMethod: Sendable {
    /// The service's bus name.
    package let service: String
    /// The object's path.
    package let path: String
    /// The method's interface.
    package let interface: String
    /// The method.
    package let name: String

    /// Creates a method.
    package init(service: String, path: String, interface: String, name: String) {
        self.service = service
        self.path = path
        self.interface = interface
        self.name = name
    }
}

/// A pointer that may be passed between threads.
struct Held: @unchecked Sendable {
    let pointer: OpaquePointer
}

extension Bus {
    // Otherwise GLib would write errors to stderr that it also returns.
    private static let silence: Void = g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)

    /// Loads GIO unless it is loaded already.
    private static func openLibrary() throws(BusError) {
        if let problem = lanyard_bus_open() { throw BusError(.noLibrary, detail: String(cString: problem)) }
        _ = silence
    }
}

// Blocking calls on separate threads, each with a time limit.
extension Bus {
    private static let threads = DispatchQueue(label: "lanyard.session-bus", attributes: .concurrent)

    /// Runs a call, which fails when the time limit expires or the task is cancelled.
    private static func run<Value: Sendable>(
        within limit: Duration?, _ body: @escaping @Sendable (OpaquePointer) throws(BusError) -> Value
    ) async throws(BusError) -> Value {
        let stop = Stop()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                threads.async {
                    waiting.resume(returning: Result { () throws(BusError) in try body(stop.cancellable) })
                }
                if let limit { stop.pull(after: limit) }
            }
        } onCancel: {
            stop.pull(.cancelled)
        }
        do throws(BusError) {
            return try result.get()
        } catch {
            throw error.reason == .cancelled ? BusError(stop.reason) : error
        }
    }
}

/// A handle that ends a call and records why.
private final class Stop: Sendable {
    // A GCancellable is thread-safe.
    nonisolated(unsafe) let cancellable: OpaquePointer = g_cancellable_new()
    private let pulled = Mutex<BusError.Reason?>(nil)

    deinit { g_object_unref(UnsafeMutableRawPointer(cancellable)) }

    /// The first reason for ending the call.
    var reason: BusError.Reason { pulled.withLock { $0 ?? .cancelled } }

    func pull(_ reason: BusError.Reason) {
        pulled.withLock { $0 = $0 ?? reason }
        g_cancellable_cancel(cancellable)
    }

    func pull(after limit: Duration) {
        let (seconds, fraction) = limit.components
        let time = DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(Int(fraction / 1_000_000_000))
        DispatchQueue.global().asyncAfter(deadline: time) { self.pull(.timedOut) }
    }
}
