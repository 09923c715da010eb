import Addresses
import FoundationEssentials
import JSON

/// JSON web tokens as far as one's own cache may be believed: nothing here checks a signature.
enum WebToken {
    /// The claims of a token; nil if it is none.
    static func claims(of token: String) -> JSONValue? {
        let parts = token.pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3 else { return nil }
        var base64 = parts[1].replacing(bytes: "-", with: "+").replacing(bytes: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: base64).flatMap { JSONValue(bytes: $0, atMost: 1 << 16) }
    }
}
