import Addresses
internal import CLinux
internal import Crypto
import Files
internal import Glibc

/// A cache of answers, which need neither the keyring nor the configuration nor a plugin when they are repeated.
///
/// Each answer is a small file in the user's runtime directory, encrypted with a key in the user's kernel keyring.
/// Every change to the store replaces the key, which makes all answers unreadable at once. An answer is encrypted with
/// the key from *before* the store was read for it, so an answer that was being made during a change is unreadable from
/// the start. Without a kernel keyring or a runtime directory, nothing is cached, and that is no error.
public struct AnswerCache: Sendable, Equatable {
    private let runtimeDirectory: String?
    /// The session bus, which identifies the keyring that the answers come from.
    private let place: String
    /// The description of the key; all buses share one, because the kernel allows a user only few keys and few bytes.
    private let keyDescription: String

    /// Creates the cache of the user's answers; those of different session buses are kept apart.
    ///
    /// - Parameter environment: The variables; `XDG_RUNTIME_DIR` and `DBUS_SESSION_BUS_ADDRESS` matter.
    public init(environment: [String: String]) {
        self.init(environment: environment, keyDescription: "lanyard:answers")
    }

    /// Creates a cache with another key than the user's own, which any lanyard process of the user may replace at any
    /// time.
    init(environment: [String: String], keyDescription: String) {
        self.keyDescription = keyDescription
        let runtimeDirectory = environment.absolutePath("XDG_RUNTIME_DIR")
        self.runtimeDirectory = runtimeDirectory
        var bus = environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        // Without the variable, the bus is where systemd puts it. A GUID says nothing about the location.
        if bus.isEmpty { bus = runtimeDirectory.map { "unix:path=\($0)/bus" } ?? "" }
        place = bus.pieces(between: ",").filter { !$0.hasPrefix("guid=") }.map(String.init).joined(separator: ",")
    }

    /// Returns the name of the answer that these fields and files decide, within this cache.
    public func name(fields: [String?], files: [String]) -> AnswerCacheKey {
        AnswerCacheKey(fields: [place] + fields, files: files)
    }

    /// Returns the current key, created if there is none; nil if nothing can be cached.
    ///
    /// Call this before reading anything that decides an answer.
    public func key() -> AnswerEncryptionKey? {
        guard AnswerCacheFolder(in: runtimeDirectory, making: true) != nil else { return nil }
        return AnswerEncryptionKey.read(keyDescription) ?? AnswerEncryptionKey.replace(keyDescription)
    }

    /// Returns the answer with this name; nil if there is none.
    ///
    /// A file that is no longer valid is removed.
    public func answer(_ name: AnswerCacheKey, now: Int) -> [UInt8]? {
        guard let directory = AnswerCacheFolder(in: runtimeDirectory, making: false) else { return nil }
        do throws(FileError) {
            if let sealed = SealedAnswer(try directory.read(name.file)), sealed.counts(at: now),
                let key = AnswerEncryptionKey.read(keyDescription), let answer = sealed.opened(name, key)
            {
                return answer
            }
        } catch {
            if error.isMissing { return nil }
        }
        directory.remove(name.file)
        return nil
    }

    /// Caches an answer until a time in seconds since 1970, encrypted with the key from before it was found.
    public func keep(_ answer: [UInt8], as name: AnswerCacheKey, now: Int, until: Int, key: AnswerEncryptionKey) {
        guard until > now, let directory = AnswerCacheFolder(in: runtimeDirectory, making: true),
            directory.sweep(at: now) < AnswerCacheFolder.mostFiles,
            let bytes = SealedAnswer.seal(answer, as: name, at: now, until: until, key)
        else { return }
        directory.write(bytes, to: name.file)
    }

    package func remove(_ name: AnswerCacheKey) {
        AnswerCacheFolder(in: runtimeDirectory, making: false)?.remove(name.file)
    }

    /// Makes every answer unreadable.
    ///
    /// The files are removed, too, so that processes with another kernel keyring, as in some containers, can't use them.
    public func forget() {
        _ = AnswerEncryptionKey.replace(keyDescription)
        AnswerCacheFolder(in: runtimeDirectory, making: false)?.clear()
    }

    /// Runs a change to the data that answers are based on; no answer made before or during it is used after it.
    ///
    /// The key is also replaced before the change: if the process is killed during it, no older answer remains usable.
    package func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        forget()
        defer { forget() }
        return try body()
    }
}

/// The open directory of encrypted answers; only this user can have written to it.
struct AnswerCacheFolder: ~Copyable {
    private let folder: Folder

    /// The highest number of files that it holds.
    static let mostFiles = 512
    /// Seconds after which an unfinished file is removed.
    private static let patience = 60

    /// Opens `lanyard/answers` in the user's runtime directory; nil if there is none, or if it can't be used.
    init?(in runtimeDirectory: String?, making: Bool) {
        guard let runtimeDirectory, let folder = try? Self.folder(in: runtimeDirectory, making: making) else {
            return nil
        }
        self.folder = folder
    }

    private static func folder(in runtimeDirectory: String, making: Bool) throws(FileError) -> Folder {
        let base = try Folder(runtimeDirectory)
        try base.requireOwn(closedTo: 0o022)
        return try base.privateFolder("lanyard", making: making).privateFolder("answers", making: making)
    }

