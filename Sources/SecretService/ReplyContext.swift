internal import CGLib

/// Where the replies to calls of libsecret's that don't block arrive: at nobody else's context, so it takes nobody else's replies.
///
/// Only one thread may use it at a time.
final class ReplyContext: @unchecked Sendable {
    /// A reply to come.
    final class Reply: @unchecked Sendable {
        /// The `GAsyncResult`, which is the reply's; nil until it is there.
        fileprivate(set) var result: OpaquePointer?

        deinit { if let result { g_object_unref(UnsafeMutableRawPointer(result)) } }
    }

    /// Makes a call, which is to hand these two on to libsecret.
    typealias Call = (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void

    private let context: OpaquePointer

    init() { context = g_main_context_new() }

    deinit { g_main_context_unref(context) }

    /// Makes a call whose reply is waited for later.
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

    /// Waits for a reply, and takes those that come before it.
    func wait(for reply: Reply) {
        // What libsecret asks for next, because of a reply, has its reply arrive here, too.
        while reply.result == nil { entered { _ = g_main_context_iteration(context, 1) } }
    }

    private func entered(_ body: () -> Void) {
        g_main_context_push_thread_default(context)
        body()
        g_main_context_pop_thread_default(context)
    }
}
