import Addresses
package import ArgumentParser
package import Claims
package import Model
package import PluginHost
import Rules
import Secrets
package import Terminal
package import TokenAcquisition

/// A command whose arguments say which token is wanted and how to sign in for it.
///
/// The option groups aren't nested: a debug build of the argument parser validates a group again for each group that
/// contains it, which takes most of a second for three levels.
package protocol TokenNamingCommand: Command {
    var url: String? { get }
    var named: NamedTokenOptions { get }
    var interaction: InteractionOptions { get }
    var signIn: SignInOptions { get }
    var page: SignInPageOptions { get }
    /// The name of the identity to get the token as; nil for a user.
    var identity: String? { get }
    /// Which token of the sign-in is meant; nil for the rule's.
    var kind: TokenRequest.Kind? { get }
    /// Whether the command has a use for a credential of several parts.
    var takesFields: Bool { get }
    /// Whether the command prepares what git gets, too.
    static var isForGit: Bool { get }
    /// Whether the URL may be a rule's with a wildcard, because nothing is sent to its hosts.
    static var takesPatterns: Bool { get }
}

extension TokenNamingCommand {
    package var kind: TokenRequest.Kind? { nil }
    package var identity: String? { nil }
    package var takesFields: Bool { false }
    package static var isForGit: Bool { false }
    package static var takesPatterns: Bool { false }

    /// Returns the request that the options specify.
    ///
    /// Without options, it is the rule's, if the configuration has exactly one.
    package func request(in session: Session) async throws(CommandError) -> (request: TokenRequest, url: String?) {
        let asked = try await asked(in: session)
        // A script's request may be just as incomplete, but only here is it the command line that lacks something.
        guard asked.host != nil || kind == .id || named.isComplete(identity, in: session.configuration) else {
            throw CommandError(.incomplete, in: session.context).with(.usage)
        }
        guard let request = try session.resolve(asked) else {
            throw CommandError(noRuleMaps: asked, isForGit: Self.isForGit)
        }
        return (request, asked.host == nil ? nil : asked.url)
    }

    /// Gets the token that the options specify, from an agent if this machine uses one.
    package func token(in session: Session) async throws(CommandError) -> AcquiredToken {
        guard session.configuration.agent != nil else {
            let (request, url) = try await request(in: session)
            return try await session.token(for: request, url: url, takesFields: takesFields)
        }
        guard url != nil || named.isTokenNamed else {
            throw CommandError(
                "an agent can only be asked for a URL", hints: ["add the URL to the command"], status: .usage)
        }
        guard kind == nil else {
            throw CommandError(
                "an agent gives the token that the rule on its machine says",
                hints: [Hint("leave out the option, and write in that rule", write: "token = \"id\"")], status: .usage)
        }
        return try session.forwardedToken(for: try await asked(in: session), interaction.values)
    }

    /// Returns the options as a request.
    private func asked(in session: Session) async throws(CommandError) -> CredentialRequest {
        var asked = CredentialRequest()
        if let url = try place(in: session) {
            asked = try CredentialRequest(url: url, ofOneOf: Self.takesPatterns ? session.configuration.rules : [])
        }
        try named.write(to: &asked.explicit)
        asked.explicit.identity = identity
        asked.explicit.token = kind
        if kind == .id, asked.host == nil, named.scope.isEmpty, named.resource.isEmpty {
            asked.explicit.scopes = ["openid"]
        }
        for resource in named.resource { asked.explicit.scopes += try session.scopes(ofResource: resource) }
        asked.explicit.account = try await accountMeant(in: session)
        try write(to: &asked.explicit.signIn)
        return asked
    }

    /// Returns the account as rules and records name it.
    ///
    /// The stored accounts are only read if the typed name may be the beginning of one.
    private func accountMeant(in session: Session) async throws(CommandError) -> String? {
        guard let account = named.account, !account.isWholeAddress else { return named.account }
        return try await session.accounts(for: url).name(typed: account)
    }

    /// Writes the options for a sign-in into the request's explicit part.
    private func write(to explicit: inout [SignInParameter: [String]]) throws(CommandError) {
        var texts = page.texts
        texts[.loginHint] = signIn.loginHint.map { [$0] }
        _ = try SignInParameters(options: texts)
        explicit.merge(texts) { $1 }
    }

