import ArgumentParser
import CredentialProtocol
import Glibc
import Rules

/// `lanyard configure`.
struct Configure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a tool use lanyard.", subcommands: [ConfigureGit.self])
}

/// `lanyard configure git`.
struct ConfigureGit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git", abstract: "Make git use lanyard as a credential helper.",
        discussion: """
            Adds lanyard to the helpers that git asks, and has git send the path along for hosts where a rule or the \
            service tells repositories apart by it.
            """)

    @Flag(help: "For everybody on this machine, in git's system configuration.")
    var system = false

    mutating func run() async throws {
        let session = try Session()
        let git = GitConfiguration(scope: system ? .system : .global)
        let console = session.context.console
        var changes = 0
        let helper = Self.helperName(session.context)
        if try await !git.values("credential.helper").contains(where: Self.isOurs) {
            try await git.add("credential.helper", helper)
            console.note("git config \(git.scope.rawValue) --add credential.helper \(helper)")
            changes += 1
        }
        for place in Self.placesByPath(session) {
            let key = "credential.\(place).useHttpPath"
            guard try await git.values(key).last != "true" else { continue }
            try await git.set(key, "true")
            console.note("git config \(git.scope.rawValue) \(key) true")
            changes += 1
        }
        if changes == 0 { console.note("git is configured already") }
    }

    private static func isOurs(_ helper: String) -> Bool {
        helper == "lanyard" || helper.split(separator: "/").last.map { $0 == "git-credential-lanyard" } == true
    }

    /// The hosts of rules with a path, and those that name an organisation by path.
    private static func placesByPath(_ session: Session) -> [String] {
        let rules = session.configuration.rules.compactMap(\.pattern.placeWithPath)
        return Set(rules + ["https://dev.azure.com"]).sorted()
    }

    /// `lanyard` where git finds git-credential-lanyard on PATH, else the path of the one beside this program.
    private static func helperName(_ context: CommandContext) -> String {
        let folders = (context.variable("PATH") ?? "").split(separator: ":")
        if folders.contains(where: { access("\($0)/git-credential-lanyard", X_OK) == 0 }) { return "lanyard" }
        let folder = context.executable.split(separator: "/").dropLast().joined(separator: "/")
        let beside = "/\(folder)/git-credential-lanyard"
        // An absolute path with nothing else to it is run by git as it is, so that the verb is its only argument.
        return access(beside, X_OK) == 0 ? beside : context.executable
    }
}
