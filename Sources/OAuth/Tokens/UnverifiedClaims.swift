import Addresses
import FoundationEssentials
package import Secrets

extension Secret {
    /// Decodes the unverified claims of a JSON web token; nil if it isn't one, or the types don't match.
    package func unverifiedClaims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        WebToken(reveal())?.payload.flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }
}
