internal import Addresses
internal import Crypto
internal import Files
internal import Glibc
public import JSON
public import Secrets

/// Small notes that one user's processes leave for each other, in the runtime directory if there is one.
///
/// They say what went wrong lately and until when it counts.
public struct SharedNotes: Sendable {
    /// The longest note, in bytes.
    static let longest = 8192
    /// Seconds after which a note is removed, whatever it contains.
    static let lifetime = 3600

    private let notes: NoteFolder
    private let bus: String

    /// A note's subject among those of all keyrings.
    private func subject(_ key: String) -> String { "\(bus)\n\(key)" }

    /// Stores notes in the user's runtime directory, whatever the variables say; if there is none, nothing is stored.
    ///
    /// - Parameter environment: `XDG_RUNTIME_DIR` counts if there is no `/run/user/UID`, and if it is absolute and this
    ///   user's. The session bus tells apart what is about different keyrings.
    public init(runtimeFolderOf environment: [String: String]) {
        self.init(in: environment.sharedRuntimeFolder, of: environment.keyringBus)
    }

    /// Whether there is a place for notes.
    public var areKept: Bool { notes.parent != nil }

    /// Stores notes that must not be lost: in the user's cache if there is no runtime directory.
    ///
    /// There they survive a restart, after which their times are meaningless.
    public init(environment: [String: String]) {
        self.init(
            in: environment.sharedRuntimeFolder ?? environment.cacheHome, of: environment.keyringBus)
    }

    /// Stores notes in a folder; nil stores none.
    package init(in parent: String?, of bus: String = "") {
        notes = NoteFolder(parent: parent, name: "notes", longest: Self.longest)
        self.bus = bus
    }

    /// Milliseconds since this computer was started; setting the clock doesn't change it.
    public static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Returns the note about a subject; nil if there is none.
    public func note(about key: String) -> JSONValue? {
        notes.note(about: subject(key))
    }

    /// Writes a note atomically, replacing any about the same subject.
    public func write(_ note: JSONValue, about key: String) {
        notes.write(note, about: subject(key)) { $0.removeFiles(olderThan: Self.lifetime) }
    }

    /// Whether something happened within the last `limit` milliseconds, going by the note about it.
    public func happened(_ key: String, within limit: Int) -> Bool {
        guard let at = note(about: key)?["at"]?.time else { return false }
        return (0..<limit).contains(Self.milliseconds - at)
    }

    /// Records that something happened now.
    public func noteTime(about key: String) { write(["at": .integer(Int64(Self.milliseconds))], about: key) }

    /// Removes the note about a subject.
    public func remove(about key: String) { notes.remove(about: subject(key)) }
}

extension Folder {
    /// Removes files that were written more than this many seconds ago.
    borrowing func removeFiles(olderThan lifetime: Int) {
        for name in names(atMost: 4096) {
            guard let status = status(of: name), time(nil) - status.modified > lifetime else { continue }
            remove(name)
        }
    }
}

/// Small files of JSON in a folder of lanyard's own, each named by a digest of what it is about.
///
/// Nothing depends on them: what can't be read or written is passed over in silence.
struct NoteFolder: Sendable {
    /// The parent of lanyard's folder; nil if nothing is stored.
    let parent: String?
    let name: String
    /// The longest file, in bytes.
    let longest: Int

    func note(about subject: String) -> JSONValue? {
        guard let bytes = try? folder(making: false)?.read(Self.file(of: subject), atMost: longest) else { return nil }
        return JSONValue(bytes: bytes[...])
    }

    /// Whether there is a note about a subject that was written less than this many seconds ago.
    func has(noteAbout subject: String, youngerThan seconds: Int) -> Bool {
        guard let written = folder(making: false)?.status(of: Self.file(of: subject))?.modified else { return false }
        return (0..<seconds).contains(time(nil) - written)
    }

    /// Puts a note in place of any about the same, once room is made for it; others see all of it or nothing.
    func write(_ note: JSONValue, about subject: String, makingRoom: (borrowing Folder) -> Void) {
        let bytes = note.encoded()
        guard bytes.count <= longest, let folder = folder(making: true) else { return }
        makingRoom(folder)
        try? folder.write(bytes, to: Self.file(of: subject), isDurable: false)
    }

    func remove(about subject: String) { folder(making: false)?.remove(Self.file(of: subject)) }

    private func folder(making: Bool) -> Folder? {
        guard let parent else { return nil }
        if making { Folder.make(parent) }
        return try? Folder(parent).privateFolder("lanyard", making: making).privateFolder(name, making: making)
    }

    private static func file(of subject: String) -> String { subject.digest + ".json" }
}

