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

/// Base64 with the URL-safe alphabet and without padding (RFC 4648, 5; RFC 7515, appendix C).
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = Data(bytes).base64EncodedString()
        text.replace("+", with: "-")
        text.replace("/", with: "_")
        return String(text.trimmed(of: "="))
    }

    /// Whether the text has only characters of the alphabet.
    static func isEncoded(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-")
                || WebAddress.isName(String(decoding: [byte], as: UTF8.self))
                    && byte != UInt8(ascii: ".")
        }
    }

    /// Takes padding too; nil of anything else that is not base64url.
    static func decode(_ text: String) -> Data? {
        var standard = text.replacing(bytes: "-", with: "+").replacing(bytes: "_", with: "/")
        while standard.utf8.last == UInt8(ascii: "=") { standard.removeLast() }
        standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard)
    }
}
