internal import CSecret

/// One item that a search found; it belongs to the session that found it and to its thread.
final class KeyringItem {
    let pointer: UnsafeMutablePointer<SecretItem>
    /// The item's attributes, `xdg:schema` among them; empty where its keyring was never unlocked.
    let attributes: [String: String]

    /// Takes over a reference.
    init(owned pointer: UnsafeMutablePointer<SecretItem>) {
        self.pointer = pointer
        attributes = AttributeTable.contents(ofOwned: secret_item_get_attributes(pointer))
    }

    deinit { g_object_unref(pointer) }

    var isLocked: Bool { secret_item_get_locked(pointer) != 0 }

    /// The schema it was stored under; nil where the provider does not tell.
    var schema: String? { attributes["xdg:schema"] }

    /// When it was last changed, in seconds since 1970.
    var modified: UInt64 { UInt64(secret_item_get_modified(pointer)) }

    /// The D-Bus path of the item, which its collection's is a prefix of.
    var path: String {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GDBusProxy.self).objectPath
    }

    /// The secret that the search loaded; nil where it could not.
    var secret: [UInt8]? {
        guard let value = secret_item_get_secret(pointer) else { return nil }
        defer { secret_value_unref(UnsafeMutableRawPointer(value)) }
        var length: gsize = 0
        guard let bytes = secret_value_get(value, &length) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(length)))
    }
}

extension UnsafeMutablePointer<GDBusProxy> {
    /// The D-Bus path of the object behind a proxy.
    var objectPath: String {
        g_dbus_proxy_get_object_path(self).map { String(cString: $0) } ?? ""
    }
}
