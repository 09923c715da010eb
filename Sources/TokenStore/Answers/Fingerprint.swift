public import Secrets

extension Secret {
    /// What tells a token from others without giving it away: half of its SHA-256, in hexadecimal digits.
    ///
    /// For tokens only: a short secret could be guessed from it.
    public var fingerprint: String { reveal().shortDigest }
}
