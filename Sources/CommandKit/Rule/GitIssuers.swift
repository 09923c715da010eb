package import Addresses
import CredentialEngine
package import Model
package import PluginHost
import PluginWire
package import Rules
import Secrets
import SettingsFile
package import Terminal

// Git hosts that are their own issuers, according to the plugins' manifests.

extension PluginRegistry {
    /// Returns the well-known resource at a pattern's host.
    package func resource(of pattern: URLPattern) -> PluginResource? {
        guard pattern.scheme == "https" else { return nil }
        return resource(forHost: pattern.host.text)
    }

    /// Returns the issuer that a manifest names for a git host; nil if there is none.
    package func issuer(atHost host: RequestHost) -> PluginIssuer? { gitAuthority(ofHost: host.urlText)?.issuer }

    /// Returns the issuer whose git servers answer this way; it is only a suggestion and maps nothing.
    package func issuer(suggestedBy answer: ServerAnswer) -> PluginIssuer? {
        gitIssuer(ofRealms: answer.realms)
    }

    /// Returns the issuer of a kind that organisations host themselves.
    func gitIssuer(kind: String) -> PluginIssuer? { gitIssuers.first { $0.kind == kind.lowercased() } }

    /// The kinds of authorities that plugins have, sorted.
    package var kinds: [String] { Set(plugins.flatMap(\.kinds)).sorted() }

    /// Throws if no plugin has a kind.
    package func requireKind(_ kind: String) throws(CommandError) {
        guard !kinds.contains(kind) else { return }
        let own = plugins.first { $0.name.isSame(as: kind) }
        let meant =
            own.map { plugin in
                let kinds = plugin.kinds.sorted()
                return kinds.isEmpty
                    ? Hint(
                        "\(plugin.name) is a plugin without kinds, which the authority's URL leads to: leave out --kind"
                    )
                    : Hint("\(plugin.name) is a plugin; its kinds are \(kinds.joined(separator: ", "))")
            } ?? kinds.nearest(to: kind.lowercased()).map { Hint("did you mean", write: "--kind \($0)") }
        throw CommandError(
            kind.isEmpty ? "the kind is empty" : "no plugin knows the kind \(kind)",
            hints: [meant, Hint("the kinds are \(kinds.joined(separator: ", "))")].compactMap(\.self), status: .usage)
    }

    /// Returns the ID of a client at an authority, regardless of policies; the text itself if it isn't a client's name
    /// there.
    package func clientID(_ text: String?, at authority: String, kind: String? = nil) -> String? {
        guard let text else { return nil }
        return match(authority: authority, kind: kind, isConfigured: true)?.client(text)?.id ?? text
    }

    /// Returns the keys of the IDs that a client's ID or name stands for.
    package func clientIDs(_ text: String) -> Set<String> {
        let known = clientIDs(named: text)
        return Set((known.isEmpty ? [text] : known).map(\.clientKey))
    }

    /// Returns a rule's authority, with the plugin that serves it; nil if there is none.
    package func match(_ rule: Rule) -> AuthorityMatch? {
        match(authority: rule.authority, kind: rule.kind, isConfigured: true)
    }

    /// Returns the authority of the identity that a rule names, or else the rule's, with the plugin that serves it.
    package func match(_ identity: Identity, of rule: Rule) -> AuthorityMatch? {
        let url = identity.authority ?? rule.authority
        return machine(authority: url)
            ?? match(authority: url, kind: rule.kind ?? identity.application?.kind, isConfigured: true)
    }
}

extension PluginIssuer {
    /// The kind's name for users.
    package var displayName: Message { "\(name.isEmpty ? kind : name, limit: 64)" }
}

extension URLPattern {
    /// The root URL of the pattern's host; nil if tokens may not be sent there, or if the pattern is for several hosts.
    package var ownAuthority: String? {
        guard scheme == "https", !hasWildcard else { return nil }
        return "https://\(host.urlText)"
    }

    /// The pattern of the host, if this one's path is long enough for a repository's; otherwise nil.
    package var ofRepositorysHost: URLPattern? {
        (request.path ?? "").pieces(between: "/").count > 1 && !hasWildcard ? URLPattern(place) : nil
    }

    /// Whether an authority is at the pattern's own host.
    package func isAtHost(of authority: String) -> Bool {
        guard let own = ownAuthority.flatMap(AuthorityURL.init) else { return false }
        return own.host == AuthorityURL(authority)?.host
    }

    /// The server's answers for the pattern's URL, and for a repository that may not exist.
    fileprivate func answers(_ context: CommandContext) async -> [ServerAnswer] {
        async let anywhere = ServerAnswer.asking("\(place)/lanyard/lanyard.git", in: context)
        let here = hasPath ? [await ServerAnswer.asking(request.url, in: context)] : []
        return here + [await anywhere]
    }
}

