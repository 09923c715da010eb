internal import CGLib

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
