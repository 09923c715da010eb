internal import CLinux
internal import Crypto
internal import Glibc

/// The key that encrypts answers: 32 random bytes in the user's kernel keyring.
///
/// It is in `@u` rather than in a session's keyring, because all of the user's processes need the same one: a sign-out
/// in one terminal also invalidates the answers given in another. The persistent keyring would work, too, but not every
/// kernel has it.
public struct AnswerEncryptionKey: Sendable {
    let symmetric: SymmetricKey

    /// The key's length in bytes.
    private static let length = 32
    /// Seconds after which the kernel drops a key that wasn't replaced; longer than access tokens are valid.
    private static let lifetime: UInt32 = 100_000

    /// Returns a new key, which no other process has.
    static func random() -> AnswerEncryptionKey { AnswerEncryptionKey(symmetric: SymmetricKey(size: .bits256)) }

    /// Reads the key with this description; nil if there is none, or no kernel keyring.
    static func read(_ description: String) -> AnswerEncryptionKey? {
        let serial = lanyard_key_find(description)
        guard serial >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        defer { explicit_bzero(&bytes, length) }
        guard lanyard_key_read(serial, &bytes, length) == length else { return nil }
        return AnswerEncryptionKey(symmetric: SymmetricKey(data: bytes))
    }

    /// Stores a new key in place of the current one; nil if that fails, and then there is no key.
    static func replace(_ description: String) -> AnswerEncryptionKey? {
        let fresh = random()
        let serial = fresh.symmetric.withUnsafeBytes { bytes in
            lanyard_key_put(description, bytes.baseAddress, bytes.count, lifetime)
        }
        guard serial < 0 else { return fresh }
        revoke(description)
        return nil
    }

    /// Revokes the key with this description for all processes.
    static func revoke(_ description: String) {
        let old = lanyard_key_find(description)
        if old >= 0 { _ = lanyard_key_revoke(old) }
    }
}
