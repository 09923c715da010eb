internal import CLinux
internal import Crypto
import Files
internal import Glibc
import Keyring

/// The unwrapped key in the user's kernel keyring, where all of the user's processes find it until they log out or it is
/// locked.
///
/// Since Linux 5.3, the kernel keeps a user's keys until the machine restarts, even if no process of the user's is left. So
/// the kernel gets the key combined with random bytes from the runtime folder, which systemd removes after the user's last
/// logout. Neither of the two tells anything without the other. Where there is no such folder, no login can be told from the
/// next, and the kernel gets the key itself.
///
/// In a user namespace, such as podman's, a user has other kernel keyrings, but the same keys: they are found by the serial
/// number in the keyring's folder.
struct KernelKey {
    private static let file = "login"
    private let id: KeyringID
    private let folder: String
    private let runtimeFolder: String
    private var description: String { "lanyard:keyring:\(id)" }
    private var serialFile: String { "kernel-key.\(id)" }

    /// Refers to the kernel's copy of the key of the keyring in a folder; `runtimeFolder` is the one that ends with the login.
    init(_ id: KeyringID, in folder: String, runtimeFolder: String) {
        (self.id, self.folder, self.runtimeFolder) = (id, folder, runtimeFolder)
    }

    /// Returns the key; nil if the kernel doesn't have it, or if that was before the last login.
    func read() -> KeyringKey? {
        let serial = find()
        guard serial >= 0 else { return nil }
        let login = login(making: false)
        var bytes = [UInt8](repeating: 0, count: KeyringKey.length + login.mark.count)
        defer { explicit_bzero(&bytes, bytes.count) }
        guard lanyard_key_read(serial, &bytes, bytes.count) == bytes.count else { return nil }
        guard bytes[KeyringKey.length...].elementsEqual(login.mark) else {
            forget()
            return nil
        }
        return KeyringKey(zip(bytes, login.pad).map { $0 ^ $1 }, of: id)
    }

    /// Keeps the key for some seconds, or until the user logs out if that is 0.
    func put(_ key: KeyringKey, seconds: UInt32) throws(KeyringError) {
        let login = login(making: true)
        let bytes = zip(key.bytes, login.pad).map { $0 ^ $1 } + login.mark
        let serial = lanyard_key_put(description, bytes, bytes.count, seconds)
        guard serial < 0 else {
            // Only other namespaces need it.
            try? Folder(folder).write(Array("\(serial)".utf8), to: serialFile, isDurable: false)
            return
        }
        forget()
        throw KeyringError(
            .broken, detail: "the kernel keeps no key for this user: \(String(cString: strerror(-serial)))")
    }

    /// Makes all processes lose the key.
    func forget() {
        let serial = find()
        if serial >= 0 { _ = lanyard_key_revoke(serial) }
        (try? Folder(folder))?.remove(serialFile)
    }

    private func find() -> Int32 {
        let own = lanyard_key_find(description)
        guard own < 0, let text = try? Folder(folder).read(serialFile, atMost: 16),
            let serial = Int32(String(decoding: text, as: UTF8.self)), lanyard_key_is(serial, description) != 0
        else { return own }
        return serial
    }

    /// What the kernel's copy is combined with, and what tells it from that of another login.
    private func login(making: Bool) -> (pad: [UInt8], mark: [UInt8]) {
        let pad = pad(making: making) ?? [UInt8](repeating: 0, count: KeyringKey.length)
        return (pad, Array(SHA256.hash(data: Array("lanyard login".utf8) + pad)))
    }

    private func pad(making: Bool) -> [UInt8]? {
        guard Folder.isOwn(runtimeFolder) else { return nil }
        let path = "\(runtimeFolder)/lanyard"
        if making { Folder.make(path) }
        guard let folder = try? Folder(path) else { return nil }
        if let pad = Self.pad(in: folder) { return pad }
        // Of two processes that make it, the later one finds the other's.
        guard making, (try? folder.lock(within: .seconds(5))) == true else { return nil }
        if let pad = Self.pad(in: folder) { return pad }
        let pad = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        return (try? folder.write(pad, to: Self.file, isDurable: false)).map { pad }
    }

    private static func pad(in folder: borrowing Folder) -> [UInt8]? {
        guard let pad = try? folder.read(file, atMost: KeyringKey.length), pad.count == KeyringKey.length else {
            return nil
        }
        return pad
    }
}