    private func place(in session: Session) throws(CommandError) -> String? {
        if let url { return url }
        guard !named.isTokenNamed else { return nil }
        let rules = session.configuration.rules
        if rules.count == 1 {
            let pattern = rules[0].pattern
            guard !Self.takesPatterns, pattern.hasWildcard else { return pattern.text }
            throw CommandError(
                "the rule for \(pattern.text) is for many hosts", hints: ["add the URL of one"], status: .usage)
        }
        guard !rules.isEmpty else {
            throw CommandError(
                "no rule says yet which token to get",
                hints: Hint.addingRule(for: "URL", isForGit: Self.isForGit) + [
                    Hint("or name the token", write: "--authority URL --client-id ID --scope SCOPE")
                ], status: .usage)
        }
        let urls = rules.map { $0.pattern.text.displayable(limit: 200) }.joined(separator: ", ")
        throw CommandError(
            "several rules could apply: \(urls)", hints: ["add the URL of one to the command"], status: .usage)
    }
}

extension ArgumentHelp {
    /// The help for a command's URL.
    package static let tokenURL: ArgumentHelp = "The URL that needs the token; a rule or a plugin maps it."
}

/// The option for a token that no user has to sign in for.
package struct IdentityOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The identity to get the token as, an application's or a machine's.", valueName: "name"))
    package var identity: String?

    /// Refuses what a script passes if a variable isn't set.
    package mutating func validate() throws { try [("--identity", identity)].refuseEmpty() }

    package init() {}
}

extension [(String, String?)] {
    fileprivate func refuseEmpty() throws {
        for (option, value) in self where value?.isEmpty == true {
            throw ValidationError("\(option) is empty; leave it out")
        }
    }
}

/// Options that specify a token directly instead of by URL, or narrow down which one is meant.
package struct NamedTokenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The authority, such as \(Example.wideAuthority).", valueName: "url"))
    package var authority: String?

    @Option(help: ArgumentHelp("The client ID of your app registration, or an app's name.", valueName: "id"))
    package var clientId: String?

    @Option(help: ArgumentHelp("A scope; may be repeated.", valueName: "scope"))
    package var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "Short for the scope RESOURCE/.default, or a well-known name; may be repeated.", valueName: "resource"))
    package var resource: [String] = []

    @Option(
        help: ArgumentHelp("The account: a user name or an identifier, or the beginning of one.", valueName: "account"))
    package var account: String?

    @Option(help: ArgumentHelp("A claims request, as JSON.", valueName: "json"))
    package var claims: String?

    @Option(
        help: ArgumentHelp(
            """
            A claim of id_token, userinfo or access_token: TARGET.NAME, TARGET.NAME=essential, =value:V or =values:A,B; \
            may be repeated.
            """, valueName: "claim"))
    package var claim: [String] = []

    /// Refuses what a script passes if a variable isn't set.
    package mutating func validate() throws {
        try [("--authority", authority), ("--client-id", clientId), ("--account", account)].refuseEmpty()
    }

    /// Whether the options specify a token directly.
    package var isTokenNamed: Bool { authority != nil || !scope.isEmpty || !resource.isEmpty }

    /// Whether the options specify everything that is needed without a URL.
    func isComplete(_ identity: String?, in configuration: Configuration) -> Bool {
        (identity ?? authority ?? configuration.authority) != nil && !(scope.isEmpty && resource.isEmpty)
    }

    /// Returns the options that say whose token is meant, as on the command line; `account` is the complete name.
    package func options(account: String?) -> [String] {
        let given = [("--authority", authority), ("--client-id", clientId), ("--account", account)]
        return given.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    /// Writes the options into the request's explicit part; the account as typed, and without the resources, which
    /// plugins may know by name.
    ///
    /// - Throws: `CommandError` with the exit status for wrong usage.
    package func write(to explicit: inout CredentialRequest.ExplicitToken) throws(CommandError) {
        explicit.authority = authority
        explicit.clientID = clientId
        explicit.scopes = scope
        explicit.account = account
        explicit.claims = try claimsRequest()
    }

    /// Returns the claims request that the options specify; nil if there is none.
    ///
    /// - Throws: `CommandError` with the exit status for wrong usage.
    private func claimsRequest() throws(CommandError) -> String? {
        do throws(ParameterError) {
            var request = try claims.map { text throws(ParameterError) in try ClaimsRequest(text) } ?? ClaimsRequest()
            for shortForm in claim { try request.ask(shortForm) }
            return request.text
        } catch {
            throw CommandError(error, status: .usage)
        }
    }

    package init() {}
}

/// The authority whose accounts are meant, given directly or by a URL that a rule maps to it.
package struct AuthorityOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only accounts of this authority.", valueName: "url"))
    package var authority: String?

    /// Returns the authority that is given, directly or by a URL; nil if there is none.
    package func place(_ url: String?, in session: Session) throws(CommandError) -> NamedAuthority? {
        if let authority {
            let client = session.registry.clientID(
                session.configuration.clientID(at: authority), at: authority.withoutTrailingSlashes)
            return try NamedAuthority(authority, clientID: client, in: session)
        }
        guard let url else { return nil }
        let request = try CredentialRequest(url: url, ofOneOf: session.configuration.rules)
        guard let wanted = try session.resolve(request) else { throw CommandError(noRuleMaps: request) }
        var place = try NamedAuthority(wanted, in: session)
        place.url = request.url
        return place
    }

    package init() {}
}

