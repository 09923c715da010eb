import Addresses
import Glibc
import Model
import Rules
import Secrets
import SettingsFile
package import Terminal

/// git's configuration, read and written by git itself.
package struct GitConfiguration: Sendable {
    /// Whose configuration file it is.
    package enum Scope: String, Sendable {
        case global = "--global"
        case system = "--system"
    }

    /// One value of a key, and the file that sets it.
    package struct Entry: Sendable, Equatable {
        package let file: String
        /// The key as git prints it: section and variable in lower case, the part between them as written.
        package let key: String
        package let value: String
    }

    private let git: Git

    package init(_ context: CommandContext) {
        git = Git(context: context)
    }

    /// Returns everything that the scope's own file sets, in order; empty if there is no such file.
    package func ownEntries(of scope: Scope) async throws(CommandError) -> [Entry] {
        try await listed(["config", scope.rawValue, "--no-includes"])
    }

    /// Returns everything that a file sets, in order; empty if there is no such file.
    package func entries(of file: String) async throws(CommandError) -> [Entry] {
        try await listed(["config", "--file", file, "--no-includes"])
    }

    /// Returns everything that applies outside any repository, in order.
    package func everything() async throws(CommandError) -> [Entry] { try await listed(["-C", "/", "config"]) }

    /// Returns everything that applies in the working folder, also from the repository there.
    package func here() async throws(CommandError) -> [Entry] { try await listed(["config"]) }

    /// What counts for whom a scope is: everybody has the system's file and those that it includes, a user has all that git reads.
    package func whatCounts(for scope: Scope) async throws(CommandError) -> [Entry] {
        switch scope {
        case .system: try await listed(["config", scope.rawValue, "--includes"])
        case .global: try await everything()
        }
    }

    private func listed(_ words: [String]) async throws(CommandError) -> [Entry] {
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
    /// - Throws: `CommandError` with git's reason if it can't; with this hint if it lacks permission.
    package func requireWritable(_ scope: Scope, hint: Hint) async throws(CommandError) {
        try await requireWritable([scope.rawValue], hint: hint)
    }

    /// Makes git lock a file as for a change, without changing it.
    package func requireWritable(file: String, hint: Hint) async throws(CommandError) {
        try await requireWritable(["--file", file], hint: hint)
    }

    private func requireWritable(_ place: [String], hint: Hint) async throws(CommandError) {
        // The value doesn't exist; git reports that once it has the lock.
        let result = try await git.run(["config"] + place + ["--unset-all", "lanyard.isWritable"])
        guard [0, 5].contains(result.status) else {
            let isForbidden = result.errors.hasBytes("Permission denied")
            throw result.failure(
                doing: "opening its configuration to write",
                hints: [isForbidden ? hint : "look at that file and its folder, and try again"])
        }
    }

    /// Adds changes for one place at the end of the scope's file, where nothing in it comes after them.
    ///
    /// Every matching section counts for git's credentials, in the order of the files: a later helper is asked, too, and
    /// a later value replaces an earlier one (credential.c). `git config --add` would write into a section that is there
    /// already. So the values get a section that means nothing to git, and this is renamed once it is complete.
    package func append(_ changes: [GitChange], to scope: Scope) async throws(CommandError) {
        guard let first = changes.first else { return }
        let draft = Self.draft(of: first.place)
        // An earlier lanyard may have been killed.
        await removeDraft(of: first.place, from: scope)
        do throws(CommandError) {
            for change in changes {
                let words = [scope.rawValue, "--add", "\(draft).\(change.variable)", change.value]
                try await write(change.key, words)
            }
            try await write(first.section, [scope.rawValue, "--rename-section", draft, first.section])
        } catch {
            await removeDraft(of: first.place, from: scope)
            throw error
        }
    }

    /// Removes the unfinished section of a place, if there is one.
    package func removeDraft(of place: String, from scope: Scope) async {
        _ = try? await git.run(["config", scope.rawValue, "--remove-section", Self.draft(of: place)])
    }

    private static func draft(of place: String) -> String { place.isEmpty ? "lanyard" : "lanyard.\(place)" }

    /// The special characters of POSIX regular expressions.
    private static let special = Set(".^$*+?()[]{}|\\".unicodeScalars)

    /// Removes a value from a key in a file, as often as it was added at the end; the key's other values stay, and so do
    /// equal ones before it.
    package func remove(_ change: GitChange, times: Int, from file: String) async throws(CommandError) {
        let key = change.key
        let pattern =
            "^\(change.value.unicodeScalars.map { Self.special.contains($0) ? "\\\($0)" : "\($0)" }.joined())$"
        let equals = try await entries(of: file).count(where: change.stands)
        guard equals > times else {
            // 5 means that there is nothing to remove.
            return try await write(key, ["--file", file, "--unset-all", key, pattern], accepting: [0, 5])
        }
        // git can't remove one of several equal values.
        try await removeLines(of: change, times: times, from: file)
    }

    /// Removes the last lines of a value, and the header above them if nothing else is in their section, under git's own
    /// lock for the file.
    private func removeLines(of change: GitChange, times: Int, from file: String) async throws(CommandError) {
        let lock = SettingsText.target(of: file) + ".lock"
        let descriptor = open(lock, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError("\(git.context.short(file)) is being changed by git", hints: ["try again"])
        }
        close(descriptor)
        defer { unlink(lock) }
        let entries = try await entries(of: file)
        do throws(SettingsError) {
            let text = try SettingsText(reading: file)
            var lines = (text.text ?? "").pieces(between: "\n", omittingEmpty: false)
            guard let ours = entries.last(where: change.stands) else { return }
            let found = zip(
                entries.filter { $0.key == ours.key }, GitConfiguration.Entry.lines(of: ours.key, in: lines))
            for (_, number) in found.filter({ change.stands(as: $0.0) }).suffix(times).reversed() {
                let isAlone =
                    number > 0 && lines[number - 1].hasPrefix("[")
                    && (number + 1 == lines.count || lines[number + 1].isEmpty && number + 2 == lines.count
                        || lines[number + 1].hasPrefix("["))
                lines.removeSubrange((isAlone ? number - 1 : number)...number)
            }
            try text.replace(with: lines.joined(separator: "\n"))
        } catch {
            throw CommandError(error)
        }
    }

    private func write(_ key: String, _ words: [String], accepting statuses: [Int32] = [0]) async throws(CommandError) {
        let result = try await git.run(["config"] + words)
        guard statuses.contains(result.status) else { throw result.failure(doing: "writing \(key.displayable())") }
    }

    /// Whether git's `credential.interactive` forbids prompts for a URL.
    package func forbidsPrompts(for url: String) async -> Bool {
        await value(of: "credential.interactive", for: url).map(Self.forbidsPrompts) ?? false
    }

    /// Whether a value of `credential.interactive` forbids prompts.
    package static func forbidsPrompts(_ value: String) -> Bool {
        value.lowercased() == "never" || Bool(gitWord: value) == false
    }

    /// Whether git has a client certificate for a URL, which a server may ask for.
    func hasClientCertificate(for url: String) async -> Bool {
        if let own = git.context.variable("GIT_SSL_CERT"), !own.isEmpty { return true }
        return await value(of: "http.sslCert", for: url)?.isEmpty == false
    }

    /// Whether git sends helpers the path of a URL, according to a scope's file or to everything that applies.
    package func sendsPath(for url: String, in scope: Scope? = nil) async -> Bool {
        let place = scope.map { [$0.rawValue, "--includes"] } ?? []
        guard let entries = try? await listed(["config"] + place),
            let request = (try? CredentialRequest(url: url)) ?? URLPattern(url)?.request
        else { return false }
        // `git config --get-urlmatch` returns the value of the closest section, but git's credentials have the last one.
        let last = entries.last { entry in
            entry.place(of: "usehttppath").map { GitHelpers.applies($0, to: request) } == true
        }
        return last.map { $0.value.isEmpty || Bool(gitWord: $0.value) == true } ?? false
    }

    /// Returns a key's value for a URL; nil if it isn't set, or if git fails.
    private func value(of key: String, for url: String) async -> String? {
        let result = try? await git.run(["config", "--get-urlmatch", key, url])
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

extension GitConfiguration.Entry {
    /// Whether a file sets it, and not the environment or git's command line.
    package var isInFile: Bool { file != "command line:" }

    /// Returns where it stands among all entries, for users: a file and its line, if that is found.
    package func origin(among entries: [Self], _ context: CommandContext) -> String {
        guard isInFile else { return "the environment" }
        let shown = context.short(file)
        let equals = entries.filter { $0.file == file && $0.key == key }
        guard let index = equals.firstIndex(of: self), let text = (try? SettingsText(reading: file))?.text else {
            return shown
        }
        let lines = Self.lines(of: key, in: text.pieces(between: "\n", omittingEmpty: false))
        return index < lines.count ? "\(shown):\(lines[index] + 1)" : shown
    }

    /// The command that removes it, and what else there is of its key in the same place.
    package var removal: ShellCommand {
        guard isInFile else { return "unset GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS" }
        if file.hasPrefix("/") { return "git config --file \(file) --unset-all \(key)" }
        // git prints the paths of a repository's files as they are from its top.
        return "git config\(flag: "--worktree", if: file.hasSuffix("config.worktree")) --unset-all \(key)"
    }

    /// Returns the indices of the lines on which a file sets a key.
    fileprivate static func lines(of key: String, in lines: [Substring]) -> [Int] {
        var section = ""
        var found: [Int] = []
        for (index, line) in lines.enumerated() {
            var rest = line.trimmed(of: " \t\r")
            if rest.hasPrefix("[") {
                let end = rest.hasBytes("\"") ? rest.cut(atLast: "\"") : rest.cut(at: "]")
                let words = (end?.0 ?? rest).dropFirst().cut(at: "\"") ?? ((end?.0 ?? rest).dropFirst(), "")
                section = words.0.trimmed().lowercased() + (words.1.isEmpty ? "" : ".\(words.1)")
                rest = (end?.1 ?? "").trimmed(of: "] \t")
            }
            let name = (rest.cut(at: "=")?.0 ?? rest).trimmed().lowercased()
            if !name.isEmpty, "\(section).\(name)".isSame(as: key) { found.append(index) }
        }
        return found
    }
}
