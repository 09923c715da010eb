import Addresses
import ArgumentParser
import Claims
import CommandKit
import CredentialEngine
import JSON
import Model
import PluginHost
import Rules
import Secrets
import Terminal

struct RuleCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "rule", abstract: "Manage the rules that map URLs to tokens.",
        subcommands: [
            RuleAddCommand.self, RuleListCommand.self, RuleRemoveCommand.self, RuleSecretCommand.self,
        ], aliases: ["rules"])

    static let examples: KeyValuePairs = ["See the rules": "lanyard rule list"]
}

struct RuleAddCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a rule.",
        usage: "lanyard rule add [<options>] <url>",
        discussion: "At a terminal, you are asked for what the options leave open. The rest of the file stays as it is."
    )

    static let examples: KeyValuePairs = [
        "Map a git server": """
        lanyard rule add \(Example.ownURL) \\
          --authority \(Example.authority) \\
          --client-id \(Example.clientID) \\
          --scope \(Example.ownScope)
        """
    ]

    @Argument(help: "The URLs: scheme, host (* stands for one label), port, and a path of whole segments.")
    var url: String

    @OptionGroup var place: ScopeOptions
    @OptionGroup var options: RuleOptions
    @OptionGroup var whose: IdentityOption
    @OptionGroup(title: "Sign-in page") var page: SignInPageOptions

    @Option(
        help: ArgumentHelp(
            "Where to look the credential up instead, such as pass:git/contoso.", valueName: "name:reference"))
    var source: String?

    @Flag(help: "Register lanyard at the authority, if it accepts registrations, instead of giving a client ID.")
    var register = false

    @Flag(name: .shortAndLong, help: "Don't ask before registering.")
    var yes = false

    mutating func validate() throws {
        if source != nil, !options.isEmpty || !page.texts.isEmpty || whose.identity != nil || register {
            throw ValidationError("give --source, or the options that describe a token, not both")
        }
        if register, options.clientId != nil { throw ValidationError("give --client-id or --register, not both") }
        if register, whose.identity != nil { throw ValidationError("give --identity or --register, not both") }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, of: place.scope, isToBeWritten: true)
        let pattern = try URLPattern(typed: url)
        try pattern.requireTokenPlace()
        let prompt = Prompt(session.context)
        let isReplaced: Bool
        do throws(CommandError) {
            try session.tables.requireRoom(for: pattern)
            isReplaced = false
        } catch {
            let other = try session.tables.table { (rule: Rule) in rule.pattern.means(pattern) }
            guard let other else { throw error }
            // A script may run again.
            if !register, let same = try? await rule(for: pattern, session, nil), same.isLike(other) {
                let place = other.place(session.context)
                return session.context.console.note("the rule for \(other.pattern.text) is there already, at \(place)")
            }
            guard let prompt else { throw error }
            session.context.console.note(Hint(error.message))
            guard await prompt.decision("replace it?", suggesting: false) == true else { throw error }
            isReplaced = true
        }
        var rule = try await rule(for: pattern, session, prompt)
        if register { rule.clientID = try await ClientRegistrar(session: session, isAgreed: yes).clientID(for: rule) }
        try session.tables.write(rule, replacing: isReplaced)
        let console = session.context.console
        console.note("added a rule for \(pattern.text) to \(session.context.short(session.tables.file))")
        let next: Message = place.system ? "next, for each who needs it" : "next"
        let isSignedIn =
            source != nil || !place.system && (try? Session(session.context))?.isSignedIn(for: pattern) == true
        if !isSignedIn || !pattern.hasWildcard {
            console.note(Hint(next, run: "lanyard \(isSignedIn ? "token" : "login")\(last: pattern.text)"))
        }
        // git doesn't use tokens that have to be exchanged first.
        let isExchanging = rule.exchange != nil || session.registry.exchanges(forHost: pattern.host.text)
        guard !isExchanging, let lack = await rule.lackInGit(session) else { return }
        console.note(
            Hint(
                "if it is for git: \(lack)",
                run: "lanyard configure git\(flag: "--system", if: place.system) \(pattern.text)"))
    }

    private func rule(
        for pattern: URLPattern, _ session: Session, _ prompt: Prompt?
    ) async throws(CommandError) -> Rule {
        if let source { return try Rule(pattern, source: source, session.registry) }
        var draft = RuleDraft(session: session, pattern: pattern, options: options, page: page, prompt: prompt)
        draft.leavesClientOpen = register
        draft.identity = whose.identity
        return try await draft.rule()
    }
}

