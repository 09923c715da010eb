internal import CSecret

/// A call over D-Bus whose reply is awaited later.
final class PendingCall {
    private let bus: OpaquePointer
    private let context: OpaquePointer
    private var reply: Variant?
    private var failure: ProviderFailure?
    private var isOver = false

    /// Sends a call.
    ///
    /// - Parameters:
    ///   - call: what is called.
    ///   - bus: the connection, which has to outlive the call.
    ///   - patience: how long the reply may take.
    init(_ call: Call, on bus: OpaquePointer, _ patience: Patience) {
        self.bus = bus
        context = g_main_context_new()
        // The reply comes to the context that was its sender's; one that is nobody else's takes nobody's replies.
        g_main_context_push_thread_default(context)
        call.reply.withCString { reply in
            g_dbus_connection_call(
                bus, call.destination, call.path, call.interface, call.method, Argument.tuple(call.arguments),
                OpaquePointer(reply), G_DBUS_CALL_FLAGS_NONE, patience.milliseconds, patience.cancellable,
                { _, result, data in
                    guard let data else { return }
                    Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue().finish(result)
                }, Unmanaged.passRetained(self).toOpaque())
        }
        g_main_context_pop_thread_default(context)
    }

    deinit { g_main_context_unref(context) }

    /// Waits for the reply; to be called once, and by whoever is the only one to have the call.
    func wait() throws(ProviderFailure) -> Variant? {
        while !isOver { g_main_context_iteration(context, 1) }
        if let failure { throw failure }
        return reply.take()
    }

    private func finish(_ result: OpaquePointer?) {
        isOver = true
        do throws(ProviderFailure) {
            reply = Variant(owned: try calling { g_dbus_connection_call_finish(bus, result, $0) })
        } catch {
            failure = error.isWrongType ? .found(StoreError(.broken, detail: error.storeError.detail)) : error
        }
    }
}

/// A call of a method, of an object of a process on the bus.
struct Call {
    let destination: String
    let path: String
    let interface: String
    let method: String
    let arguments: [Argument]
    /// The D-Bus type of a right reply, a tuple; GLib turns another one into an error.
    let reply: String
}

/// How long a reply is waited for.
enum Patience {
    /// So many seconds.
    case seconds(Double)
    /// Until what is waited for is cancelled.
    case until(cancelled: OpaquePointer)

    fileprivate var milliseconds: Int32 {
        if case .seconds(let seconds) = self { Int32(seconds * 1000) } else { Int32.max }
    }

    fileprivate var cancellable: OpaquePointer? {
        if case .until(let cancellable) = self { cancellable } else { nil }
    }
}
