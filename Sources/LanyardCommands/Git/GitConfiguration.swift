import CredentialProtocol
import Rules

/// git's configuration, read and written by git itself.
struct GitConfiguration: Sendable {
    /// Whose file.
    enum Scope: String, Sendable {
        case global = "--global"
        case system = "--system"
    }

    /// One value of a key, and the file that sets it.
    struct Entry: Sendable, Equatable {
        let file: String
        /// As git prints it: section and variable in lower case, the part between as it was written.
        let key: String
        let value: String
    }

    let scope: Scope

    /// Everything that the scope's file and the files it includes set, in order; empty where there is no such file.
    func entries() async throws(Failure) -> [Entry] {
        let result = try await Git.run(["config", scope.rawValue, "--includes", "--null", "--show-origin", "--list"])
        guard result.status == 0 else {
            guard result.output.isEmpty, result.isFileMissing else {
                throw result.failure(doing: "reading its configuration")
            }
            return []
        }
        return Self.entries(result.output)
    }

    /// Everything that counts outside any repository, in order.
    static func everything() async throws(Failure) -> [Entry] {
        let result = try await Git.run(["-C", "/", "config", "--null", "--show-origin", "--list"])
        guard result.status == 0 else {
            guard result.output.isEmpty, result.isFileMissing else {
                throw result.failure(doing: "reading its configuration")
            }
            return []
        }
        return entries(result.output)
    }

    /// Adds a value to a key that may have others.
    func add(_ key: String, _ value: String) async throws(Failure) {
        let result = try await Git.run(["config", scope.rawValue, "--add", key, value])
        guard result.status == 0 else { throw result.failure(doing: "writing \(key.displayable())") }
    }

    /// Takes a value away from a key of a file; other values of it stay.
    static func remove(_ key: String, _ value: String, from file: String) async throws(Failure) {
        let pattern = "^\(value.map { ".^$*+?()[]{}|\\".contains($0) ? "\\\($0)" : "\($0)" }.joined())$"
        let result = try await Git.run(["config", "--file", file, "--unset-all", key, pattern])
        // 5 says that there is nothing to take away.
        guard [0, 5].contains(result.status) else { throw result.failure(doing: "writing \(key.displayable())") }
    }

    /// Whether git's `credential.interactive` forbids prompts for a URL.
    static func forbidsPrompts(for url: String) async -> Bool {
        guard let value = await value(of: "credential.interactive", for: url) else { return false }
        return forbidsPrompts(value)
    }

    /// Whether a value of `credential.interactive` does.
    static func forbidsPrompts(_ value: String) -> Bool {
        value.lowercased() == "never" || Bool(gitWord: value) == false
    }

    /// Whether git tells helpers the path of a URL.
    static func sendsPath(for url: String) async -> Bool {
        guard let value = await value(of: "credential.useHttpPath", for: url) else { return false }
        return value.isEmpty || Bool(gitWord: value) == true
    }

    /// What a key is for a URL; nil where it isn't set, or git can't tell.
    private static func value(of key: String, for url: String) async -> String? {
        guard let result = try? await Git.run(["config", "--get-urlmatch", key, url]), result.status == 0 else {
            return nil
        }
        return result.output.filter { !$0.isNewline }
    }

    /// Reads `file:PATH NUL KEY LF VALUE NUL` over and over.
    private static func entries(_ output: String) -> [Entry] {
        let fields = output.split(separator: "\0", omittingEmptySubsequences: false)
        return stride(from: 0, to: fields.count - 1, by: 2).map { index in
            let origin = fields[index]
            let pair = fields[index + 1].split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return Entry(
                file: String(origin.hasPrefix("file:") ? origin.dropFirst(5) : origin), key: String(pair.first ?? ""),
                value: pair.count > 1 ? String(pair[1]) : "true")
        }
    }
}