extension AuthorityMatch {
    /// Returns why no application can have tokens here, or not this one; nil if it can.
    package func lack(of application: Identity.Application) -> Message? {
        guard plugin.identities.contains(.client) else {
            return "the plugin \(plugin.name) gets no tokens for applications"
        }
        if case .certificate = application.proof { return nil }
        guard issuer?.repositoryScopes != nil else { return nil }
        return "at \(authority.host), an application proves who it is by its private key (certificate)"
    }

    /// A hint about where to register an app; nil if the plugin doesn't say.
    package var registrationHint: Hint? {
        guard let issuer, let page = issuer.registrationPage(at: authority) else { return plugin.registrationHint }
        return Hint("register an application at \(issuer.displayName)", write: page)
    }

    /// What to enter on that page.
    var registrationDetails: [Hint] {
        guard let registration = issuer?.registration else { return [] }
        return [
            registration.redirectURI.map { Hint("its redirect URI, or callback URL", write: $0) },
            registration.advice.map { "\($0, limit: 512)" },
        ].compactMap(\.self)
    }

    /// Shows where and how to register an application with the issuer; false if the manifest doesn't say where.
    package func tellRegistration(_ console: Console) -> Bool {
        guard let issuer, let page = issuer.registrationPage(at: authority) else { return false }
        let name = issuer.displayName
        console.note(
            Hint(
                "if you have no application at \(name) yet, register one",
                write: page))
        for detail in registrationDetails { console.note(detail) }
        return true
    }

    /// Returns a client for users, with its name if it has one.
    package func displayedClient(_ id: String) -> String {
        let shown = id.displayable(limit: 100)
        guard let client = client(id) else { return shown }
        return "\(client.name), \(client.id)" + (client.summary.isEmpty ? "" : " (\(client.summary.displayable()))")
    }

    /// Returns the scopes of the token for an exchange, if the manifest has any.
    package func scopes(ofExchange name: String, for pattern: URLPattern) -> [String]? {
        let scopes = plugin.exchange(named: name, forHost: pattern.host.text)?.scopes
        return scopes?.isEmpty == false ? scopes : nil
    }
}

/// Finds out which kind of issuer a rule's git host is, with the user's help.
package struct IssuerFinder {
    package let session: Session
    package let pattern: URLPattern
    /// The kind that was given; nil for none.
    package let kind: String?
    package let prompt: Prompt?

    package init(session: Session, pattern: URLPattern, kind: String?, prompt: Prompt?) {
        self.session = session
        self.pattern = pattern
        self.kind = kind
        self.prompt = prompt
    }

    private var console: Console { session.context.console }
    private var host: Message { "\(pattern.host.urlText, limit: 255)" }

    /// An authority's URL, and the kind that the rule must name; nil if the URL is enough, or if an option names the
    /// kind.
    package typealias Found = (authority: String, kind: String?)

    /// Returns the issuer at the URL's host if it is known from a manifest or from `kind`, or if the server suggests
    /// one and the user agrees; else nil.
    package func found() async -> Found? {
        guard let root = pattern.ownAuthority, session.registry.resource(of: pattern) == nil else { return nil }
        let known = session.registry.gitAuthority(ofHost: pattern.host.urlText)
        if let known, let issuer = known.issuer, kind == nil || kind == issuer.kind {
            if prompt != nil { console.note("\(host) is \(issuer.displayName); using \(known.authority)") }
            return ("\(known.authority)", nil)
        }
        if let kind { return session.registry.gitIssuer(kind: kind).map { (root, $0.kind) } }
        guard let prompt, let issuer = await suggestion() else { return nil }
        guard await prompt.accepts("\(host) looks like \(issuer.displayName); sign in there?") else { return nil }
        return await settled(root, issuer, prompt)
    }

    /// Returns the issuer at the URL's host, as a manifest or the server says, without asking; nil if it may be at a path.
    ///
    /// A server at a path doesn't answer for the rest of its host.
    package func guess() async -> Found? {
        guard let root = pattern.ownAuthority, session.registry.resource(of: pattern) == nil else { return nil }
        if let known = session.registry.gitAuthority(ofHost: pattern.host.urlText) {
            return ("\(known.authority)", nil)
        }
        guard !pattern.hasPath || pattern.ofRepositorysHost != nil, let issuer = await suggestion(ofHost: true) else {
            return nil
        }
        return (root, issuer.kind)
    }

    /// Returns the URL's own host as an issuer of the typed kind; nil if the text isn't a kind, or if the user gives
    /// up.
    package func found(typed text: String) async throws(CommandError) -> Found? {
        guard let root = pattern.ownAuthority, let issuer = await issuer(typed: text) else { return nil }
        guard let prompt else {
            throw CommandError(
                "\(issuer.kind) is a kind of authority, not an authority",
                hints: [Hint("if the URL's own host is of that kind", write: "--kind \(issuer.kind)")], status: .usage)
        }
        return await settled(root, issuer, prompt)
    }

    private func issuer(typed text: String) async -> PluginIssuer? {
        if let issuer = session.registry.gitIssuer(kind: text) { return issuer }
        // A text with a dot or a slash is a domain or a URL.
        guard let prompt, text.utf8.allSatisfy({ $0.isLetter || $0 == UInt8(ascii: "-") }),
            let kind = session.registry.gitIssuers.map(\.kind).nearest(to: text.lowercased()),
            await prompt.accepts("did you mean the kind \(kind)?")
        else { return nil }
        return session.registry.gitIssuer(kind: kind)
    }

    /// Returns a given authority at the URL's own host, with the kind from another rule, or the one that the server
    /// suggests and the user agrees to.
    ///
    /// - Throws: `CommandError` if there is a suggestion and the user can't be asked: git would get its tokens in another
    ///   form.
    package func found(at authority: String, known: String?) async throws(CommandError) -> Found {
        let match = session.registry.match(authority: authority, isConfigured: true)
        guard kind == nil, known == nil, match?.issuer == nil, let issuer = await suggestion() else {
            return (authority, known)
        }
        guard let prompt else {
            let other = match?.plugin.kind.map { Hint("if it is not", write: "--kind \($0)") }
            throw CommandError(
                "\(host) looks like \(issuer.displayName), but there is no terminal to ask you whether it is",
                hints: [Hint("if it is", write: "--kind \(issuer.kind)"), other].compactMap(\.self), status: .usage)
        }
        let isSo = await prompt.accepts("\(host) looks like \(issuer.displayName); is it?")
        return (authority, isSo ? issuer.kind : nil)
    }

    /// Returns the issuer that the server's answers suggest, which any server could send; the user is told if the
    /// server can't be asked.
    private func suggestion(ofHost: Bool = false) async -> PluginIssuer? {
        console.progress("asking \(host) how to sign in")
        let answers = await pattern.answers(session.context)
        console.endProgress()
        let reasons = answers.compactMap(\.reasonUnreachable)
        if prompt != nil, let reason = reasons.first, reasons.count == answers.count {
            console.note("\(host) could not be asked how to sign in: \(reason)")
        }
        return (ofHost ? answers.suffix(1) : answers[...]).lazy
            .compactMap(session.registry.issuer(suggestedBy:)).first
    }

    /// Asks for the server's own URL, which has a path if the server isn't at the root of its host.
    private func settled(_ root: String, _ issuer: PluginIssuer, _ prompt: Prompt) async -> Found? {
        guard pattern.hasPath else { return (root, issuer.kind) }
        while let text = await prompt.text("\(issuer.displayName)'s own URL", suggesting: root) {
            let url = text.withoutTrailingSlashes
            if let authority = AuthorityURL(url), authority.host == AuthorityURL(root)?.host {
                return (url, issuer.kind)
            }
            console.note("type a URL at \(pattern.host.urlText), without the repository's path")
        }
        return nil
    }
}

