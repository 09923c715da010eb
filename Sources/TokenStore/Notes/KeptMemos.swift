internal import Files
internal import JSON

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
        notes.leave(note, about: subject, makingRoom: sweep)
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
