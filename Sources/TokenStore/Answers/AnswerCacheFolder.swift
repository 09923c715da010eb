internal import Files

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

    private static func folder(in runtimeDirectory: String, making: Bool) throws(FileProblem) -> Folder {
        let base = try Folder(runtimeDirectory)
        try base.requireOwn(closedTo: 0o022)
        return try base.privateFolder("lanyard", making: making).privateFolder("answers", making: making)
    }

    /// Reads a file, or only its first bytes if a number is given.
    func read(_ name: String, first: Int? = nil) throws(FileProblem) -> [UInt8] {
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
