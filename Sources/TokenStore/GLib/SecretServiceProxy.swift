internal import CSecret
internal import Synchronization

/// The Secret Service as this process calls it, over one connection and with one key for secrets.
final class SecretServiceProxy: Sendable {
    private static let current = Mutex<SecretServiceProxy?>(nil)

    /// The service; GDBus's proxies may be called from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer

    private init(owned pointer: OpaquePointer) { self.pointer = pointer }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// The process's, connected to where it isn't yet.
    static func shared(_ watchdog: borrowing Watchdog) throws(ProviderFailure) -> SecretServiceProxy {
        if let proxy = current.withLock(\.self) { return proxy }
        guard let pointer = try calling({ lanyard_secret_service_new(watchdog.cancellable, $0) }) else {
            throw .found(StoreError(.broken, detail: "no service"))
        }
        let proxy = SecretServiceProxy(owned: pointer)
        current.withLock { $0 = proxy }
        return proxy
    }

    /// Has the next operation connect anew, as it must where another process provides the service now.
    static func forget() { current.withLock { $0 = nil } }
}
