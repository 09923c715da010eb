internal import Addresses
internal import Crypto
public import Secrets

extension String {
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
}
