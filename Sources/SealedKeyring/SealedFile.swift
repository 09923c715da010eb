import Addresses
import AnswerCache
internal import Crypto
internal import Glibc
import Keyring

/// The name of a keyring, which each of its files begins with: 16 random bytes.
public struct KeyringID: Sendable, Equatable, CustomStringConvertible {
    static let length = 16
    let bytes: [UInt8]

    /// Creates an ID that no other keyring has.
    static func random() -> KeyringID {
        var generator = SystemRandomNumberGenerator()
        return KeyringID(bytes: (0..<length).map { _ in .random(in: .min ... .max, using: &generator) })
    }

    /// The ID in hexadecimal digits.
    public var description: String { bytes.hexadecimal }
}

/// The format of a keyring's files.
///
/// A file is `lanyard`, a byte with the version, the keyring's ID, then nonce, ciphertext and tag of AES-GCM (NIST SP
/// 800-38D). What precedes the nonce, and the file's name, is authenticated with the content, so no file can take another
/// one's place, in this keyring or in another one.
enum SealedFile {
    private static let tag = Array("lanyard".utf8)
    private static let version: UInt8 = 1
    private static let headLength = tag.count + 1 + KeyringID.length

    static func head(_ id: KeyringID) -> [UInt8] { tag + [version] + id.bytes }

    /// Returns the ID of the keyring that a file says it belongs to.
    static func id(of bytes: [UInt8]) throws(KeyringError) -> KeyringID {
        guard bytes.count > tag.count, bytes.starts(with: tag) else { throw .damagedFile }
        guard bytes[tag.count] == version else { throw .newerFile }
        guard bytes.count >= headLength else { throw .damagedFile }
        return KeyringID(bytes: Array(bytes[tag.count + 1..<headLength]))
    }

    /// Returns the content of the file with this name.
    static func open(_ bytes: [UInt8], named name: String, with key: KeyringKey) throws(KeyringError) -> [UInt8] {
        guard try id(of: bytes) == key.id else {
            throw KeyringError(.broken, detail: "belongs to another keyring", .passOver)
        }
        guard let box = try? AES.GCM.SealedBox(combined: bytes[headLength...]),
            let content = try? AES.GCM.open(box, using: key.contents, authenticating: head(key.id) + Array(name.utf8))
        else { throw .damagedFile }
        return Array(content)
    }

    /// Returns the bytes of a file with this name and content; each call takes a fresh nonce.
    static func seal(_ content: [UInt8], named name: String, with key: KeyringKey) -> [UInt8] {
        let head = head(key.id)
        let box = try? AES.GCM.seal(content, using: key.contents, authenticating: head + Array(name.utf8))
        guard let combined = box?.combined else { preconditionFailure("AES-GCM has a nonce of another length") }
        return head + Array(combined)
    }
}

extension KeyringError {
    /// It was changed, cut off, renamed, or is something else.
    static let damagedFile = KeyringError(.broken, detail: "is damaged", .passOver)
    /// A later version of lanyard wrote it; that is never a reason to replace or delete it.
    static let newerFile = KeyringError(.broken, detail: "was written by a newer lanyard")
}

/// The key of a keyring, and the keys derived from it: one for contents, one for names.
struct KeyringKey: Sendable {
    static let length = 32
    let id: KeyringID
    /// What the protectors wrap.
    let master: SymmetricKey
    fileprivate let contents: SymmetricKey
    private let names: SymmetricKey

    /// Uses these bytes as the key of a keyring; nil if their number isn't a key's.
    init?(_ bytes: some Collection<UInt8>, of id: KeyringID) {
        guard bytes.count == Self.length else { return nil }
        self.init(SymmetricKey(data: Array(bytes)), of: id)
    }

    private init(_ master: SymmetricKey, of id: KeyringID) {
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: master, salt: id.bytes, info: Array("lanyard \(purpose)".utf8), outputByteCount: 32)
        }
        (self.id, self.master, contents, names) = (id, master, derived("contents"), derived("names"))
        // Keep them out of swap; a refusal, for the limit of locked memory, is no reason to fail.
        for key in [master, contents, names] { key.withUnsafeBytes { _ = mlock($0.baseAddress, $0.count) } }
    }

    /// Returns a new key for a new keyring.
    static func random() -> KeyringKey { KeyringKey(SymmetricKey(size: .bits256), of: .random()) }

    var bytes: [UInt8] { master.withUnsafeBytes { Array($0) } }

    /// Returns the name of the item with exactly these attributes.
    func name(of attributes: [String: String]) -> String {
        var text: [UInt8] = []
        for (key, value) in attributes.sorted(by: { $0.key < $1.key }) { text += Self.framed(key) + Self.framed(value) }
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: names).prefix(ItemIndex.nameLength)).hexadecimal
    }

    /// Returns what the index has of an attribute, in place of its name and value.
    func mark(_ name: String, _ value: String) -> UInt64 {
        let code = HMAC<SHA256>.authenticationCode(for: Self.framed(name) + Self.framed(value), using: names)
        return UInt64(bigEndianBytes: code.prefix(8))
    }

    func marks(_ attributes: [String: String]) -> [UInt64] { attributes.map { mark($0.key, $0.value) } }

    private static func framed(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return UInt32(bytes.count).bigEndianBytes + bytes
    }
}