/// The tokens that tools were given lately, by their fingerprints.
///
/// Tools store what worked, and erase what didn't. By then, the token may no longer be stored, because it was renewed or
/// its account was signed out; it still isn't a password. So each token is noted before a tool gets it.
public struct GivenTokens: Sendable {
    /// Seconds after which a note is removed; remembered answers, which are given without a note, last for a day.
    private static let lifetime = 2 * 86_400
    /// Seconds for which a note isn't written again.
    private static let freshness = 3600

    private let notes: NoteFolder

    /// Stores notes in the user's runtime directory; if there is none, in the user's cache.
    public init(environment: [String: String]) {
        notes = NoteFolder(parent: environment.ownRuntimeFolder ?? environment.cacheHome, name: "given", longest: 16)
    }

    /// Notes a token that is about to be given.
    public func note(_ token: Secret) {
        guard !token.isEmpty else { return }
        let fingerprint = token.fingerprint
        // Most gets give the same token again.
        guard !notes.has(noteAbout: fingerprint, youngerThan: Self.freshness) else { return }
        notes.write(.bool(true), about: fingerprint) { $0.removeFiles(olderThan: Self.lifetime + Self.freshness) }
    }

    /// Whether one of these fingerprints is that of a token that was given.
    public func contain(_ fingerprints: Set<String>) -> Bool { fingerprints.contains { notes.note(about: $0) != nil } }
}

/// Memos that lanyard stores on behalf of plugins, in the user's cache.
///
/// They aren't secret. A plugin must check a memo that it gets back like input from the network.
public struct KeptMemos: Sendable {
    /// The longest file, in bytes: the longest memo with every byte escaped.
    private static let longest = 1 << 17
    /// The highest number of memos that are stored.
    private static let most = 256

    private let notes: NoteFolder

    /// Stores memos below a folder; nil stores none.
    public init(in folder: String?) {
        notes = NoteFolder(parent: folder, name: "memos", longest: Self.longest)
    }

    /// Stores memos in the user's cache, which these variables name; on a shared device in the runtime directory, which
    /// is removed at log-out.
    public init(environment: [String: String], isShared: Bool) {
        self.init(in: isShared ? environment.ownRuntimeFolder : environment.cacheHome)
    }

    /// Returns the memo about a subject if it hasn't expired at a time in seconds since 1970.
    public func memo(about subject: String, now: Int) -> String? {
        guard let note = notes.note(about: subject), let from = note["from"]?.wholeNumber,
            let until = note["until"]?.wholeNumber, (from..<max(from, until)).contains(now)
        else { return nil }
        return note["memo"]?.text
    }

    /// Stores a memo for a number of seconds from now, replacing the previous one.
    public func keep(_ memo: String, about subject: String, now: Int, for seconds: Int) {
        let note = JSONValue.object([
            "memo": .string(memo), "from": .integer(Int64(now)), "until": .integer(Int64(now + seconds)),
        ])
        notes.write(note, about: subject, makingRoom: sweep)
    }

    /// Forgets the memo about a subject.
    public func forget(_ subject: String) { notes.remove(about: subject) }

    /// Makes room by removing all memos, since plugins can obtain each again.
    private func sweep(_ folder: borrowing Folder) {
        let names = folder.names(atMost: Self.most * 2)
        guard names.count >= Self.most else { return }
        for name in names { folder.remove(name) }
    }
}

extension StringProtocol {
    /// The text's SHA-256 in hexadecimal: tells texts apart without showing them.
    package var digest: String { SHA256.hash(data: [UInt8](utf8)).hexadecimal }

    /// Sixteen bytes of it.
    package var shortDigest: String { SHA256.hash(data: [UInt8](utf8)).prefix(16).hexadecimal }
}

extension Secret {
    /// A digest that identifies a token without revealing it: half of its SHA-256, in hexadecimal digits.
    ///
    /// For tokens only: a short secret could be guessed from it.
    public var fingerprint: String { reveal().shortDigest }

    /// The fingerprints of everything in a password or a header that may be a token: the whole, what follows the scheme
    /// of a header, and both parts of a `Basic` credential (RFC 7617).
    public var fingerprints: Set<String> {
        let text = reveal()
        let bare = text.cut(at: " ").map { $0.1.trimmed() } ?? text[...]
        let basic = Base64URL.decode(bare).flatMap { String(validating: $0, as: UTF8.self) }?.cut(at: ":")
        return Set([text[...], bare, basic?.0, basic?.1].compactMap { $0 }.filter { !$0.isEmpty }.map(\.shortDigest))
    }
}
