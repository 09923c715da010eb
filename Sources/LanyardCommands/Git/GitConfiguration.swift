import Addresses
import Rules
import Secrets
import Terminal

/// git's configuration, read and written by git itself.
struct GitConfiguration: Sendable {
    /// Whose configuration file it is.
    enum Scope: String, Sendable {
        case global = "--global"
        case system = "--system"
    }

    /// One value of a key, and the file that sets it.
    struct Entry: Sendable, Equatable {
        let file: String
        /// The key as git prints it: section and variable in lower case, the part between them as written.
        let key: String
        let value: String
    }

    private let git: Git

    init(_ context: CommandContext) {
        git = Git(context: context)
    }

    /// Returns everything that the scope's own file sets, in order; empty if there is no such file.
    func ownEntries(of scope: Scope) async throws(Failure) -> [Entry] {
        try await listed(["config", scope.rawValue, "--no-includes"])
    }

    /// Returns everything that a file sets, in order; empty if there is no such file.
    func entries(of file: String) async throws(Failure) -> [Entry] {
        try await listed(["config", "--file", file, "--no-includes"])
    }

    /// Returns everything that applies outside any repository, in order.
    func everything() async throws(Failure) -> [Entry] { try await listed(["-C", "/", "config"]) }

    /// What counts for whom a scope is: everybody has the system's file and those that it includes, a user has all that git reads.
    func whatCounts(for scope: Scope) async throws(Failure) -> [Entry] {
        switch scope {
        case .system: try await listed(["config", scope.rawValue, "--includes"])
        case .global: try await everything()
        }
    }

    private func listed(_ words: [String]) async throws(Failure) -> [Entry] {
        let result = try await git.run(words + ["--null", "--show-origin", "--list"])
        guard result.status == 0 else {
            guard result.output.isEmpty, result.isFileMissing else {
                throw result.failure(doing: "reading its configuration")
            }
            return []
        }
        return Self.entries(result.output)
    }

    /// Makes git lock the scope's file as for a change, without changing it.
    ///
    /// - Throws: `Failure` with git's reason if it can't; with this hint if it lacks permission.
    func requireWritable(_ scope: Scope, hint: Hint) async throws(Failure) {
        try await requireWritable([scope.rawValue], hint: hint)
    }

    /// Makes git lock a file as for a change, without changing it.
    func requireWritable(file: String, hint: Hint) async throws(Failure) {
        try await requireWritable(["--file", file], hint: hint)
    }

    private func requireWritable(_ place: [String], hint: Hint) async throws(Failure) {
        // The value doesn't exist; git reports that once it has the lock.
        let result = try await git.run(["config"] + place + ["--unset-all", "lanyard.isWritable"])
        guard [0, 5].contains(result.status) else {
            let isForbidden = result.errors.contains("Permission denied")
            throw result.failure(
                doing: "opening its configuration to write",
                hints: [isForbidden ? hint : "look at that file and its folder, and try again"])
        }
    }

    /// Adds a value to a key that may have others.
    func add(_ key: String, _ value: String, to scope: Scope) async throws(Failure) {
        try await write(key, [scope.rawValue, "--add", key, value])
    }

    /// The special characters of POSIX regular expressions.
    private static let special = Set(".^$*+?()[]{}|\\".unicodeScalars)

    /// Removes a value from a key in a file, but leaves a number of equal ones; the key's other values stay.
    func remove(_ key: String, _ value: String, leaving rest: Int, from file: String) async throws(Failure) {
        let pattern = "^\(value.unicodeScalars.map { Self.special.contains($0) ? "\\\($0)" : "\($0)" }.joined())$"
        let change = rest > 0 ? ["--replace-all", key, value, pattern] : ["--unset-all", key, pattern]
        // 5 means that there is nothing to remove.
        try await write(key, ["--file", file] + change, accepting: [0, 5])
        for _ in 1..<max(rest, 1) { try await write(key, ["--file", file, "--add", key, value]) }
    }

    private func write(_ key: String, _ words: [String], accepting statuses: [Int32] = [0]) async throws(Failure) {
        let result = try await git.run(["config"] + words)
        guard statuses.contains(result.status) else { throw result.failure(doing: "writing \(key.displayable())") }
    }

    /// Whether git's `credential.interactive` forbids prompts for a URL.
    func forbidsPrompts(for url: String) async -> Bool {
        await value(of: "credential.interactive", for: url).map(Self.forbidsPrompts) ?? false
    }

    /// Whether a value of `credential.interactive` forbids prompts.
    static func forbidsPrompts(_ value: String) -> Bool {
        value.lowercased() == "never" || Bool(gitWord: value) == false
    }

    /// Whether git sends helpers the path of a URL, according to a scope's file or to everything that applies.
    func sendsPath(for url: String, in scope: Scope? = nil) async -> Bool {
        guard let value = await value(of: "credential.useHttpPath", for: url, in: scope) else { return false }
        return value.isEmpty || Bool(gitWord: value) == true
    }

    /// Returns a key's value for a URL; nil if it isn't set, or if git fails.
    private func value(of key: String, for url: String, in scope: Scope? = nil) async -> String? {
        let place = scope.map { [$0.rawValue, "--includes"] } ?? []
        let result = try? await git.run(["config"] + place + ["--get-urlmatch", key, url])
        guard let result, result.status == 0 else { return nil }
        return result.output.pieces(between: "\n").joined()
    }

    /// Parses a sequence of `file:PATH NUL KEY LF VALUE NUL`.
    private static func entries(_ output: String) -> [Entry] {
        let fields = output.pieces(between: "\0", omittingEmpty: false)
        return stride(from: 0, to: fields.count - 1, by: 2).map { index in
            let origin = fields[index]
            let pair = fields[index + 1].pieces(between: "\n", maxSplits: 1, omittingEmpty: false)
            return Entry(
                file: String(origin.hasPrefix("file:") ? origin.dropFirst(5) : origin), key: String(pair.first ?? ""),
                value: pair.count > 1 ? String(pair[1]) : "true")
        }
    }
}
