internal import CGLib
internal import Keyring

/// A D-Bus value, which is released at the end of the scope.
struct Variant: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes ownership of a reference; nil stays nil.
    init?(owned pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    /// Keeps a value that belongs to somebody else.
    init(of pointer: OpaquePointer) { self.pointer = g_variant_ref(pointer) }

    deinit { g_variant_unref(pointer) }

    /// Returns the value at an index; nil after the last.
    func child(_ index: Int) -> Variant? {
        index < count ? Variant(owned: g_variant_get_child_value(pointer, gsize(index))) : nil
    }

    /// The string; nil for another type.
    var text: String? { type == "s" ? g_variant_get_string(pointer, nil).map { String(cString: $0) } : nil }

    /// The object's path; nil for another type, and for `/`, which stands for none.
    var path: String? {
        let text = type == "o" ? g_variant_get_string(pointer, nil).map { String(cString: $0) } : nil
        return text == "/" ? nil : text
    }

    /// The boolean; nil for another type.
    var bool: Bool? { type == "b" ? g_variant_get_boolean(pointer) != 0 : nil }

    /// The 32-bit number; nil for another type.
    var smallNumber: UInt32? { type == "u" ? g_variant_get_uint32(pointer) : nil }

    /// The 64-bit number; nil for another type.
    var number: UInt64? { type == "t" ? g_variant_get_uint64(pointer) : nil }

    /// The strings of a dictionary of strings; empty for another type.
    var texts: [String: String] {
        guard type == "a{ss}" else { return [:] }
        var texts: [String: String] = [:]
        for index in 0..<count {
            guard let entry = child(index), let key = entry.child(0)?.text else { continue }
            texts[key] = entry.child(1)?.text
        }
        return texts
    }

    /// The number of values in a container; 0 for another type.
    var count: Int {
        "a({v".contains(type.first ?? " ") ? Int(g_variant_n_children(pointer)) : 0
    }

    private var type: String {
        g_variant_get_type_string(pointer).map { String(cString: $0) } ?? ""
    }
}

/// A D-Bus value to send; GLib owns it once it is part of a tuple.
struct NewVariant {
    fileprivate let pointer: OpaquePointer?

    /// Takes what libsecret made.
    init(made pointer: OpaquePointer?) { self.pointer = pointer }

    static func text(_ text: String) -> NewVariant { NewVariant(made: g_variant_new_string(text)) }

    static func flag(_ flag: Bool) -> NewVariant { NewVariant(made: g_variant_new_boolean(flag ? 1 : 0)) }

    static func paths(_ paths: [String]) -> NewVariant {
        array(of: "o", paths.map { g_variant_new_object_path($0) })
    }

    /// The properties of a new object, by their D-Bus names; only items have attributes.
    ///
    /// - Throws: An error if a text has a NUL, at which C would end it.
    static func properties(
        of interface: String, label: String, attributes: [String: String]? = nil
    ) throws(KeyringError) -> NewVariant {
        try attributes?.requireNoNUL()
        var properties = [entry(interface + ".Label", g_variant_new_variant(g_variant_new_string(label)))]
        if let attributes {
            let value = array(of: "{ss}", attributes.map { entry($0, g_variant_new_string($1)) })
            properties.append(entry(interface + ".Attributes", g_variant_new_variant(value.pointer)))
        }
        return array(of: "{sv}", properties)
    }

    /// The arguments of a call.
    static func tuple(_ values: [NewVariant]) -> OpaquePointer? {
        var pointers = values.map(\.pointer)
        return g_variant_new_tuple(&pointers, gsize(pointers.count))
    }

    private static func entry(_ key: String, _ value: OpaquePointer?) -> OpaquePointer? {
        g_variant_new_dict_entry(g_variant_new_string(key), value)
    }

    private static func array(of type: String, _ values: [OpaquePointer?]) -> NewVariant {
        var values = values
        return type.withCString { type in
            NewVariant(made: g_variant_new_array(OpaquePointer(type), &values, gsize(values.count)))
        }
    }
}

/// A hash table of strings, which is released at the end of the scope.
struct HashTable: ~Copyable {
    let pointer: OpaquePointer

    /// Creates the attributes of an item for a search.
    ///
    /// - Throws: An error if one contains a NUL.
    init(attributes: [String: String]) throws(KeyringError) {
        try attributes.requireNoNUL()
        pointer = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
        for (name, value) in attributes { g_hash_table_insert(pointer, g_strdup(name), g_strdup(value)) }
    }

    deinit { g_hash_table_unref(pointer) }
}

/// A secret and its content type in libsecret's non-pageable memory, released at the end of the scope.
struct SecretContent: ~Copyable {
    let pointer: OpaquePointer

    init(_ bytes: [UInt8], _ contentType: String) throws(KeyringError) {
        let value = bytes.withUnsafeBytes { bytes in
            secret_value_new(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, contentType)
        }
        guard let value else { throw KeyringError(.broken, detail: "no memory for a secret") }
        pointer = value
    }

    deinit { secret_value_unref(UnsafeMutableRawPointer(pointer)) }
}

// libsecret's null-terminated lists of strings.
extension [String] {
    /// Passes a temporary copy of the strings to the body.
    func withCList<Result>(
        _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        let copies = map { g_strdup($0) }
        defer { for copy in copies { g_free(copy) } }
        var list = copies.map { UnsafePointer($0) } + [nil]
        return try body(&list)
    }

    /// Copies a list and frees it; nil becomes an empty list.
    init(consuming list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        self.init()
        guard let list else { return }
        defer { g_strfreev(list) }
        while let text = list[count] { append(String(cString: text)) }
    }
}

extension [String: String] {
    /// Refuses attributes that C would truncate.
    func requireNoNUL() throws(KeyringError) {
        guard !contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) }) else {
            throw KeyringError(.broken, detail: "an attribute holds a NUL")
        }
    }
}
