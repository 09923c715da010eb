import Addresses
package import FoundationEssentials

/// Base64 with the URL-safe alphabet and without padding (RFC 4648, 5; RFC 7515, appendix C).
package enum Base64URL {
    /// Writes bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = Data(bytes).base64EncodedString()
        text.replace("+", with: "-")
        text.replace("/", with: "_")
        return String(text.trimmed(of: "="))
    }

    /// Whether the text has only characters of the alphabet.
    package static func isEncoded(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-")
                || HTTPSAddress.isName(String(decoding: [byte], as: UTF8.self))
                    && byte != UInt8(ascii: ".")
        }
    }

    /// Takes padding too; nil of anything else that is not base64url.
    package static func decode(_ text: String) -> Data? {
        var standard = text.replacing(bytes: "-", with: "+").replacing(bytes: "_", with: "/")
        while standard.utf8.last == UInt8(ascii: "=") { standard.removeLast() }
        standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard)
    }
}
