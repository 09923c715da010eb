internal import Files
internal import Glibc
public import JSON

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
        self.init(in: environment.sharedRuntimeFolder, of: KeyringBus.name(in: environment))
    }

    /// Whether there is a place for notes.
    public var areKept: Bool { notes.parent != nil }

    /// Stores notes that must not be lost: in the user's cache if there is no runtime directory.
    ///
    /// There they survive a restart, after which their times are meaningless.
    public init(environment: [String: String]) {
        self.init(
            in: environment.sharedRuntimeFolder ?? environment.cacheHome, of: KeyringBus.name(in: environment))
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
    public func leave(_ note: JSONValue, about key: String) {
        notes.leave(note, about: subject(key)) { $0.removeFiles(olderThan: Self.lifetime) }
    }

    /// Whether something happened within the last `limit` milliseconds, going by the note about it.
    public func happened(_ key: String, within limit: Int) -> Bool {
        guard let at = note(about: key)?["at"]?.time else { return false }
        return (0..<limit).contains(Self.milliseconds - at)
    }

    /// Records that something happened now.
    public func leaveTime(about key: String) { leave(["at": .integer(Int64(Self.milliseconds))], about: key) }

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
