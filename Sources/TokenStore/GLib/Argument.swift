internal import CSecret

/// An argument of a call over D-Bus.
enum Argument {
    case text(String)
    case path(String)
    case paths([String])
    case texts([String: String])
    case bytes([UInt8])
    /// A value that tells its type itself.
    indirect case variant(Argument)

    /// The arguments of a call as a tuple, which the call takes over.
    static func tuple(_ arguments: [Argument]) -> OpaquePointer? {
        var values = arguments.map(\.value)
        return g_variant_new_tuple(&values, gsize(values.count))
    }

    /// The value, which whatever holds it takes over.
    private var value: OpaquePointer? {
        switch self {
        case .text(let text): return g_variant_new_string(text)
        case .path(let path): return g_variant_new_object_path(path)
        case .paths(let paths):
            var values = paths.map { g_variant_new_object_path($0) }
            return "o".withCString { g_variant_new_array(OpaquePointer($0), &values, gsize(values.count)) }
        case .texts(let texts):
            var entries = texts.map { g_variant_new_dict_entry(g_variant_new_string($0), g_variant_new_string($1)) }
            return "{ss}".withCString { g_variant_new_array(OpaquePointer($0), &entries, gsize(entries.count)) }
        case .bytes(let bytes):
            return "y".withCString { g_variant_new_fixed_array(OpaquePointer($0), bytes, gsize(bytes.count), 1) }
        case .variant(let argument): return g_variant_new_variant(argument.value)
        }
    }
}
