import ArgumentParser
import CommandKit
import CredentialEngine
import Model
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

struct ConfigureCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "configure", abstract: "Make a tool use lanyard.",
        usage: "lanyard configure <tool> [<options>]\nlanyard configure --list",
        subcommands: [ConfigureGitCommand.self] + TableIndices.ofSetups.map { $0.configure })

    static let examples: KeyValuePairs = [
        "Make git use lanyard": "lanyard configure git",
        "See which tools are installed, and which use lanyard": "lanyard configure --list",
    ]

    @Flag(help: "List the tools: which are installed, and which use lanyard.")
    var list = false

    mutating func run(in context: CommandContext) async throws {
        guard list else { throw CleanExit.helpRequest(self) }
        let tools = ToolList(context)
        if let fault = tools.fault { context.console.note(fault) }
        for line in await tools.lines() { context.console.print(line) }
    }
}

struct ConfigureGitCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "git", abstract: "Make git use lanyard as a credential helper.",
        usage: "lanyard configure git [<options>] [<url>]",
        discussion: """
            Adds lanyard to git's credential helpers, and has git send the path to hosts where a rule or the service needs \
            it. With a URL, git asks lanyard for that host only, and lanyard can add the rule that says which token the URL \
            needs. For a code host that signs people in itself, it says where and how an application is \
            registered, and signs you in. Shows the changes and asks first; `lanyard unconfigure git` undoes them.
            """)

    static let examples: KeyValuePairs = [
        "Make git use lanyard for every host": "lanyard configure git",
        "For one host, with its rule, and without questions": """
        lanyard configure git \(Example.url) --yes \\
          --authority \(Example.authority) \\
          --client-id \(Example.clientID)
        """,
        "In a pipeline, as the application that its variables describe": "lanyard configure git --identity environment",
    ]

    @Argument(help: "The URL to use lanyard for; every URL if left out.")
    var url: String?

    @OptionGroup var scope: GitScopeOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Rule for the URL") var rule: RuleOptions
    @OptionGroup(title: "Rule for the URL") var page: SignInPageOptions

    @Option(
        help: ArgumentHelp(
            "The identity that git uses, an application's or a machine's; nobody is asked to sign in.",
            valueName: "name"))
    var identity: String?

    @Flag(help: "Make lanyard the only helper there.")
    var only = false

    mutating func validate() throws {
        if url == nil, hasRuleOptions { throw ValidationError("give the URL that the rule is for") }
    }

    private var hasRuleOptions: Bool { !rule.isEmpty || !page.texts.isEmpty }

    mutating func run(in context: CommandContext) async throws { try await run(in: context, goesOn: false) }

    /// Configures git; `goesOn` says that a sign-in follows.
    func run(in context: CommandContext, goesOn: Bool) async throws {
        let version = try await Git(context: context).requireUsable()
        let session = try Session(context, of: scope.system ? .system : .user, isToBeWritten: true)
        let pattern = try url.map { url throws(CommandError) in try URLPattern(typed: url) }
        try pattern?.requireGitPlace()
        if hasRuleOptions || identity != nil { try pattern?.requireTokenPlace() }
        if let pattern, !pattern.isTokenPlace {
            session.context.console.note(
                "\(CommandError.unencrypted(pattern.scheme)); there, lanyard only keeps the passwords that git asks you for"
            )
            session.context.console.hint(.overHTTPS(pattern.text))
        }
        let setting = try defaultIdentity(session, pattern)
        var plan = try await plan(session, pattern, version)
        if !options.dryRun { try await plan.requireWritable(session.context) }
        let found = try await found(for: pattern, session)
        let (rule, isAgreed) = found == nil ? try await rule(for: pattern, session) : (nil, true)
        if isAgreed, let rule, rule.pattern != pattern {
            plan = try await GitPlan(
                session, scope.scope, pattern: rule.pattern, isAlone: plan.isAlone, identity: identity, version)
        }
        var options = options
        options.yes = options.yes || isAgreed
        var steps = GitSteps(session: session, options: options, plan: plan, rule: rule)
        (steps.identity, steps.found) = (setting, found)
        // In a pipeline there is nobody to ask; `--identity` counts as the answer.
        steps.goesOnUnasked = identity != nil && Prompt(session.context) == nil
        guard try await steps.run() else { return }
        try await plan.requireAlone(session.context)
        if let identity { return try await tellNext(identity, pattern, session) }
        let prompt = self.options.prompt(session.context)
        let first = FirstSignIn(session, rule ?? unused(pattern, session), prompt)
        try await GitReport(
            session: session, plan: plan, pattern: pattern, version: version, rule: rule,
            goesOn: goesOn || first != nil || found != nil
        ).tell()
        try await first?.offer(isAgreed: isAgreed)
    }

    /// Returns an identity of this machine's that the user lets git use at a URL; nil if there is none, or another way was chosen.
    private func found(
        for pattern: URLPattern?, _ session: Session
    ) async throws(CommandError) -> HostRule? {
        let prompt = options.prompt(session.context)
        guard !hasRuleOptions, identity == nil, !scope.system, session.configuration.agent == nil,
            options.yes || prompt != nil,
            let found = try await HostRule.found(for: pattern, isOnlyWay: false, nil, session.context)
        else { return nil }
        guard let prompt else { return found }
        let question: Message =
            "have git use what the plugin \(found.finder) finds on this machine, without a sign-in?"
        return await prompt.accepts(question) ? found : nil
    }

    /// Returns the identity to write as the default; nil if it already is, or if it is for one URL only.
    private func defaultIdentity(_ session: Session, _ pattern: URLPattern?) throws(CommandError) -> String? {
        guard let identity else { return nil }
        _ = try session.identity(named: identity)
        guard pattern == nil, session.configuration.defaultIdentity != identity else { return nil }
        return identity
    }

    private func tellNext(_ identity: String, _ pattern: URLPattern?, _ session: Session) async throws(CommandError) {
        guard !options.dryRun else { return }
        let match = session.configuration.authorityPerRepository(of: identity, in: session.registry)
        let repository =
            pattern?.hasPath == true ? nil : match.map { "\(pattern?.place ?? "\($0.authority)")/OWNER/REPOSITORY" }
        let url = repository ?? pattern?.text
        session.context.console.note(
            Hint("to see whether it gets a token", run: "lanyard identity check \(identity)\(last: url)"))
    }

    /// Returns the URL's existing rule if nobody has signed in for it; the first sign-in may have failed.
    private func unused(_ pattern: URLPattern?, _ session: Session) -> Rule? {
        defer { session.context.console.endProgress() }
        guard let pattern, let rule = session.configuration.rules.last(where: { $0.pattern.means(pattern) }) else {
            return nil
        }
        do throws(CommandError) {
            guard let request = try session.resolve(pattern.request) else { return nil }
            switch session.acquirer.decide(request).step {
            case .askUser, .refuse(.noClientSecret): return rule
            default: return nil
            }
        } catch {
            // An application's tokens may be for one repository each.
            if rule.identity == nil { session.context.console.report(error) }
            return nil
        }
    }

    /// Returns what to write; if another helper may keep tokens, the user can choose to have git ask lanyard alone.
    private func plan(
        _ session: Session, _ pattern: URLPattern?, _ version: ToolVersion
    ) async throws(CommandError) -> GitPlan {
        let plan = try await GitPlan(
            session, scope.scope, pattern: pattern, isAlone: only, identity: identity, version)
        guard let keeper = plan.keepers.first else { return plan }
        session.context.console.note(
            "git \(version) also passes lanyard's tokens to \(keeper.name), which may keep them in a file")
        // Without a URL, this would also take other hosts' passwords away.
        guard pattern != nil, let prompt = options.prompt(session.context),
            await prompt.accepts("have git ask no other helper there, as with --only?")
        else { return plan }
        return try await GitPlan(session, scope.scope, pattern: pattern, isAlone: true, identity: identity, version)
    }

    /// Returns the rule to write, from the options or the user's answers; nil for none.
    ///
    /// `isAgreed` says that the user has agreed to all that follows.
    private func rule(
        for pattern: URLPattern?, _ session: Session
    ) async throws(CommandError) -> (rule: Rule?, isAgreed: Bool) {
        guard let pattern else { return (nil, false) }
        let prompt = identity == nil ? options.prompt(session.context) : nil
        if let identity, session.isMapped(pattern, for: identity) { return (nil, false) }
        var draft = RuleDraft(session: session, pattern: pattern, options: rule, page: page, prompt: prompt)
        draft.identity = identity
        if !hasRuleOptions, identity == nil {
            // Rules are on the agent's machine.
            guard session.configuration.agent == nil, !session.maps(pattern), pattern.isTokenPlace, let prompt
            else { return (nil, false) }
            // Don't offer what can't be written.
            do { try session.tables.requireRoom(for: pattern) } catch { return (nil, false) }
            if let rule = try await draft.ruleByOneQuestion() { return (rule, true) }
            if !draft.isElsewhere {
                guard await prompt.accepts("\(pattern.text) has no rule yet; add one?") else { return (nil, false) }
            }
        } else if let other = session.configuration.rules.first(where: { $0.pattern.means(pattern) }) {
            // A script may run again.
            draft.prompt = nil
            if let same = try? await draft.rule(), same.isLike(other) { return (nil, false) }
            throw conflict(with: other, session)
        } else if !options.dryRun {
            try session.tables.requireRoom(for: pattern)
        }
        return (try await draft.rule(), false)
    }

    /// Returns the error for an existing rule where a new one was requested.
    private func conflict(with other: Rule, _ session: Session) -> CommandError {
        let isOwn = other.file == session.tables.file
        if let identity {
            let whose = other.identity.map { "the identity \($0)" } ?? "people"
            let place = other.place(session.context)
            let edit = Hint("to change that, write there", write: "identity = \"\(identity)\"")
            let removal = isOwn ? Hint("or remove it first", run: session.tables.removal(of: other)) : nil
            return CommandError(
                "the rule for \(other.pattern.text), at \(place), is for \(whose), and not for the identity \(identity)",
                hints: [edit, removal].compactMap(\.self))
        }
        let hint =
            isOwn
            ? Hint("leave out the options that make a rule, or remove it first", run: session.tables.removal(of: other))
            : "leave out the options that make a rule, or edit \(other.place(session.context))"
        return CommandError(conflictWith: other, session.context, hint: hint)
    }
}

