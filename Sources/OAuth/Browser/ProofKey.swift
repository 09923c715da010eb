import Addresses
import Crypto
import FoundationEssentials

/// Proof Key for Code Exchange (RFC 7636) with S256, the only method used.
struct ProofKey: Sendable, Equatable {
    /// The method's name in requests.
    static let method = "S256"
    /// The code verifier: 43 unreserved characters that encode 32 random bytes.
    var verifier = RandomText.urlSafe()

    /// The code challenge, which the browser sends (RFC 7636, 4.2).
    var challenge: String {
        Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)))
    }
}

/// Unguessable text.
enum RandomText {
    /// Returns 43 URL-safe characters that encode 32 bytes from the system's random number generator.
    static func urlSafe() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
