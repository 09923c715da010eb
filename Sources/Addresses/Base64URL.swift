import FoundationEssentials

/// Base64 with the URL-safe alphabet and without padding (RFC 4648, 5; RFC 7515, appendix C).
package enum Base64URL {
    /// Encodes bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
    }

    /// Decodes a text; nil if it isn't base64.
    ///
    /// The other alphabet (RFC 4648, 4) and padding are accepted, too, because both occur in headers and tokens.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        // Foundation ignores what follows padding.
        guard let digits = unpadded(text), !digits.hasBytes("=") else { return nil }
        let usual = digits.replacing(bytes: "-", with: "+").replacing(bytes: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
        return Data(base64Encoded: usual + padding).map { Array($0) }
    }

    /// Whether the text has only characters of the alphabet, followed by padding at most.
    package static func isEncoded(_ text: some StringProtocol) -> Bool {
        unpadded(text)?.utf8.allSatisfy(\.isLabelByte) ?? false
    }

    /// The text without its padding; nil if it ends in more than that.
    private static func unpadded(_ text: some StringProtocol) -> Substring? {
        let digits = Substring(text).utf8.reversed().drop { $0 == UInt8(ascii: "=") }.count
        return text.utf8.count - digits <= 2 ? Substring(Substring(text).utf8.prefix(digits)) : nil
    }
}
