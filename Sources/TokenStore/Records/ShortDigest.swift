internal import Addresses
internal import Crypto
public import Secrets

extension StringProtocol {
    /// The text's SHA-256 in hexadecimal: tells texts apart without showing them.
    var digest: String { SHA256.hash(data: [UInt8](utf8)).hexadecimal }

    /// Sixteen bytes of it.
    package var shortDigest: String { SHA256.hash(data: [UInt8](utf8)).prefix(16).hexadecimal }
}

extension Secret {
    /// A digest that identifies a token without revealing it: half of its SHA-256, in hexadecimal digits.
    ///
    /// For tokens only: a short secret could be guessed from it.
    public var fingerprint: String { reveal().shortDigest }

    /// The fingerprints of everything in a password or a header that may be a token: the whole, what follows the scheme
    /// of a header, and both parts of a `Basic` credential (RFC 7617).
    public var fingerprints: Set<String> {
        let text = reveal()
        let bare = text.cut(at: " ").map { $0.1.trimmed() } ?? text[...]
        let basic = Base64URL.decode(bare).flatMap { String(validating: $0, as: UTF8.self) }?.cut(at: ":")
        return Set([text[...], bare, basic?.0, basic?.1].compactMap { $0 }.filter { !$0.isEmpty }.map(\.shortDigest))
    }
}