    /// Reads a file, or only its first bytes if a number is given.
    func read(_ name: String, first: Int? = nil) throws(FileError) -> [UInt8] {
        try folder.read(name, atMost: SealedAnswer.longest, first: first)
    }

    /// Replaces or creates the file with this name atomically.
    func write(_ bytes: [UInt8], to name: String) { try? folder.write(bytes, to: name, isDurable: false) }

    /// Removes the entry with this name; of a symbolic link, only the link.
    func remove(_ name: String) { folder.remove(name) }

    func clear() {
        for name in names() { remove(name) }
    }

    /// Removes files that have expired at that time, and returns the number of files that are left.
    func sweep(at now: Int) -> Int {
        var left = 0
        for name in names() {
            if keeps(name, at: now) { left += 1 } else { remove(name) }
        }
        return left
    }

    private func keeps(_ name: String, at now: Int) -> Bool {
        guard name.utf8.count == AnswerCacheKey.fileLength, name.hasSuffix(AnswerCacheKey.suffix) else {
            guard let status = folder.status(of: name) else { return false }
            return abs(now - status.modified) < Self.patience
        }
        guard let bytes = try? read(name, first: 64), let answer = SealedAnswer(bytes) else { return false }
        return answer.counts(at: now)
    }

    private func names() -> [String] { folder.names(atMost: Self.mostFiles * 8) }
}

/// The name of an answer: a digest of everything that decides the answer.
public struct AnswerCacheKey: Sendable, Equatable {
    let digest: [UInt8]

    /// The name of the answer's file; it reveals nothing about the request.
    var file: String { digest.hexadecimal + Self.suffix }

    static let suffix = ".sealed"
    /// The length of a file's name.
    static let fileLength = 64 + suffix.utf8.count

    /// Creates the name of the answer that these fields, in this order, and the present state of these files decide.
    ///
    /// A file's state is its device, inode, size and times to the nanosecond. Besides the modification time, which can
    /// be set back, the time of its last status change counts. A missing file is a state, too.
    public init(fields: [String?], files: [String]) {
        var hash = SHA256()
        for field in fields { hash.update(field) }
        hash.update(nil)
        for file in files {
            hash.update(file)
            hash.update(Self.stamp(of: file))
        }
        digest = Array(hash.finalize())
    }

    private static func stamp(of file: String) -> String? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        let (content, change) = (status.st_mtim, status.st_ctim)
        return """
            \(status.st_dev) \(status.st_ino) \(status.st_size) \(content.tv_sec) \(content.tv_nsec) \
            \(change.tv_sec) \(change.tv_nsec)
            """
    }
}

extension SHA256 {
    /// Adds a field with its length, so that no two lists of fields look alike.
    fileprivate mutating func update(_ field: String?) {
        guard let field else { return update(data: [0]) }
        let bytes = [UInt8](field.utf8)
        update(data: [1] + UInt64(bytes.count).bigEndianBytes)
        update(data: bytes)
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}

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

/// The contents of one file: when the answer was encrypted, until when it is valid, and the encrypted answer.
///
/// The format is a tag, two times in seconds since 1970 as big-endian numbers of eight bytes, then nonce, ciphertext
/// and tag of ChaCha20-Poly1305 (RFC 8439). The file's name and everything before the nonce is authenticated with the
/// answer.
struct SealedAnswer {
    /// The longest file, in bytes; more than the longest line of the protocol.
    static let longest = 1 << 17

    private static let tag = Array("lanyard1".utf8)
    private static let headLength = tag.count + 16

    private let head: [UInt8]
    private let box: ArraySlice<UInt8>
    private let sealedAt: Int
    private let until: Int

    /// Parses a file's contents, or their beginning; nil if they have another format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, bytes.starts(with: Self.tag) else { return nil }
        head = Array(bytes[..<Self.headLength])
        box = bytes[Self.headLength...]
        let start = Self.tag.count
        guard let sealedAt = Int(exactly: UInt64(bigEndianBytes: bytes[start..<start + 8])),
            let until = Int(exactly: UInt64(bigEndianBytes: bytes[start + 8..<start + 16]))
        else { return nil }
        self.sealedAt = sealedAt
        self.until = until
    }

    /// Whether the answer is valid at that time; false also if the clock was set back to before the answer was made.
    func counts(at now: Int) -> Bool { sealedAt <= now && now < until }

    /// Decrypts the answer; nil if it was encrypted with another key or for another name, or was changed since.
    func opened(_ name: AnswerCacheKey, _ key: AnswerEncryptionKey) -> [UInt8]? {
        guard let sealed = try? ChaChaPoly.SealedBox(combined: box),
            let answer = try? ChaChaPoly.open(sealed, using: key.symmetric, authenticating: name.digest + head)
        else { return nil }
        return Array(answer)
    }

    /// Encrypts an answer; returns the file's contents, or nil if they would be too long.
    static func seal(_ answer: [UInt8], as name: AnswerCacheKey, at now: Int, until: Int, _ key: AnswerEncryptionKey)
        -> [UInt8]?
    {
        guard let sealedAt = UInt64(exactly: now), let end = UInt64(exactly: until) else { return nil }
        let head = tag + sealedAt.bigEndianBytes + end.bigEndianBytes
        let box = try? ChaChaPoly.seal(answer, using: key.symmetric, authenticating: name.digest + head)
        guard let box else { return nil }
        let bytes = head + Array(box.combined)
        return bytes.count <= longest ? bytes : nil
    }
}