extension Rule {
    /// Creates a rule for a credential that is looked up.
    fileprivate init(_ pattern: URLPattern, source: String, _ registry: PluginRegistry) throws(CommandError) {
        let (name, reference) = PluginRegistry.parts(ofSource: source)
        guard let row = registry.source(named: name)?.row else {
            throw CommandError(unknownSource: name, registry.sourceNames)
        }
        guard !row.needsReference || !reference.isEmpty else { throw CommandError(entryless: name) }
        self.init(pattern: pattern, authority: "", scopes: [])
        self.source = source
    }

    /// Returns why git wouldn't ask with the path that the rule needs, which only `configure git` changes; nil if it would.
    fileprivate func lackInGit(_ session: Session) async -> String? {
        let git = GitConfiguration(session.context)
        let scope: GitConfiguration.Scope = session.scope == .system ? .system : .global
        guard pattern.hasPathOfGit || session.configuration.placeByPath(of: self, in: session.registry) != nil,
            session.context.program("git") != nil,
            await !git.sendsPath(for: pattern.text, in: scope == .system ? .system : nil)
        else { return nil }
        let helpers = (try? await git.whatCounts(for: scope)).map { GitHelpers($0, for: pattern.request) }
        return helpers?.hasLanyard == true
            ? "git does not send the path of \(pattern.text.displayable(limit: 500)) yet"
            : "git does not ask lanyard for this host yet"
    }
}

struct RuleListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the rules, and where each one is.")

    static let examples: KeyValuePairs = ["See each rule's URL": "lanyard rule list --json | jq --raw-output '.[].url'"]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let rules = session.configuration.rules
        let console = session.context.console
        if json {
            console.print(json: .array(rules.map { $0.json(session) }))
            return
        }
        guard !rules.isEmpty else {
            console.note(.addingRule(after: "there are no rules; "))
            return
        }
        let columns = Console.columns
        for rule in rules {
            console.print(rule.pattern.text.displayable(limit: 500))
            let table = Table(rule.facts(session).map { [$0, $1] }, atLeast: [9])
            for line in table.wrapped(columns: columns, indent: 4) { console.print("    \(line)") }
        }
    }
}

extension Rule {
    fileprivate func facts(_ session: Session) -> [(String, String)] {
        if let unknownKey {
            let nothing = "nothing: the key \(unknownKey) is not known"
            return [("gives", nothing), ("from", place(session.context))]
        }
        if let source { return [("source", source), ("from", place(session.context))] }
        let whose = session.configuration.app(at: authority) == nil ? "the default" : "the authority's [[client]]"
        let client = clientID ?? session.configuration.clientID(at: authority).map { "\($0) (\(whose))" } ?? "none"
        var facts = [("authority", authority.isEmpty ? "the identity's" : authority)]
        if let identity {
            facts.append(("identity", identity))
        } else {
            facts.append(("client ID", client))
        }
        facts.append(("scopes", displayedScopes(session)))
        if token == .id { facts.append(("token", "the ID token")) }
        if let exchange { facts.append(("exchange", exchange)) }
        for (name, value) in exchangeParameters.sorted(by: { $0.key < $1.key }) {
            facts.append((name, value))
        }
        if let account { facts.append(("account", account)) }
        if let kind { facts.append(("kind", kind)) }
        for (label, texts) in [("resources", resourceIndicators), ("issuer hosts", issuerHosts)] where !texts.isEmpty {
            facts.append((label, texts.joined(separator: " ")))
        }
        for parameter in SignInParameter.ofRules {
            facts += signIn.texts(of: parameter).map { (parameter.label, $0) }
        }
        return facts + [("from", place(session.context))]
    }

    private func displayedScopes(_ session: Session) -> String {
        guard scopes.isEmpty else { return scopes.joined(separator: " ") }
        let match = session.registry.match(self)
        if let exchange, let wanted = match?.scopes(ofExchange: exchange, for: pattern) {
            return wanted.joined(separator: " ") + " (the exchange's)"
        }
        if token == .id { return "openid" }
        let issuer = match?.issuer
        guard let wanted = issuer.flatMap({ session.registry.scopes(of: $0, forHost: pattern.host.name) }) else {
            return "none"
        }
        let whose = wanted == issuer?.scopes ? "authority" : "host"
        return (wanted.isEmpty ? ["none"] : wanted).joined(separator: " ") + " (the \(whose)'s)"
    }

