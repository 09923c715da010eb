internal import CGLib

/// A value of D-Bus, given back at the end of the scope.
struct Variant: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes over a reference; nil stays nil.
    init?(owned pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { g_variant_unref(pointer) }

    /// The value at an index; nil beyond the last.
    func child(_ index: Int) -> Variant? {
        index < count ? Variant(owned: g_variant_get_child_value(pointer, gsize(index))) : nil
    }

    /// The text; nil if it is none.
    var text: String? { type == "s" ? g_variant_get_string(pointer, nil).map { String(cString: $0) } : nil }

    /// The truth value; nil if it is none.
    var bool: Bool? { type == "b" ? g_variant_get_boolean(pointer) != 0 : nil }

    /// The number of 32 bits; nil if it is none.
    var smallNumber: UInt32? { type == "u" ? g_variant_get_uint32(pointer) : nil }

    /// The number of 64 bits; nil if it is none.
    var number: UInt64? { type == "t" ? g_variant_get_uint64(pointer) : nil }

    /// The texts of a dictionary of texts; empty if it is none.
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
