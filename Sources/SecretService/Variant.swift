internal import CGLib

/// A D-Bus value, which is released at the end of the scope.
struct Variant: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes ownership of a reference; nil stays nil.
    init?(owned pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { g_variant_unref(pointer) }

    /// Returns the value at an index; nil after the last.
    func child(_ index: Int) -> Variant? {
        index < count ? Variant(owned: g_variant_get_child_value(pointer, gsize(index))) : nil
    }

    /// The string; nil for another type.
    var text: String? { type == "s" ? g_variant_get_string(pointer, nil).map { String(cString: $0) } : nil }

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

    private var count: Int {
        "a({v".contains(type.first ?? " ") ? Int(g_variant_n_children(pointer)) : 0
    }

    private var type: String {
        g_variant_get_type_string(pointer).map { String(cString: $0) } ?? ""
    }
}
