internal import Addresses
internal import Crypto
internal import Files
internal import Glibc
internal import JSON

/// What plugins have lanyard remember for them, in the user's cache.
///
/// It is nothing secret, and nothing depends on it: what can't be read or written is passed over in silence. Only a digest of what a
/// memo is about shows in its file's name. Whoever gets one back has to check it as if it came from the network.
public struct KeptMemos: Sendable {
    /// The longest file, in bytes: the longest memo, each byte of it escaped.
    private static let longest = 1 << 17
    /// How many are kept.
    private static let most = 256

    /// The folder that lanyard's own is in; nil if nothing is kept.
    private let parent: String?

    /// Keeps memos below a folder; nil keeps none.
    public init(in folder: String?) {
        parent = folder
    }

    /// Keeps memos in the user's cache, which these variables name; on a shared device in the runtime directory, which is gone at logout.
    public init(environment: [String: String], isShared: Bool) {
        self.init(in: isShared ? environment.ownRuntimeFolder : environment.cacheHome)
    }

    /// The memo about something, if it still counts at a time in seconds since 1970.
    public func memo(about subject: String, now: Int) -> String? {
        guard let bytes = try? folder(making: false)?.read(Self.name(of: subject), atMost: Self.longest),
            let note = JSONValue(bytes: bytes[...]), let from = note["from"]?.wholeNumber,
            let until = note["until"]?.wholeNumber, (from..<max(from, until)).contains(now)
        else { return nil }
        return note["memo"]?.text
    }

    /// Keeps a memo, in place of the one before, for so many seconds from now.
    public func keep(_ memo: String, about subject: String, now: Int, for seconds: Int) {
        let bytes = JSONValue.object([
            "memo": .string(memo), "from": .integer(Int64(now)), "until": .integer(Int64(now + seconds)),
        ]).encoded()
        guard bytes.count <= Self.longest, let folder = folder(making: true) else { return }
        sweep(folder)
        try? folder.write(bytes, to: Self.name(of: subject), isDurable: false)
    }

    /// Forgets the memo about something.
    public func forget(_ subject: String) { folder(making: false)?.remove(Self.name(of: subject)) }

    private func folder(making: Bool) -> Folder? {
        guard let parent else { return nil }
        if making { Folder.make(parent) }
        return try? Folder(parent).privateFolder("lanyard", making: making).privateFolder("memos", making: making)
    }

    private static func name(of subject: String) -> String {
        SHA256.hash(data: [UInt8](subject.utf8)).hexadecimal + ".json"
    }

    /// Makes room: all go at once, since each can be found out anew.
    private func sweep(_ folder: borrowing Folder) {
        let names = folder.names(atMost: Self.most * 2)
        guard names.count >= Self.most else { return }
        for name in names { folder.remove(name) }
    }
}
