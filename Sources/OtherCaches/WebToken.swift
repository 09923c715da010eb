import Addresses
import JSON

/// Reads JSON web tokens without checking their signatures, which suffices for the user's own caches.
enum WebToken {
    /// Returns the claims of a token; nil if it isn't valid.
    static func claims(of token: String) -> JSONValue? {
        let parts = token.pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(parts[1]).flatMap { JSONValue(bytes: $0, atMost: 1 << 16) }
    }
}
