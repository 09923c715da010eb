internal import CLinux
internal import Crypto
internal import Glibc
import Keyring

/// The unwrapped key in the user's kernel keyring, where all of the user's processes find it until they log out or it is
/// locked.
///
/// The kernel keeps it as long as the user has a process.
struct KernelKey {
    private let id: KeyringID
    private var description: String { "lanyard:keyring:\(id)" }

    init(_ id: KeyringID) { self.id = id }

    /// Returns the key; nil if the kernel doesn't have it.
    func read() -> KeyringKey? {
        let serial = lanyard_key_find(description)
        guard serial >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: KeyringKey.length)
        defer { explicit_bzero(&bytes, bytes.count) }
        guard lanyard_key_read(serial, &bytes, bytes.count) == bytes.count else { return nil }
        return KeyringKey(bytes, of: id)
    }

    /// Keeps the key for some seconds, or until the user logs out if that is 0.
    static func put(_ key: KeyringKey, seconds: UInt32) throws(KeyringError) {
        let serial = key.master.withUnsafeBytes {
            lanyard_key_put(KernelKey(key.id).description, $0.baseAddress, $0.count, seconds)
        }
        guard serial < 0 else { return }
        KernelKey(key.id).forget()
        throw KeyringError(
            .broken, detail: "the kernel keeps no key for this user: \(String(cString: strerror(-serial)))")
    }

    /// Makes all processes lose the key.
    func forget() {
        let serial = lanyard_key_find(description)
        if serial >= 0 { _ = lanyard_key_revoke(serial) }
    }
}