/// An authority and the client whose tokens count there.
package struct NamedAuthority {
    package let place: AuthorityKey
    /// Nil for any client.
    package let clientID: String?
    /// The URL that a rule maps to the authority; nil if the authority was given directly.
    package var url: String?

    package init(_ authority: String, kind: String? = nil, clientID: String?, in session: Session) throws(CommandError)
    {
        let trimmed = authority.withoutTrailingSlashes
        guard let place = session.acquirer.key(of: trimmed, kind: kind) else {
            throw CommandError(unknownAuthority: trimmed, in: session.registry)
        }
        self.place = place
        self.clientID = clientID
    }

    package init(_ request: TokenRequest, in session: Session) throws(CommandError) {
        try self.init(request.authority, kind: request.kind, clientID: request.clientID, in: session)
    }
}

extension AuthorityKey {
    /// The authority's URL, fit to show.
    package var displayedURL: String { url.displayable(limit: 255) }
}

extension Hint {
    /// What is wrong with an authority that no plugin serves: the path if its host is known, or else all of it.
    static func correcting(authority: String, _ context: CommandContext) -> Hint {
        guard let plugin = AuthorityURL(authority).flatMap({ context.registry.plugin(naming: $0.host) }) else {
            return
                "name it in a [[rule]] in \(context.short(context.userFile)), or install its plugin; see lanyard-plugin(7)"
        }
        guard plugin.origin != nil else { return .tenant }
        return "\(plugin.name), whose host that is, serves \(plugin.authorities.map(\.text).joined(separator: ", "))"
    }

    /// What the URL of a known authority's host looks like.
    package static let tenant: Hint = "write it with its tenant and nothing else, such as \(Example.authority)"
}

extension AuthorityPattern {
    /// The pattern's path as in a manifest.
    package var pathText: String {
        path.map { segment in
            switch segment {
            case .literal(let text): "/\(text)"
            case .realm: "/{realm}"
            case .policy(let glob): glob.map { "/{policy:\($0)}" } ?? "/{policy}"
            case .rest: "/{path}"
            }
        }.joined()
    }

    /// The pattern for users, with only its first hosts.
    package var text: String {
        let named = hosts.filter { !$0.isSame(as: "*") }
        let others = named.count > 2 ? " and \(named.count - 1) other hosts" : named.count == 2 ? " or \(named[1])" : ""
        let any = named.count < hosts.count && !named.isEmpty ? ", or any host configured" : ""
        let realmsText = realms.isEmpty ? "" : ", {realm} one of \(realms.joined(separator: ", "))"
        return "https://\(named.first ?? "HOST")\(pathText)\(others)\(any)\(realmsText)"
    }
}

extension CommandError {
    /// Creates the error for an authority that no plugin serves, as far as the manifests can be read.
    package init(
        unknownAuthority url: String, in registry: PluginRegistry,
        hints: [Hint] = ["write it like \(Example.wideAuthority), or name it in a rule first"]
    ) {
        self.init(
            "no plugin supports the authority \(url)", hints: hints + registry.unreadableHints)
    }
}

/// The options for a sign-in that a rule can't have.
package struct SignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The user name to fill in.", valueName: "user"))
    var loginHint: String?

    package init() {}
}

/// The options for a sign-in that a rule can also have.
package struct SignInPageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The account's domain, or a kind of account.", valueName: "domain"))
    var domainHint: String?

    @Option(
        help: ArgumentHelp(
            "An extra parameter; may be repeated.", valueName: "name=value"))
    var queryParameter: [String] = []

    @Option(
        help: ArgumentHelp("Local port for the redirect.", valueName: "port"))
    var redirectPort: String?

    @Option(
        help: ArgumentHelp("The B2C policy for a forgotten password.", valueName: "policy"))
    var resetPolicy: String?

    /// The values of the options.
    package var texts: [SignInParameter: [String]] {
        let single = [SignInParameter.domainHint: domainHint, .redirectPort: redirectPort, .resetPolicy: resetPolicy]
        var texts = single.compactMapValues { text in text.map { [$0] } }
        if !queryParameter.isEmpty { texts[.queryParameters] = queryParameter }
        return texts
    }

    package init() {}
}

extension SignInParameters {
    /// Parses the options of a command line.
    ///
    /// - Throws: `CommandError` with the exit status for wrong usage.
    package init(options texts: [SignInParameter: [String]]) throws(CommandError) {
        self.init()
        do throws(ParameterError) { try apply(texts) } catch {
            throw CommandError("\(error.reason)", hints: ["\(error.hint)"], status: .usage)
        }
    }
}
