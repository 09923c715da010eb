public import Secrets

extension Secret {
    /// A digest that identifies a token without revealing it: half of its SHA-256, in hexadecimal digits.
    ///
    /// For tokens only: a short secret could be guessed from it.
    public var fingerprint: String { reveal().shortDigest }
}
