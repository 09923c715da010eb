internal import CSecret

/// A call whose reply is awaited later.
final class PendingCall {
    private let connection: OpaquePointer
    private let context: OpaquePointer
    private var reply: Result<OpaquePointer?, ProviderFailure>?

    /// Sends a call.
    ///
    /// - Parameters:
    ///   - call: what is called.
    ///   - arguments: a tuple, which is taken over.
    ///   - connection: the connection, which has to outlive the call.
    ///   - seconds: how long the reply may take.
    init(_ call: ProviderCall, _ arguments: OpaquePointer?, on connection: OpaquePointer, seconds: Double) {
        self.connection = connection
        context = g_main_context_new()
        // A reply goes to the context of the thread that sends; its own keeps it apart from everybody else's.
        g_main_context_push_thread_default(context)
        g_dbus_connection_call(
            connection, call.destination, call.path, call.interface, call.method, arguments, nil,
            G_DBUS_CALL_FLAGS_NONE, Int32(seconds * 1000), nil,
            { _, result, data in
                guard let data else { return }
                Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue().finish(result)
            }, Unmanaged.passRetained(self).toOpaque())
        g_main_context_pop_thread_default(context)
    }

    deinit { g_main_context_unref(context) }

    /// Waits for the reply; to be called once.
    func wait() throws(ProviderFailure) -> Variant? {
        while reply == nil { g_main_context_iteration(context, 1) }
        return Variant(owned: try reply?.get())
    }

    private func finish(_ result: OpaquePointer?) {
        reply = Result { () throws(ProviderFailure) in
            try calling { g_dbus_connection_call_finish(connection, result, $0) }
        }
    }
}

/// A method of an object of a process on the bus.
struct ProviderCall {
    let destination: String
    let path: String
    let interface: String
    let method: String
}
