internal import CSecret

/// One reference to a GObject, given back at the end of the scope.
struct GRef: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over a reference that the callee counted for us; nil stays nil.
    init?(owned pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// A table of attributes for libsecret, given back at the end of the scope.
struct AttributeTable: ~Copyable {
    let pointer: OpaquePointer

    /// Copies attributes.
    ///
    /// - Throws: where one holds a NUL.
    init(_ attributes: [String: String]) throws(ProviderFailure) {
        try attributes.requireNoNUL()
        pointer = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
        for (name, value) in attributes { g_hash_table_insert(pointer, g_strdup(name), g_strdup(value)) }
    }

    deinit { g_hash_table_unref(pointer) }
}

/// A secret and its content type in libsecret's non-pageable memory, given back at the end of the scope.
struct SecretContent: ~Copyable {
    let pointer: OpaquePointer

    /// Copies the bytes.
    init(_ bytes: [UInt8], contentType: String) throws(ProviderFailure) {
        try SecretLibrary.openForChanges()
        let value = bytes.withUnsafeBytes { bytes in
            secret_value_new(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, contentType)
        }
        guard let value else { throw .found(StoreError(.broken, detail: "no memory for a secret")) }
        pointer = value
    }

    deinit { secret_value_unref(UnsafeMutableRawPointer(pointer)) }
}

/// What libsecret takes as a list of texts that ends with a null.
enum TextList {
    /// Lends a copy of the texts.
    static func with<Result: ~Copyable>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) throws(ProviderFailure) -> Result
    ) throws(ProviderFailure) -> Result {
        let copies = texts.map { g_strdup($0) }
        defer { for copy in copies { g_free(copy) } }
        let list = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: copies.count + 1)
        defer { list.deallocate() }
        for (index, copy) in copies.enumerated() { (list + index).initialize(to: UnsafePointer(copy)) }
        (list + copies.count).initialize(to: nil)
        return try body(list)
    }
}

extension [String: String] {
    /// Refuses attributes that C would cut short.
    func requireNoNUL() throws(ProviderFailure) {
        guard !contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) }) else {
            throw .found(StoreError(.broken, detail: "an attribute holds a NUL"))
        }
    }
}
