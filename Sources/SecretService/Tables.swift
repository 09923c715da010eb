internal import CGLib

/// A hash table of strings, which is released at the end of the scope.
struct HashTable: ~Copyable {
    let pointer: OpaquePointer

    /// Creates the attributes of an item for a search.
    ///
    /// - Throws: An error if one contains a NUL.
    init(attributes: [String: String]) throws(ServiceFailure) {
        try attributes.requireNoNUL()
        pointer = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
        for (name, value) in attributes { g_hash_table_insert(pointer, g_strdup(name), g_strdup(value)) }
    }

    deinit { g_hash_table_unref(pointer) }
}

/// A secret and its content type in libsecret's non-pageable memory, released at the end of the scope.
struct SecretContent: ~Copyable {
    let pointer: OpaquePointer

    init(_ bytes: [UInt8], _ contentType: String) throws(ServiceFailure) {
        let value = bytes.withUnsafeBytes { bytes in
            secret_value_new(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, contentType)
        }
        guard let value else { throw ServiceFailure(.broken, detail: "no memory for a secret") }
        pointer = value
    }

    deinit { secret_value_unref(UnsafeMutableRawPointer(pointer)) }
}

/// Converts libsecret's null-terminated lists of strings.
enum TextList {
    /// Passes a temporary copy of the strings to the body.
    static func with<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) throws(ServiceFailure) -> Result
    ) throws(ServiceFailure) -> Result {
        let copies = texts.map { g_strdup($0) }
        defer { for copy in copies { g_free(copy) } }
        var list = copies.map { UnsafePointer($0) } + [nil]
        return try body(&list)
    }

    /// Copies a list and frees it; nil becomes an empty list.
    static func take(_ list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
        guard let list else { return [] }
        defer { g_strfreev(list) }
        var texts: [String] = []
        while let text = list[texts.count] { texts.append(String(cString: text)) }
        return texts
    }
}

extension [String: String] {
    /// Refuses attributes that C would truncate.
    func requireNoNUL() throws(ServiceFailure) {
        guard !contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) }) else {
            throw ServiceFailure(.broken, detail: "an attribute holds a NUL")
        }
    }
}
