import Addresses
internal import Crypto
internal import CryptoExtras
import JSON
import Keyring
public import Secrets

/// What keeps a keyring's key while nobody uses it.
public enum ProtectorKind: String, Sendable, CaseIterable {
    /// systemd's service credentials of the user: the machine's secret and its TPM.
    case systemd
    /// A passphrase of the user's.
    case passphrase
    /// Two commands, which wrap and unwrap the key.
    case command
    /// Only the kernel's memory, until the user logs out.
    case session
}

/// How a slot is made.
public enum Protector: Sendable {
    case systemd
    case passphrase(Secret)
    case command(wrap: [String], unwrap: [String])
    case session

    /// Its kind.
    public var kind: ProtectorKind {
        switch self {
        case .systemd: .systemd
        case .passphrase: .passphrase
        case .command: .command
        case .session: .session
        }
    }
}

/// One protector's file: the keyring's key as the protector wrapped it, and what it takes to unwrap it.
///
/// It is JSON, so that users can see which commands would run. Nothing in it is trusted: a key counts only if it opens the
/// keyring's first file.
struct Slot: Equatable {
    enum Wrapping: Equatable {
        case systemd(blob: String)
        /// The key sealed with AES-GCM by a key that scrypt makes of the passphrase.
        case passphrase(rounds: Int, blockSize: Int, salt: [UInt8], sealed: [UInt8])
        /// What the wrapping command printed, and the command that unwraps it.
        case command(wrapped: [UInt8], unwrap: [String])
        case session
    }

    let id: KeyringID
    let wrapping: Wrapping

    static let longest = 1 << 20
    private static let version = 1

    static func file(_ kind: ProtectorKind) -> String { "slot.\(kind.rawValue)" }

    /// Parses a slot's file.
    init(_ bytes: [UInt8]) throws(KeyringError) {
        guard let json = JSONValue(bytes: bytes, atMost: Self.longest), let version = json["lanyard"]?.integer else {
            throw .damagedFile
        }
        guard version == Self.version else { throw .newerFile }
        guard let id = json["keyring"]?.string.flatMap(ItemIndex.bytes), let kind = json["kind"]?.string,
            let wrapping = Wrapping(kind, json)
        else { throw .damagedFile }
        (self.id, self.wrapping) = (KeyringID(bytes: id), wrapping)
    }

    /// Wraps a key by a protector.
    init(_ key: KeyringKey, by protector: Protector, _ credentials: SystemdCredentials) throws(KeyringError) {
        id = key.id
        switch protector {
        case .session: wrapping = .session
        case .systemd: wrapping = .systemd(blob: try credentials.encrypt(key.bytes, named: Self.credential(key.id)))
        case .command(let wrap, let unwrap):
            let output = try WrappingCommand(wrap).run(Array("\(Base64URL.encode(key.bytes))\n".utf8))
            wrapping = .command(wrapped: output, unwrap: unwrap)
        case .passphrase(let passphrase):
            let salt = KeyringID.random().bytes
            let scrypt = try Self.scrypt(passphrase, salt, rounds: Wrapping.rounds, blockSize: Wrapping.blockSize)
            guard let box = try? AES.GCM.seal(key.bytes, using: scrypt, authenticating: key.id.bytes).combined else {
                throw KeyringError(.broken, detail: "the key can't be sealed")
            }
            wrapping = .passphrase(
                rounds: Wrapping.rounds, blockSize: Wrapping.blockSize, salt: salt, sealed: Array(box))
        }
    }

    /// Unwraps the key; nil if that takes the passphrase, or if the kernel alone has it.
    ///
    /// - Throws: `denied` for a wrong passphrase, `sealedElsewhere` if the protector can't unwrap it here.
    func key(_ passphrase: Secret?, _ credentials: SystemdCredentials) throws(KeyringError) -> KeyringKey? {
        let bytes: [UInt8]
        switch wrapping {
        case .session: return nil
        case .systemd(let blob): bytes = try credentials.decrypt(blob, named: Self.credential(id))
        case .command(let wrapped, let unwrap):
            let output = try WrappingCommand(unwrap).run(wrapped)
            let text = String(decoding: output, as: UTF8.self).trimmingLineEnd
            guard let decoded = Base64URL.decode(text) else {
                throw KeyringError(
                    .sealedElsewhere, detail: "the command \(unwrap[0]) gave back something else than it got")
            }
            bytes = decoded
        case .passphrase(let rounds, let blockSize, let salt, let sealed):
            guard let passphrase else { return nil }
            let scrypt = try Self.scrypt(passphrase, salt, rounds: rounds, blockSize: blockSize)
            guard let box = try? AES.GCM.SealedBox(combined: sealed),
                let key = try? AES.GCM.open(box, using: scrypt, authenticating: id.bytes)
            else { throw KeyringError(.denied, detail: "that is not the keyring's passphrase") }
            bytes = Array(key)
        }
        guard let key = KeyringKey(bytes, of: id) else {
            throw KeyringError(.sealedElsewhere, detail: "what was unwrapped is not a key")
        }
        return key
    }

