internal import Addresses
internal import Crypto
internal import Files
internal import Glibc
internal import JSON

/// Memos that lanyard stores on behalf of plugins, in the user's cache.
///
/// They aren't secret, and nothing depends on them, so errors are ignored. A file's name only has a digest of the
/// memo's subject. A plugin must validate a memo as if it came from the network.
public struct KeptMemos: Sendable {
    /// The longest file, in bytes: the longest memo with every byte escaped.
    private static let longest = 1 << 17
    /// The highest number of memos that are stored.
    private static let most = 256

    /// The parent of lanyard's folder; nil if nothing is stored.
    private let parent: String?

    /// Stores memos below a folder; nil stores none.
    public init(in folder: String?) {
        parent = folder
    }

    /// Stores memos in the user's cache, which these variables name; on a shared device in the runtime directory, which
    /// is removed at log-out.
    public init(environment: [String: String], isShared: Bool) {
        self.init(in: isShared ? environment.ownRuntimeFolder : environment.cacheHome)
    }

    /// Returns the memo about a subject if it hasn't expired at a time in seconds since 1970.
    public func memo(about subject: String, now: Int) -> String? {
        guard let bytes = try? folder(making: false)?.read(Self.name(of: subject), atMost: Self.longest),
            let note = JSONValue(bytes: bytes[...]), let from = note["from"]?.wholeNumber,
            let until = note["until"]?.wholeNumber, (from..<max(from, until)).contains(now)
        else { return nil }
        return note["memo"]?.text
    }

    /// Stores a memo for a number of seconds from now, replacing the previous one.
    public func keep(_ memo: String, about subject: String, now: Int, for seconds: Int) {
        let bytes = JSONValue.object([
            "memo": .string(memo), "from": .integer(Int64(now)), "until": .integer(Int64(now + seconds)),
        ]).encoded()
        guard bytes.count <= Self.longest, let folder = folder(making: true) else { return }
        sweep(folder)
        try? folder.write(bytes, to: Self.name(of: subject), isDurable: false)
    }

    /// Forgets the memo about a subject.
    public func forget(_ subject: String) { folder(making: false)?.remove(Self.name(of: subject)) }

    private func folder(making: Bool) -> Folder? {
        guard let parent else { return nil }
        if making { Folder.make(parent) }
        return try? Folder(parent).privateFolder("lanyard", making: making).privateFolder("memos", making: making)
    }

    private static func name(of subject: String) -> String {
        SHA256.hash(data: [UInt8](subject.utf8)).hexadecimal + ".json"
    }

    /// Makes room by removing all memos, since plugins can obtain each again.
    private func sweep(_ folder: borrowing Folder) {
        let names = folder.names(atMost: Self.most * 2)
        guard names.count >= Self.most else { return }
        for name in names { folder.remove(name) }
    }
}
