import Addresses
import JSON

/// JSON web tokens as far as one's own cache may be believed: nothing here checks a signature.
enum WebToken {
    /// The claims of a token; nil if it is none.
    static func claims(of token: String) -> JSONValue? {
        let parts = token.pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(parts[1]).flatMap { JSONValue(bytes: $0, atMost: 1 << 16) }
    }
}
