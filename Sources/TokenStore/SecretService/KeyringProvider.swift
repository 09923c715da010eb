internal import CSecret

/// The process that provides the Secret Service.
public struct KeyringProvider: Sendable, Equatable {
    /// Its process identifier.
    public let processID: Int32

    /// Asks the bus for it, without starting one; nil where none runs.
    ///
    /// A provider that hangs is found too: the bus answers, and not the provider.
    ///
    /// - Parameter deadline: how many seconds the bus has.
    /// - Returns: the provider.
    /// - Throws: `StoreError` where the bus can't be asked.
    public static func running(deadline: Double = 2) throws(StoreError) -> KeyringProvider? {
        do throws(ProviderFailure) {
            try SessionEnvironment.process.check()
            try SecretLibrary.open()
            try SecretLibrary.openForChanges()
            let watchdog = Watchdog(seconds: deadline)
            guard let bus = try calling({ g_bus_get_sync(G_BUS_TYPE_SESSION, watchdog.cancellable, $0) }) else {
                return nil
            }
            defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
            var name = g_variant_new_string("org.freedesktop.secrets")
            let reply = try calling { slot in
                g_dbus_connection_call_sync(
                    bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                    "GetConnectionUnixProcessID", g_variant_new_tuple(&name, 1), nil, G_DBUS_CALL_FLAGS_NONE, -1,
                    watchdog.cancellable, slot)
            }
            guard let number = Variant(owned: reply)?.child(0)?.smallNumber else { return nil }
            return KeyringProvider(processID: Int32(bitPattern: number))
        } catch {
            guard error.storeError.reason != .noProvider else { return nil }
            throw error.storeError
        }
    }
}
