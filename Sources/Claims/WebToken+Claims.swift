package import Addresses
package import JSON

extension WebToken {
    /// Returns the claims of a token, which nothing has verified; nil if it isn't a token, or if they are encrypted.
    package static func claims(of token: String) -> JSONValue? {
        WebToken(token)?.payload.flatMap { JSONValue(bytes: $0) }
    }
}
