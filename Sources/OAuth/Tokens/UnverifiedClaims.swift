import Addresses
import FoundationEssentials
package import Secrets

extension Secret {
    /// The claims of a JSON web token, whoever may have made it; nil if it is none, or they aren't of its types.
    package func unverifiedClaims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        let parts = reveal().pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(payload))
    }
}