/// Where to configure git.
struct GitScopeOptions: ParsableArguments {
    @Flag(help: "For all users of this machine: in git's system configuration and lanyard's.")
    var system = false

    var scope: GitConfiguration.Scope { system ? .system : .global }
}

/// Whether to ask before other tools' settings are changed.
struct ChangeOptions: ParsableArguments {
    @Flag(name: [.customLong("dry-run"), .customShort("n")], help: "Show the changes without making them.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Don't ask first.")
    var yes = false

    /// Returns a prompt; nil if the user shouldn't or can't be asked.
    func prompt(_ context: CommandContext) -> Prompt? { yes || dryRun ? nil : Prompt(context) }

    /// Throws if the user can't be asked whether to change `subject`, unless the options say so.
    func requireAnswer(toChange subject: String, _ context: CommandContext) throws(CommandError) {
        guard !yes, !dryRun, Prompt(context) == nil else { return }
        throw CommandError(
            "there is no terminal to ask you whether to change \(subject)",
            hints: ["to change them without being asked: --yes; only to look: --dry-run"], status: .usage)
    }

    /// Whether to write what was shown: as the options say, or as the user answers.
    func confirm(_ context: CommandContext) async -> Bool {
        guard !dryRun else { return false }
        if yes { return true }
        if let prompt = Prompt(context), await prompt.accepts("go on?") { return true }
        context.console.note("nothing was changed")
        return false
    }
}

extension Session {
    /// Whether a URL maps to a token, with or without its path.
    func maps(_ pattern: URLPattern) -> Bool {
        let request = pattern.request
        if configuration.rule(for: request) != nil { return true }
        if configuration.rule(ofOtherHost: request, registry) != nil { return true }
        return registry.resource(of: pattern) != nil
            && (configuration.mapsKnownHosts || configuration.defaultIdentity != nil)
    }

    /// Whether a rule already gets the URL's tokens with this identity.
    fileprivate func isMapped(_ pattern: URLPattern, for identity: String) -> Bool {
        guard let rule = configuration.rule(for: pattern.request) else { return false }
        return (rule.identity ?? configuration.defaultIdentity) == identity
    }
}
