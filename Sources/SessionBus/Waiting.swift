internal import CGLib
internal import Dispatch
internal import Synchronization

/// Runs blocking calls on separate threads, each with a time limit.
enum Waiting {
    private static let threads = DispatchQueue(label: "lanyard.session-bus", attributes: .concurrent)

    /// Runs a call, which fails when the time limit expires or the task is cancelled.
    static func run<Value: Sendable>(
        within limit: Duration?, _ body: @escaping @Sendable (OpaquePointer) throws(BusFailure) -> Value
    ) async throws(BusFailure) -> Value {
        let stop = Stop()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                threads.async {
                    waiting.resume(returning: Result { () throws(BusFailure) in try body(stop.cancellable) })
                }
                if let limit { stop.pull(after: limit) }
            }
        } onCancel: {
            stop.pull(.cancelled)
        }
        do throws(BusFailure) {
            return try result.get()
        } catch {
            throw error.reason == .cancelled ? BusFailure(stop.reason) : error
        }
    }
}

/// A handle that ends a call and records why.
private final class Stop: Sendable {
    // A GCancellable is thread-safe.
    nonisolated(unsafe) let cancellable: OpaquePointer = g_cancellable_new()
    private let pulled = Mutex<BusFailure.Reason?>(nil)

    deinit { g_object_unref(UnsafeMutableRawPointer(cancellable)) }

    /// The first reason for ending the call.
    var reason: BusFailure.Reason { pulled.withLock { $0 ?? .cancelled } }

    func pull(_ reason: BusFailure.Reason) {
        pulled.withLock { $0 = $0 ?? reason }
        g_cancellable_cancel(cancellable)
    }

    func pull(after limit: Duration) {
        let (seconds, fraction) = limit.components
        let time = DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(Int(fraction / 1_000_000_000))
        DispatchQueue.global().asyncAfter(deadline: time) { self.pull(.timedOut) }
    }
}
