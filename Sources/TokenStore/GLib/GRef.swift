internal import CSecret

/// One reference to a GObject, given back at the end of the scope.
struct GRef<Object>: ~Copyable {
    let pointer: UnsafeMutablePointer<Object>

    /// Takes over a reference that the callee counted for us; nil stays nil.
    init?(owned pointer: UnsafeMutablePointer<Object>?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { g_object_unref(pointer) }
}

/// A table of attributes for libsecret, given back at the end of the scope.
struct AttributeTable: ~Copyable {
    let pointer: OpaquePointer

    /// Copies attributes; nil where one holds a NUL, at which C would cut it short.
    init?(_ attributes: [String: String]) {
        guard !attributes.contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) }),
            let table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
        else { return nil }
        for (name, value) in attributes { g_hash_table_insert(table, g_strdup(name), g_strdup(value)) }
        pointer = table
    }

    deinit { g_hash_table_unref(pointer) }

    /// Copies what libsecret handed out, and gives its table back.
    static func contents(ofOwned table: OpaquePointer?) -> [String: String] {
        guard let table else { return [:] }
        defer { g_hash_table_unref(table) }
        var contents: [String: String] = [:]
        var iterator = GHashTableIter()
        g_hash_table_iter_init(&iterator, table)
        var name: gpointer?
        var value: gpointer?
        while g_hash_table_iter_next(&iterator, &name, &value) != 0 {
            guard let name, let value else { continue }
            contents[String(cString: name.assumingMemoryBound(to: CChar.self))] =
                String(cString: value.assumingMemoryBound(to: CChar.self))
        }
        return contents
    }
}

/// A secret and its content type in libsecret's non-pageable memory, given back at the end of the scope.
struct SecretContent: ~Copyable {
    let pointer: OpaquePointer

    /// Copies the bytes; nil where there is no memory for them.
    init?(_ bytes: [UInt8], contentType: String) {
        let value = bytes.withUnsafeBytes { bytes in
            secret_value_new(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, contentType)
        }
        guard let value else { return nil }
        pointer = value
    }

    deinit { secret_value_unref(UnsafeMutableRawPointer(pointer)) }
}
