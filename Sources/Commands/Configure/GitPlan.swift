import Addresses
import CommandKit
import CredentialEngine
import Model
import PluginHost
import Rules
import Secrets
import Terminal
import Tools

/// The changes that make git ask lanyard.
struct GitPlan: Sendable {
    let scope: GitConfiguration.Scope
    let changes: [GitChange]
    /// The request whose helpers matter; nil for all URLs.
    let request: CredentialRequest?
    /// The helpers that may store the tokens that lanyard returns.
    let keepers: [GitHelpers.Helper]
    private let pattern: URLPattern?
    /// The host that lanyard is to be alone for; nil for all.
    private let host: URLPattern?
    let isAlone: Bool
    /// The identity of a rule that is added for the pattern; nil for none.
    private let identity: String?
    private let version: ToolVersion

    /// Determines what is missing.
    ///
    /// Without a pattern, git asks lanyard for every URL. If `isAlone`, git asks no other helper.
    init(
        _ session: Session, _ scope: GitConfiguration.Scope, pattern: URLPattern?, isAlone: Bool, identity: String?,
        _ version: ToolVersion
    ) async throws(CommandError) {
        self.scope = scope
        self.pattern = pattern
        self.identity = identity
        self.isAlone = isAlone
        self.version = version
        request = pattern?.request
        let place = pattern?.place ?? ""
        let git = GitConfiguration(session.context)
        host = pattern == nil ? nil : URLPattern(place)
        let entries = try await git.whatCounts(for: scope)
        let helpers = GitHelpers(entries, for: request)
        keepers = isAlone || version.takesTokens ? [] : helpers.all.filter(\.mayKeep)
        var changes: [GitChange] = []
        // Nothing in a file changes what the environment adds.
        let inFiles = entries.filter(\.isInFile)
        if isAlone ? !GitHelpers(inFiles, anywhereAt: host).isLanyardAlone : !helpers.hasLanyard {
            if isAlone { changes.append(GitChange(place: place, variable: "helper", value: "")) }
            changes.append(GitChange(place: place, variable: "helper", value: Self.helper(session.context)))
        }
        for place in Self.placesByPath(session, pattern, identity) {
            guard await !git.sendsPath(for: place, in: scope == .system ? .system : nil) else { continue }
            changes.append(GitChange(place: place, variable: "useHttpPath", value: "true"))
        }
        self.changes = changes
    }

    /// Throws if the changes can't be written, before the user is asked anything.
    func requireWritable(_ context: CommandContext) async throws(CommandError) {
        guard !changes.isEmpty else { return }
        if scope == .system { try await GitConfiguration(context).requireWritable(scope, hint: context.asRoot) }
        try GitRecord(scope, context).file.requireWritable()
    }

    /// Records the changes and then writes them, so that lanyard never leaves a change without a record, even if it is
    /// killed.
    ///
    /// - Throws: `CommandError` also if other changes would be needed by now.
    func write(_ session: Session) async throws(CommandError) {
        let record = try GitRecord(scope, session.context)
        let locked = try record.file.locked()
        let now = try await GitPlan(
            session, scope, pattern: pattern, isAlone: isAlone, identity: identity, version
        ).changes
        // Another lanyard may have written the same changes meanwhile.
        guard !now.isEmpty else { return }
        guard now == changes else {
            throw CommandError("git's configuration changed meanwhile, so nothing was written", hints: ["try again"])
        }
        let before = try await record.standing(record.entries())
        // A file that an earlier lanyard created counts as new this time, too.
        let isNew = scope.file(session.context).isMissing || before.contains(where: \.isNew)
        let begun = changes.map { GitRecord.Entry(change: $0, file: nil, isNew: isNew) }
        try locked.write(before + begun)
        // What an earlier lanyard wrote, and what other values override now.
        let moved = before.filter { changes.contains($0.change) }
        let kept = before.filter { !moved.contains($0) }
        var written = 0
        do throws(CommandError) {
            try await record.remove(moved)
            for place in changes.map(\.place).uniqued {
                let section = changes.filter { $0.place == place }
                try await GitConfiguration(session.context).append(section, to: scope)
                written += section.count
            }
        } catch {
            // Values that weren't written may be there as the user's own.
            try? await locked.write(record.standing(before) + begun.prefix(written))
            throw CommandError(error.message, hints: remedies(session.context))
        }
        try await locked.write(kept + record.standing(begun))
    }

    /// Throws if git asks another helper although lanyard is to be the only one.
    ///
    /// What comes after the scope's file isn't changed: the settings of the repository in the working folder, and those
    /// in the environment.
    func requireAlone(_ context: CommandContext) async throws(CommandError) {
        guard isAlone else { return }
        let git = GitConfiguration(context)
        let entries = try await scope == .system ? git.whatCounts(for: scope) : git.here()
        guard let other = GitHelpers(entries, anywhereAt: host).all.first(where: { !$0.isLanyard }),
            let entry = entries.last(where: {
                $0.value == other.value && $0.file == other.file
                    && $0.place(of: "helper").map { GitHelpers.mayApply($0, at: host) } == true
            })
        else { return }
        let place = pattern?.place.displayable(limit: 200) ?? "every URL"
        throw CommandError(
            "for \(place) git still asks \(other.name), because of \(entry.origin(among: entries, context))",
            hints: [Hint("to remove it", run: entry.removal)])
    }

    private func remedies(_ context: CommandContext) -> [Hint] {
        guard scope == .global else { return [context.asRoot] }
        let lines = GitChange.text(changes).map { Hint(write: $0.displayable()) }
        return ["if another tool generates that file, have it add:"] + lines
    }

    /// Returns the hosts of rules with a path, and those where plugins find an organisation in the path.
    private static func placesByPath(
        _ session: Session, _ pattern: URLPattern?, _ identity: String?
    ) -> [String] {
        let known = session.registry.gitHosts.map { "https://\($0)" }
        let (rules, registry) = (session.configuration.rules, session.registry)
        let places = Set(rules.compactMap { session.configuration.placeByPath(of: $0, in: registry) } + known)
        guard let pattern else { return places.sorted() }
        let place = pattern.place
        // A forwarded URL may well have a path.
        guard session.configuration.agent == nil else { return [place] }
        // A rule for the pattern is about to be added, unless one without a path covers the host.
        let isCovered = session.configuration.rules.contains { !$0.pattern.hasPath && $0.pattern.host == pattern.host }
        if places.contains(place) || pattern.placeWithPath != nil && !isCovered { return [place] }
        guard let identity, session.configuration.rule(for: pattern.request)?.identity != identity else { return [] }
        return session.configuration.authorityPerRepository(of: identity, in: registry) == nil ? [] : [place]
    }

    /// Returns `lanyard` if git finds git-credential-lanyard on PATH, else the path of the one beside this program.
    private static func helper(_ context: CommandContext) -> String {
        if context.program("git-credential-lanyard") != nil { return "lanyard" }
        // git passes an absolute path, followed by the operation, to a shell.
        let path = InstalledFiles(context).credentialHelper ?? context.executable
        let escaped = path.utf8.flatMap { $0.isPlainInShell ? [$0] : [UInt8(ascii: "\\"), $0] }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether a shell takes the byte literally, as it does all that are outside ASCII.
    fileprivate var isPlainInShell: Bool { self >= 0x80 || isAlphanumeric || "/._-+~".utf8.contains(self) }
}
