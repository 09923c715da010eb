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

extension Sequence<UInt8> {
    /// The bytes as two lower-case digits each.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        // An array, because Swift would look up at run time how to read a generic sequence, which takes long.
        return String(decoding: Array(self).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Whether this has the form of a UUID (RFC 9562, 4), in either case.
    package var isUUID: Bool {
        let groups = pieces(between: "-", omittingEmpty: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy(\.isHexadecimal) }
    }

    /// What equal IDs of clients have in common: Entra's, which are UUIDs, have no case, and all others do.
    public var clientKey: String { isUUID ? lowercased() : String(self) }
}

/// A JSON Web Token, cut into its parts and decoded (RFC 7519, 3); nothing is verified.
package struct WebToken: Sendable {
    /// The greatest length of a part, in bytes.
    private static let longestPart = 1 << 20

    /// The header's bytes; empty if it can't be decoded.
    package let header: [UInt8]
    /// The claims' bytes; nil if they are encrypted (RFC 7516).
    package let payload: [UInt8]?

    /// Cuts a token; nil if it has neither a signed token's three parts nor an encrypted token's five, if one is too long,
    /// or if the claims aren't base64.
    package init?(_ text: some StringProtocol) {
        let parts = text.pieces(between: ".", maxSplits: 5, omittingEmpty: false)
        guard [3, 5].contains(parts.count), parts.allSatisfy({ $0.utf8.count <= Self.longestPart }) else { return nil }
        header = Base64URL.decode(parts[0]) ?? []
        guard parts.count == 3 else {
            payload = nil
            return
        }
        guard let payload = Base64URL.decode(parts[1]) else { return nil }
        self.payload = payload
    }
}
