import Addresses
import FoundationEssentials
package import Secrets

extension Secret {
    /// Decodes the unverified claims of a JSON web token; nil if it isn't one, or the types don't match.
    package func unverifiedClaims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        let parts = reveal().pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(payload))
    }
}
