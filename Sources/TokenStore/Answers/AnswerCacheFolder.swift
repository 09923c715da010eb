internal import Files

/// The open directory of sealed answers; nobody but this user can have put anything into it.
struct AnswerCacheFolder: ~Copyable {
    private let folder: Folder

    /// How many files it holds at most.
    static let mostFiles = 512
    /// Seconds after which a file that somebody began to write is given up.
    private static let patience = 60

    /// Opens `lanyard/answers` in the user's runtime directory; nil if it can't be used.
    init?(in runtimeDirectory: String, making: Bool) {
        guard let folder = try? Self.folder(in: runtimeDirectory, making: making) else { return nil }
        self.folder = folder
    }

    private static func folder(in runtimeDirectory: String, making: Bool) throws(FileProblem) -> Folder {
        let base = try Folder(runtimeDirectory)
        try base.requireOwn(closedTo: 0o022)
        return try base.privateFolder("lanyard", making: making).privateFolder("answers", making: making)
    }

    /// What became of the search for a file.
    enum Found {
        case bytes([UInt8])
        case nothing
        /// Something is there that is no file of this user's, or is too long.
        case foreign
    }

    /// Reads a file, at most so many bytes if a number is given.
    func read(_ name: String, first: Int? = nil) -> Found {
        do throws(FileProblem) {
            return .bytes(try folder.read(name, atMost: SealedAnswer.longest, first: first))
        } catch {
            return error.isMissing ? .nothing : .foreign
        }
    }

    /// Puts a file in place of whichever has the name, all of it or nothing.
    func write(_ bytes: [UInt8], to name: String) { try? folder.write(bytes, to: name, isDurable: false) }

    /// Removes what has the name; a link, not what it leads to.
    func remove(_ name: String) { folder.remove(name) }

    func clear() {
        for name in names() { remove(name) }
    }

    /// Removes what no longer counts at that time; tells how many files are left.
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
        guard case .bytes(let bytes) = read(name, first: 64), let answer = SealedAnswer(bytes) else { return false }
        return answer.counts(at: now)
    }

    private func names() -> [String] { folder.names(atMost: Self.mostFiles * 8) }
}
