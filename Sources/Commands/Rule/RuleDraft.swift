import Addresses
import Claims
import CommandKit
import CredentialEngine
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal

/// A rule under construction, from the options, what is known about the host, and the user's answers.
struct RuleDraft {
    let session: Session
    let pattern: URLPattern
    let options: RuleOptions
    let page: SignInPageOptions
    /// The prompt to ask the user; nil to ask nothing.
    var prompt: Prompt?
    /// Whether to leave out the client because it comes from elsewhere.
    var leavesClientOpen = false
    /// The authority where the user probably signs in; nil for that of other rules.
    var likelyAuthority: String?
    /// Whether the user has said that it isn't the host itself that signs them in.
    private(set) var isElsewhere = false
    /// The identity that the rule names; nil for a user.
    var identity: String?

    private var console: Console { session.context.console }

    /// Returns the complete rule.
    ///
    /// - Throws: `CommandError` that says what is missing and which option provides it.
    func rule() async throws(CommandError) -> Rule {
        let known = session.registry.resource(of: pattern)
        // Report mistakes before asking anything.
        try pattern.requireOneOwner()
        if let kind = options.kind { try session.registry.requireKind(kind) }
        var rule = Rule(pattern: pattern, authority: "", scopes: [])
        rule.signIn = try SignInParameters(options: page.texts)
        rule.token = options.token
        rule.exchangeParameters = options.exchangeParameters
        if let identity { return try await completed(rule, for: identity, known) }
        let authority = try await authority()
        if let name = authority.match.plugin.reserved(in: rule.signIn) {
            throw CommandError(.badParameter(.reserved(name)), in: session.context)
        }
        rule.authority = authority.url
        try exchange(of: &rule, authority.match)
        rule.scopes = try await scopes(known, authority.match)
        rule.clientID = try await clientID(authority, session.registry.resource(ofScopes: rule.scopes))
        rule.account = options.account
        rule.kind = options.kind ?? authority.kind
        return rule
    }

    /// Returns the rule for a git host that signs in by itself, if the user agrees to all of it in one question; nil to ask about
    /// each part.
    ///
    /// Where another rule names an app, or the host has one that lets anyone sign in, the question is whether to use that; else,
    /// what signs in. It may be something else (`isElsewhere`). A repository's URL gets a rule for its host.
    ///
    /// - Throws: `CommandError` if the user gives up.
    mutating func ruleByOneQuestion() async throws(CommandError) -> Rule? {
        guard let prompt, let found = await finder.guess(), let match = match(found.authority, found.kind),
            session.registry.lookAlike(of: match.authority.host) == nil,
            let issuer = match.issuer, session.configuration.app(at: found.authority) == nil
        else { return nil }
        let pattern = pattern.ofRepositorysHost ?? pattern
        let what: Message =
            "\(match.authority.host, limit: 255) \(found.kind == nil ? "is" : "looks like") \(issuer.displayName)"
        var rule = Rule(pattern: pattern, authority: found.authority, scopes: [])
        rule.kind = found.kind
        let other = session.configuration.clientIDOfRule(at: found.authority).flatMap { try? checked($0, match) }
        if let app = other ?? session.configuration.offeredClients(match, for: nil).first?.name {
            rule.clientID = app
            let whose: Message = other == nil ? "its own app" : "the app of another rule"
            if await prompt.accepts("\(what); sign git in there as \(app), \(whose)?") { return rule }
        }
        let sources = session.registry.sources(ofKind: issuer.kind).filter { source in
            source.row.program.first.flatMap(session.context.program) != nil
        }
        let choices =
            [("app", "your organisation's, whose client ID you know")]
            + sources.map { ($0.name, "the sign-in that \($0.name) has") }
            + [
                ("new", "an app that you register now, on the page that opens"),
                ("other", "another authority, which you name"),
            ]
        let choice = await prompt.choice(
            "\(what); what signs git in there?", among: choices.map { "\($0.0): \($0.1)" }
        ) { name in choices.firstIndex { $0.0 == name } }
        guard let choice else {
            throw CommandError("nothing was changed: nothing was chosen", cause: .ofNoAnswer)
        }
        guard choice < choices.count - 1 else {
            isElsewhere = true
            return nil
        }
        if choice > 0, choice <= sources.count {
            rule = Rule(pattern: pattern, authority: "", scopes: [])
            rule.source = sources[choice - 1].name
            return rule
        }
        if choice > sources.count { await openRegistration(at: match) }
        rule.clientID = try await ask(for: "a client ID", "client ID") { id throws(CommandError) in
            try checked(id, match)
        }
        return rule
    }