    fileprivate func json(_ session: Session) -> JSONValue {
        var members: [String: JSONValue] = [
            "url": .string(pattern.text), "authority": authority.isEmpty ? .null : .string(authority),
            "identity": JSONValue(identity), "source": JSONValue(source),
            "clientId": JSONValue(session.configuration.clientID(of: self)),
            "scopes": JSONValue(strings: scopes), "token": .string(token.rawValue), "exchange": JSONValue(exchange),
            "exchangeParameters": .object(exchangeParameters.mapValues(JSONValue.string)),
            "account": JSONValue(account), "kind": JSONValue(kind),
            "resourceIndicators": JSONValue(strings: resourceIndicators),
            "issuerHosts": JSONValue(strings: issuerHosts),
            "file": .string(file),
            "line": JSONValue(line),
        ]
        for parameter in SignInParameter.ofRules { members[parameter.member] = signIn[parameter]?.json ?? .null }
        if signIn.queryParameters.isEmpty { members[SignInParameter.queryParameters.member] = [:] }
        return .object(members)
    }
}

extension SignInParameter.Value {
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .integer(Int64(number))
        case .table(let values): .object(values.mapValues(JSONValue.string))
        }
    }
}

struct RuleRemoveCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a rule.",
        discussion: "Also removes the comment right above it; the rest of the file stays as it is.")

    static let examples: KeyValuePairs = ["Remove the rule for a URL": "lanyard rule remove \(Example.url)"]

    @Argument(help: "The rule's URL, as `lanyard rule list` shows it.")
    var url: String

    @OptionGroup var place: ScopeOptions

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, of: place.scope)
        // The file may also have what no command adds.
        let pattern = try URLPattern(url) ?? URLPattern(typed: url)
        guard try session.tables.removeTable(where: { (rule: Rule) in rule.pattern.means(pattern) }) else {
            throw CommandError(
                missing: "rule for \(pattern.text)", session,
                elsewhere: session.configuration.rules.first { $0.pattern.means(pattern) }, name: \.pattern.text)
        }
        session.context.console.note(
            "removed the rule for \(pattern.text) from \(session.context.short(session.tables.file))")
    }
}

/// The options for a new rule.
struct RuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The authority, such as \(Example.authority), or a tenant's domain.", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("The client ID of your app registration, or an app's name.", valueName: "id"))
    var clientId: String?

    @Option(
        help: ArgumentHelp("A scope; may be repeated. Well-known hosts need none.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "A resource instead of scopes: its identifier, or a name such as \"Azure DevOps\".", valueName: "resource"))
    var resource: String?

    @Option(
        help: ArgumentHelp("Which token of the sign-in the URL gets: access or id.", valueName: "token"),
        transform: TokenRequest.Kind.init(option:))
    var token = TokenRequest.Kind.access

    @Option(help: ArgumentHelp("The account: a user name or an identifier.", valueName: "account"))
    var account: String?

    /// The kinds of all plugins that come with lanyard; kinds of other plugins aren't known when options are parsed.
    static let kinds = [
        "aad", "adfs", "b2c", "bitbucket", "bitbucket-dc", "ciam", "forgejo", "gitea", "github", "gitlab",
        "googlesource", "huggingface", "identity-center", "oidc",
    ]

    @Option(
        help: ArgumentHelp(
            "The kind of authority, if its URL doesn't show it: \(kinds.joined(separator: ", ")).", valueName: "kind"))
    var kind: String?

    /// The exchanges of all plugins that come with lanyard.
    static let exchanges = ["acr", "aws-codeartifact", "aws-ecr", "aws-ecr-public", "aws-sso", "aws-sts"]

    @Option(
        help: ArgumentHelp(
            "How the token is exchanged for what the host accepts: \(exchanges.joined(separator: ", ")). Known hosts need none.",
            valueName: "name"))
    var exchange: String?

    @Option(
        help: ArgumentHelp(
            "What the exchange takes besides, such as role=123456789012/Developer; may be repeated.",
            valueName: "name=value"))
    var exchangeParameter: [String] = []

    @Flag(help: "Accept an authority at a host that no plugin knows.")
    var trustAuthority = false

    mutating func validate() throws {
        kind = kind?.lowercased()
        if resource != nil, !scope.isEmpty { throw ValidationError("give --scope or --resource, not both") }
        if let wrong = exchangeParameter.first(where: { ($0.cut(at: "=")?.0 ?? "").isEmpty }) {
            throw ValidationError("write --exchange-parameter NAME=VALUE, not \(wrong.displayable(limit: 100))")
        }
    }

    /// The parameters of the exchange, by name.
    var exchangeParameters: [String: String] {
        let pairs = exchangeParameter.compactMap { $0.cut(at: "=") }.map { (String($0.0), String($0.1)) }
        return Dictionary(pairs) { $1 }
    }

    var isEmpty: Bool {
        authority == nil && clientId == nil && scope.isEmpty && resource == nil && account == nil && kind == nil
            && exchange == nil && token == .access && exchangeParameter.isEmpty
    }
}

extension TokenRequest.Kind {
    fileprivate init(option: String) throws {
        guard let kind = Self(rawValue: option) else { throw ValidationError("it is access or id") }
        self = kind
    }
}
