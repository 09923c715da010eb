import Addresses
import CommandKit
import Model
import Rules
import Secrets
import SettingsFile
import Terminal
import Tools

/// Shows what `configure git` will do, asks the user, and does it.
struct GitSteps {
    let session: Session
    let options: ChangeOptions
    let plan: GitPlan
    let rule: Rule?
    /// The new `default-identity`; nil if it doesn't change.
    var identity: String?
    /// The rule for an identity of this machine's; nil if none is written.
    var found: HostRule?
    /// Whether to go on without an answer.
    var goesOnUnasked = false

    private var console: Console { session.context.console }

    /// Returns false if nothing was changed.
    func run() async throws(CommandError) -> Bool {
        guard !plan.changes.isEmpty || rule != nil || identity != nil || found != nil else {
            console.note("git is configured already; nothing has to be changed")
            return true
        }
        if !goesOnUnasked { try options.requireAnswer(toChange: "git's configuration", session.context) }
        show()
        if options.dryRun || !goesOnUnasked {
            guard await options.confirm(session.context) else { return false }
        }
        if !plan.changes.isEmpty { try await plan.write(session) }
        if let rule { try session.tables.write(rule) }
        try found?.write()
        if let identity { try write(identity) }
        return true
    }

    private func write(_ identity: String) throws(CommandError) {
        let place = try SettingFileTarget(
            of: SettingKey("default-identity"), isSystem: session.scope == .system, in: session.context)
        try place.change { file throws(SettingsError) in
            try file.set("default-identity", to: .text(identity), schema: InstalledFiles(session.context).schema)
        }
    }

    private func show() {
        let would = options.dryRun ? "would be" : "is"
        if !plan.changes.isEmpty {
            console.note("this \(would) added to \(plan.scope.file(session.context).name):")
            for line in GitChange.text(plan.changes) { console.note("  \(line)") }
        }
        if let rule {
            console.note("this \(would) added to \(session.context.short(session.tables.file)):")
            for line in rule.toml.pieces(between: "\n") { console.note("  \(line.description)") }
        }
        found?.show(isDryRun: options.dryRun)
        if let identity {
            console.note("this \(would) set in \(session.context.short(session.tables.file)):")
            console.note("  default-identity = \"\(identity)\"")
        }
    }
}

/// Reports git's state once it is configured.
struct GitReport {
    let session: Session
    let plan: GitPlan
    let pattern: URLPattern?
    let version: ToolVersion
    /// The rule that was written; nil for none.
    let rule: Rule?
    /// Whether the user is about to be asked to sign in.
    let goesOn: Bool

    private var console: Console { session.context.console }
    private var isForAll: Bool { plan.scope == .system }

    func tell() async throws(CommandError) {
        let helpers = GitHelpers(
            try await GitConfiguration(session.context).whatCounts(for: plan.scope), for: plan.request)
        let place = pattern?.place
        console.note("for \(place ?? "every URL"), git asks in this order: \(helpers.names)")
        let command: ShellCommand =
            "lanyard configure git \(place ?? "URL") --only\(flag: "--system", if: isForAll)"
        if let keeper = helpers.keepers(version).first {
            console.note(
                Hint("\(keeper.name) may keep the tokens that git passes to it; for lanyard alone", run: command))
        } else if let first = helpers.beforeLanyard.first {
            console.note(Hint("\(first.name) answers first if it can; for lanyard alone", run: command))
        }
        if !goesOn { next() }
    }

    private func next() {
        // Rules and sign-ins are on the agent's machine.
        guard session.configuration.agent == nil else { return }
        guard let pattern else {
            guard session.configuration.rules.isEmpty, session.configuration.clientID == nil else { return }
            console.note(
                Hint(
                    "next, say which URL needs a token",
                    run: "lanyard configure git URL\(flag: "--system", if: isForAll)"))
            return
        }
        if let rule {
            // Others sign in for what a source gives.
            guard rule.source == nil else { return }
            let next: Message = isForAll ? "next, for each who needs it" : "next"
            console.note(Hint(next, run: "lanyard login \(pattern.text)"))
        } else if !session.maps(pattern), pattern.isTokenPlace {
            console.note(
                Hint(
                    "no rule says yet which token it needs; next",
                    run: "lanyard rule add\(flag: "--system", if: isForAll) \(pattern.text)"))
        }
    }
}

extension GitConfiguration.Scope {
    /// Returns the file's name for users, and whether git will create it; false for the system's, since only git knows where that is.
    func file(_ context: CommandContext) -> (name: String, isMissing: Bool) {
        switch self {
        case .system: return ("git's system configuration", false)
        case .global:
            let home = (context.variable("HOME") ?? "") + "/.gitconfig"
            let other = context.variable("XDG_CONFIG_HOME") ?? (context.variable("HOME") ?? "") + "/.config"
            let own = context.variable("GIT_CONFIG_GLOBAL")
            let isOther = !context.isFile(home) && context.isFile(other + "/git/config")
            let path = own ?? (isOther ? other + "/git/config" : home)
            return (context.short(path), !context.isFile(path))
        }
    }
}