    /// Opens the page where an app is registered, and shows what to enter there.
    private func openRegistration(at match: AuthorityMatch) async {
        _ = match.tellRegistration(console)
        guard let page = match.issuer?.registrationPage(at: match.authority), let browser = session.browser else {
            return
        }
        // Its address is on the screen.
        _ = await browser.open(page)
    }

    /// Completes a rule for an identity, which has its own authority and client.
    private func completed(
        _ draft: Rule, for identity: String, _ known: PluginResource?
    ) async throws(CommandError) -> Rule {
        guard options.clientId == nil, options.account == nil else {
            throw CommandError(
                "the identity \(identity) has a client ID of its own, and no account",
                hints: ["leave out --client-id and --account"], status: .usage)
        }
        var rule = draft
        rule.identity = identity
        rule.kind = options.kind
        if let given = options.authority { rule.authority = try await authority(given).url }
        if let resource = options.resource {
            rule.scopes = try scopes(of: resource)
        } else {
            rule.scopes = try checked(options.scope.isEmpty ? known?.scopes ?? [] : options.scope)
        }
        let named = try session.identity(named: identity)
        let match = session.registry.match(named, of: rule)
        let issuer = named.application == nil ? nil : match?.issuer
        let hasOwn = (match?.ownScopes ?? issuer?.repositoryScopes ?? issuer?.scopes) != nil
        if let match { try exchange(of: &rule, match) } else { rule.exchange = options.exchange }
        guard !rule.scopes.isEmpty || isExchanging || hasOwn else { throw noScope }
        return rule
    }

    /// Asks for `what`, a noun with its article, until an answer is valid, and says what is wrong with the others.
    ///
    /// - Throws: `CommandError` if the user gives up.
    private func ask<Answer>(
        for what: String, _ question: Message, suggesting suggestion: String? = nil,
        _ read: (String) async throws(CommandError) -> Answer
    ) async throws(CommandError) -> Answer {
        while let text = await prompt?.text(question, suggesting: suggestion) {
            guard !text.isEmpty else {
                console.note("type \(what), or Ctrl-C to cancel")
                continue
            }
            do throws(CommandError) { return try await read(text) } catch { console.report(error) }
        }
        throw CommandError("nothing was changed: a rule needs \(what)", cause: .ofNoAnswer)
    }

    // MARK: - Authority

    /// An authority's URL, its plugin, and the kind that the rule must name; nil if the URL is enough, or if an option
    /// names the kind.
    private typealias Authority = (url: String, match: AuthorityMatch, kind: String?)

    private func authority() async throws(CommandError) -> Authority {
        if let given = options.authority { return try await authority(given) }
        // A host that exchanges tokens doesn't sign users in itself.
        if !isExchanging, !isElsewhere, let own = try await own(finder.found()) { return own }
        if let given = session.configuration.authority { return try await authority(given) }
        guard prompt != nil else { throw noAuthority }
        introduceAuthorities()
        return try await ask(for: "an authority", "authority", suggesting: suggestedAuthority) {
            text throws(CommandError) in
            try await authority(text)
        }
    }

    private func introduceAuthorities() {
        console.note(
            "which organisation signs you in? its domain, such as \(Example.domain), or the URL of an authority")
        guard !isExchanging, session.registry.resource(of: pattern) == nil, !session.registry.gitIssuers.isEmpty else {
            return
        }
        let kinds = session.registry.gitIssuers.map(\.kind).joined(separator: ", ")
        console.note("if the server itself does, its kind: \(kinds)")
    }

    /// The authority that another rule or the host suggests; nil if there is none.
    private var suggestedAuthority: String? {
        // Most users have one organisation, with one app for all of its URLs. A host that only signs in to itself isn't
        // one.
        let other = session.configuration.rules
            .last { !$0.authority.isEmpty && !$0.pattern.isAtHost(of: $0.authority) }?.authority
        return likelyAuthority ?? other ?? (session.registry.resource(of: pattern) == nil ? nil : Example.wideAuthority)
    }

    /// Whether the host only accepts what a token is exchanged for.
    private var isExchanging: Bool {
        options.exchange != nil || session.registry.exchanges(forHost: pattern.host.text)
    }