    var encoded: [UInt8] {
        var members: [String: JSONValue] = ["lanyard": 1, "keyring": .string(id.description)]
        switch wrapping {
        case .session: members["kind"] = "session"
        case .systemd(let blob): members.merge(["kind": "systemd", "blob": .string(blob)]) { $1 }
        case .command(let wrapped, let unwrap):
            members.merge([
                "kind": "command", "wrapped": .string(Base64URL.encode(wrapped)), "unwrap": JSONValue(strings: unwrap),
            ]) { $1 }
        case .passphrase(let rounds, let blockSize, let salt, let sealed):
            members.merge([
                "kind": "passphrase", "scrypt": ["rounds": JSONValue(rounds), "block-size": JSONValue(blockSize)],
                "salt": .string(Base64URL.encode(salt)), "sealed": .string(Base64URL.encode(sealed)),
            ]) { $1 }
        }
        return JSONValue.object(members).encoded(pretty: true) + [UInt8(ascii: "\n")]
    }

    private static func credential(_ id: KeyringID) -> String { "lanyard-keyring-\(id)" }

    private static func scrypt(
        _ passphrase: Secret, _ salt: [UInt8], rounds: Int, blockSize: Int
    ) throws(KeyringError) -> SymmetricKey {
        do {
            return try KDF.Scrypt.deriveKey(
                from: Array(passphrase.reveal().utf8), salt: salt, outputByteCount: KeyringKey.length, rounds: rounds,
                blockSize: blockSize, parallelism: 1)
        } catch {
            throw KeyringError(.broken, detail: "scrypt failed, which needs \(rounds * blockSize >> 13) MiB of memory")
        }
    }
}

extension Slot.Wrapping {
    /// scrypt's parameters in new slots, and the highest that are accepted: they cost memory and time.
    static let rounds = 1 << 17
    static let blockSize = 8
    private static let mostRounds = 1 << 20
    private static let mostBlocks = 16

    fileprivate init?(_ kind: String, _ json: JSONValue) {
        func bytes(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { Base64URL.decode($0) } }
        switch ProtectorKind(rawValue: kind) {
        case .session: self = .session
        case .systemd:
            guard let blob = json["blob"]?.string else { return nil }
            self = .systemd(blob: blob)
        case .command:
            guard let wrapped = bytes("wrapped"), let unwrap = json["unwrap"]?.elements.compactMap(\.string),
                !unwrap.isEmpty
            else { return nil }
            self = .command(wrapped: wrapped, unwrap: unwrap)
        case .passphrase:
            guard let rounds = json["scrypt"]?["rounds"]?.integer, let blocks = json["scrypt"]?["block-size"]?.integer,
                (Int64(Self.rounds)...Int64(Self.mostRounds)).contains(rounds), rounds & (rounds - 1) == 0,
                (Int64(Self.blockSize)...Int64(Self.mostBlocks)).contains(blocks), let salt = bytes("salt"),
                (16...64).contains(salt.count), let sealed = bytes("sealed")
            else { return nil }
            self = .passphrase(rounds: Int(rounds), blockSize: Int(blocks), salt: salt, sealed: sealed)
        case nil: return nil
        }
    }
}

extension String {
    /// The text without the line end that programs print after it.
    fileprivate var trimmingLineEnd: String {
        var text = Substring(self)
        while text.utf8.last == UInt8(ascii: "\n") || text.utf8.last == UInt8(ascii: "\r") {
            text = Substring(text.utf8.dropLast())
        }
        return String(text)
    }
}
