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
        guard let digits = unpadded(text) else { return nil }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: Data(digits + padding)).map { Array($0) }
    }

    /// Whether the text has only characters of the alphabet, followed by padding at most.
    package static func isEncoded(_ text: some StringProtocol) -> Bool {
        let word = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return text.utf8.count - word.count <= 2 && word.allSatisfy { $0.isUnreserved && !".~".utf8.contains($0) }
    }

    /// The digits in the usual alphabet, without padding.
    private static func unpadded(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(text.replacing(bytes: "-", with: "+").replacing(bytes: "_", with: "/").utf8)
        let length = digits.count
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        // Foundation ignores what follows padding.
        return length - digits.count > 2 || digits.contains(UInt8(ascii: "=")) ? nil : digits
    }
}