    private var finder: IssuerFinder {
        IssuerFinder(session: session, pattern: pattern, kind: options.kind, prompt: prompt)
    }

    /// Returns the URL's own host as the authority: the user trusts it with its repositories, unless they mistook it
    /// for another host.
    private func own(_ found: IssuerFinder.Found?) async throws(CommandError) -> Authority? {
        guard let found, let match = match(found.authority, found.kind) else { return nil }
        let host = match.authority.host
        guard !options.trustAuthority, let twin = session.registry.lookAlike(of: host) else {
            return (found.authority, match, found.kind)
        }
        let warning: Message = "\(host) looks like \(twin), but is a different host"
        guard let prompt else {
            throw CommandError(
                warning, hints: ["check the URL", Hint("if you trust it, say so", write: "--trust-authority")],
                status: .usage)
        }
        console.note("\(warning): its owner would get your sign-in")
        try await confirm(host, prompt)
        return (found.authority, match, found.kind)
    }

    private func confirm(_ host: String, _ prompt: Prompt) async throws(CommandError) {
        guard await prompt.decision("use \(host) anyway?", suggesting: false) == true else {
            throw CommandError("not signing in at \(host): you did not confirm it", cause: .ofNoAnswer)
        }
    }

    private func authority(_ text: String) async throws(CommandError) -> Authority {
        guard !text.isEmpty else { throw noAuthority }
        if let own = try await own(finder.found(typed: text)) { return own }
        let url = session.registry.authority(typed: text).withoutTrailingSlashes
        // Another rule may already say which kind the authority is.
        let known = options.kind == nil ? session.configuration.rules.last { $0.authority == url }?.kind : nil
        guard AuthorityURL(url) != nil else {
            throw CommandError(
                "\(text) is neither a domain nor a URL",
                hints: ["write it like \(Example.domain) or \(Example.authority)"], status: .usage)
        }
        guard let match = match(url, known) else {
            throw CommandError(
                unknownAuthority: url, in: session.registry,
                hints: [
                    .tenant,
                    Hint("see which plugins there are", run: "lanyard plugin list"),
                ])
        }
        if pattern.isAtHost(of: url), match.isSeparate, session.registry.resource(of: pattern) == nil,
            let own = try await own(finder.found(at: url, known: known))
        {
            return own
        }
        var authority = try await trusted(url, match)
        if authority.url == url { authority.kind = known }
        let typed = text.withoutTrailingSlashes.lowercased()
        let isGuessed = ![typed, "https://\(typed)"].contains(authority.url.lowercased())
        if prompt != nil, isGuessed { console.note("using \(authority.url)") }
        return authority
    }

    private func match(_ url: String, _ known: String? = nil) -> AuthorityMatch? {
        session.registry.match(authority: url, kind: options.kind ?? known, isConfigured: true)
    }

    /// Returns the authority if its host is known or the user confirms it, or the one that it looks like if the user
    /// meant that.
    private func trusted(_ url: String, _ match: AuthorityMatch) async throws(CommandError) -> Authority {
        let host = match.authority.host
        guard !options.trustAuthority, !session.trusts(authorityHost: host) else { return (url, match, nil) }
        let twin = session.registry.lookAlike(of: host)
        guard let prompt else { throw CommandError(unknownHost: match.authority, twin: twin) }
        if let twin, let right = match.authority.at(host: twin), let other = self.match(right) {
            console.note("\(host) looks like \(twin), but is a different host: its owner would get your sign-in")
            if await prompt.accepts("use \(right)?") { return (right, other, nil) }
        } else {
            console.note("no plugin knows the host \(host)")
        }
        try await confirm(host, prompt)
        return (url, match, nil)
    }

    // MARK: - Client

    private func clientID(_ authority: Authority, _ known: PluginResource?) async throws(CommandError) -> String? {
        if let id = options.clientId { return try checked(id, authority.match) }
        guard !leavesClientOpen, authority.match.plugin.clientID == nil,
            session.configuration.clientID(at: authority.url) == nil
        else { return nil }
        let other = session.configuration.clientIDOfRule(at: authority.url)
        guard prompt != nil else {
            // A code host's registry or packages are behind another of its doors.
            guard let other, authority.match.issuer != nil else { throw noClient(authority) }
            return try checked(other, authority.match)
        }
        let offered = session.configuration.offeredClients(authority.match, for: known)
        if !authority.match.tellRegistration(console) {
            introduceClients(authority.match, offered)
        } else if let app = offered.first {
            console.note("or use an app that it knows already: \(app.name) (\(app.summary))")
        }
        let suggestion = other ?? offered.first?.name
        return try await ask(for: "a client ID", "client ID", suggesting: suggestion) { id throws(CommandError) in
            try checked(id, authority.match)
        }
    }

