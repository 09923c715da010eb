internal import Addresses
internal import Crypto
internal import Files
internal import Glibc
public import JSON

/// Small notes that one user's processes leave for each other, in the runtime directory if there is one.
///
/// They record recent failures and how long these count. Nothing depends on them, so errors are ignored. A file's name
/// only has a digest of the note's subject.
public struct SharedNotes: Sendable {
    /// The longest note, in bytes.
    static let longest = 8192
    /// Seconds after which a note is removed, whatever it contains.
    static let lifetime = 3600

    /// The parent of lanyard's folder; nil if nothing is stored.
    private let parent: String?

    /// Stores notes in the user's runtime directory; if there is none, nothing is stored.
    ///
    /// - Parameter environment: `XDG_RUNTIME_DIR` counts; a directory that is not absolute or not this user's is none.
    public init(runtimeFolderOf environment: [String: String]) {
        parent = environment.ownRuntimeFolder
    }

    /// Whether there is a place for notes.
    public var areKept: Bool { parent != nil }

    /// Stores notes that must not be lost: in the user's cache if there is no runtime directory.
    ///
    /// There they survive a restart, after which their times are meaningless.
    public init(environment: [String: String]) {
        parent = environment.ownRuntimeFolder ?? environment.cacheHome
    }

    /// Milliseconds since this computer was started; setting the clock doesn't change it.
    public static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Returns the note about a subject; nil if there is none.
    public func note(about key: String) -> JSONValue? {
        guard let bytes = try? folder(making: false)?.read(Self.name(of: key), atMost: Self.longest) else { return nil }
        return JSONValue(bytes: bytes[...])
    }

    /// Writes a note atomically, replacing any about the same subject.
    public func leave(_ note: JSONValue, about key: String) {
        let bytes = note.encoded()
        guard bytes.count <= Self.longest, let folder = folder(making: true) else { return }
        sweep(folder)
        try? folder.write(bytes, to: Self.name(of: key), isDurable: false)
    }

    /// Whether something happened within the last so many milliseconds, going by the note about it.
    public func happened(_ key: String, within limit: Int) -> Bool {
        guard let at = note(about: key)?["at"]?.time else { return false }
        return (0..<limit).contains(Self.milliseconds - at)
    }

    /// Takes note that something happened now.
    public func leaveTime(about key: String) { leave(["at": .integer(Int64(Self.milliseconds))], about: key) }

    /// Removes the note about a subject.
    public func remove(about key: String) { folder(making: false)?.remove(Self.name(of: key)) }

    private func folder(making: Bool) -> Folder? {
        guard let parent else { return nil }
        if making { Folder.make(parent) }
        return try? Folder(parent).privateFolder("lanyard", making: making)
            .privateFolder("notes", making: making)
    }

    private static func name(of key: String) -> String {
        SHA256.hash(data: [UInt8](key.utf8)).hexadecimal + ".json"
    }

    /// Removes notes that have expired.
    private func sweep(_ folder: borrowing Folder) {
        for name in folder.names(atMost: 4096) {
            guard let status = folder.status(of: name), time(nil) - status.modified > Self.lifetime else { continue }
            folder.remove(name)
        }
    }
}