// Clients with names in plugin manifests.

extension Hint {
    /// Returns a hint for a client that needs no app registration.
    package static func clientForEverybody(at match: AuthorityMatch, write line: String) -> Hint {
        let owner = match.issuer?.displayName ?? "organisation"
        return Hint("without an app, use one that every \(owner) has", write: line)
    }
}

extension Configuration {
    /// Returns the identity that a plugin finds on this machine by itself; nil if none has been added.
    package func identity(foundBy plugin: String) -> Identity? {
        identities.first { $0.source == .machine("system", plugin: plugin) }
    }

    /// Returns the client that a rule names for an authority.
    package func clientIDOfRule(at authority: String) -> String? {
        rules.last { $0.authority == authority && $0.clientID != nil }?.clientID
    }

    /// Returns the clients to offer to users without an app registration: those for a well-known resource, or those that
    /// git hosts of the authority's kind register.
    package func offeredClients(_ match: AuthorityMatch, for resource: PluginResource?) -> [PluginClient] {
        if match.issuer != nil { return match.clients.filter { allows(client: $0.name) } }
        return (resource?.clients ?? []).filter(allows).compactMap { name in
            match.clients.first { $0.name == name }
        }
    }
}

extension CommandError {
    /// Creates the error for a rule's kind that is none of the plugins'.
    init(unknownKind kind: String, _ registry: PluginRegistry) {
        let near = registry.kinds.nearest(to: kind).map { Hint("did you mean \($0)?") }
        self.init(
            "no plugin has the kind \(kind), which is in the configuration",
            hints: [near ?? Hint("the kinds are \(registry.kinds.joined(separator: ", "))")])
    }

    /// Creates the error for a source that is none of the plugins'.
    package init(unknownSource name: String, _ known: [String]) {
        let near = known.nearest(to: name).map { Hint("did you mean \($0)?") }
        self.init("no plugin has the source \(name)", hints: [near ?? "there are \(known.joined(separator: ", "))"])
    }

    /// Creates the error for a source without what to look up there.
    package init(entryless name: String) {
        self.init(
            "nothing says what to look up in \(name)",
            hints: [Hint("name the entry after a colon", write: "\(name):ENTRY")])
    }
}