    private func introduceClients(_ match: AuthorityMatch, _ offered: [PluginClient]) {
        let place: Message = match.plugin.clientRegistration.map { ": \($0)" } ?? ""
        console.note("which app should ask for tokens? your organisation's, if it has one\(place)")
        if let client = offered.first {
            let others = offered.dropFirst().map { " or \($0.name)" }.joined()
            let summary: Message = client.summary.isEmpty ? "" : " (\(client.summary))"
            console.note("if it has none: \(client.name)\(summary)\(others)")
        } else if let name = match.clients.map(\.name).first(where: session.configuration.allows) {
            console.note("if it has none: one by name, such as \(name), if the service takes its tokens")
        }
    }

    private func noClient(_ authority: Authority) -> CommandError {
        let missing = CommandError(.noClientID(authority: authority.url), in: session.context)
        let name = authority.match.clients.map(\.name).first(where: session.configuration.allows)
        return CommandError(
            missing.message,
            hints: [
                authority.match.registrationHint, Hint("give the app's client ID", write: "--client-id ID"),
                name.map { .clientForEverybody(at: authority.match, write: "--client-id \($0)") },
            ].compactMap(\.self))
    }

    private func checked(_ id: String, _ match: AuthorityMatch) throws(CommandError) -> String {
        let isElsewhere =
            match.issuer != nil && match.client(id) == nil && !session.registry.clientIDs(named: id).isEmpty
        guard id.isScopeToken, id.utf8.count <= 256, !isElsewhere else {
            throw CommandError("\(id) is not a client ID", hints: ["the app's registration shows it"])
        }
        do throws(ResolutionError) { _ = try session.configuration.clientID(id, at: match) } catch {
            throw CommandError(error, in: session.context)
        }
        if match.client(id) == nil, let near = match.nearestClient(to: id) {
            throw CommandError(
                "\(id) is not a client ID", hints: [Hint("did you mean", write: "--client-id \(near)")],
                status: .usage)
        }
        return id
    }

    // MARK: - Scopes

    private func scopes(of resource: String) throws(CommandError) -> [String] {
        try checked(session.scopes(ofResource: resource))
    }

    private func scopes(_ known: PluginResource?, _ match: AuthorityMatch) async throws(CommandError) -> [String] {
        if let resource = options.resource { return try scopes(of: resource) }
        if !options.scope.isEmpty { return try checked(options.scope) }
        if let known { return known.scopes }
        if let exchange = options.exchange, match.scopes(ofExchange: exchange, for: pattern) != nil { return [] }
        // A rule without scopes uses the issuer's, including those that later versions know, or openid for an ID token.
        if options.token == .id || match.issuer?.scopes != nil { return [] }
        guard prompt != nil else { throw noScope }
        console.note("which API of the server's? its app registration names the scopes, below Expose an API")
        let question: Message = "scopes, separated by spaces, such as api://git.contoso.com/.default"
        return try await ask(for: "a scope", question) { text throws(CommandError) in
            try checked(session.scopes(named: text) ?? text.pieces(between: " ").map(String.init))
        }
    }

    /// The error for missing scopes; an exchange needs those of one of the organisation's own APIs.
    private var noScope: CommandError {
        let hints =
            isExchanging
            ? [Hint("name the API that the host trusts, such as", write: "--scope api://aws.contoso.com/.default")]
            : [
                Hint("name it, such as", write: "--scope api://git.contoso.com/.default"),
                Hint("or its resource", write: "--resource \"Azure DevOps\""),
            ]
        return CommandError("a rule needs a scope", hints: hints)
    }

    private func checked(_ scopes: [String]) throws(CommandError) -> [String] {
        guard scopes.allSatisfy(\.isScopeToken) else { throw CommandError(.badScope, in: session.context) }
        // Almost any text can be a scope, but a pasted command line contains options.
        if let option = scopes.first(where: { $0.hasPrefix("--") }) {
            throw CommandError(
                "\(option) is an option, not a scope",
                hints: prompt == nil ? noScope.hints : [], status: .usage)
        }
        return scopes
    }
}
