import Addresses
import Crypto
import FoundationEssentials

/// Proof Key for Code Exchange (RFC 7636) with S256, the only method used.
package struct ProofKey: Sendable, Equatable {
    /// The method's name on the wire.
    package static let method = "S256"
    /// The secret half: 43 unreserved characters of 32 random bytes.
    package let verifier: String

    /// Makes a key of fresh random bytes.
    package init() {
        verifier = RandomText.urlSafe()
    }

    /// Makes a key of a verifier that exists.
    package init(verifier: String) {
        self.verifier = verifier
    }

    /// The half that goes through the browser (RFC 7636, 4.2).
    package var challenge: String {
        Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)))
    }
}

/// Text that nobody can guess.
enum RandomText {
    /// 43 URL-safe characters of 32 bytes from the system's generator.
    static func urlSafe() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
