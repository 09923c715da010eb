internal import CLinux
internal import Crypto
internal import Glibc

/// The key that seals answers: 32 random bytes in the user's kernel keyring.
///
/// It is in `@u` and not in a session's keyring, because every process of the user must come to the same one: a sign-out
/// in one terminal takes away what another was told. The persistent keyring would do too, but not every kernel has it.
public struct AnswerEncryptionKey: Sendable {
    let symmetric: SymmetricKey

    /// The number of its bytes.
    private static let length = 32
    /// Seconds after which the kernel drops a key that nobody replaced: longer than access tokens live.
    private static let lifetime: UInt32 = 100_000

    private init(_ symmetric: SymmetricKey) {
        self.symmetric = symmetric
    }

    /// A key that nobody has.
    static func random() -> AnswerEncryptionKey { AnswerEncryptionKey(SymmetricKey(size: .bits256)) }

    /// Reads the key of that description; nil if there is none or no kernel keyring.
    static func read(_ description: String) -> AnswerEncryptionKey? {
        let serial = lanyard_key_find(description)
        guard serial >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        defer { explicit_bzero(&bytes, length) }
        guard lanyard_key_read(serial, &bytes, length) == length else { return nil }
        return AnswerEncryptionKey(SymmetricKey(data: bytes))
    }

    /// Puts a new key in place of whichever is there; nil if that can't be done, and then there is none.
    static func replace(_ description: String) -> AnswerEncryptionKey? {
        let fresh = random()
        let serial = fresh.symmetric.withUnsafeBytes { bytes in
            lanyard_key_put(description, bytes.baseAddress, bytes.count, lifetime)
        }
        guard serial < 0 else { return fresh }
        revoke(description)
        return nil
    }

    /// Takes the key of that description away from everybody.
    static func revoke(_ description: String) {
        let old = lanyard_key_find(description)
        if old >= 0 { _ = lanyard_key_revoke(old) }
    }
}
