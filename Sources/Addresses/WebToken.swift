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
