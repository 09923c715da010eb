import Addresses
import PluginHost
import Rules
import Secrets
import Terminal

/// A rule on its way: what the options say, what is known of the host, and what the person answers.
struct RuleDraft {
    let session: Session
    let pattern: URLPattern
    let options: RuleOptions
    /// Nil if nobody is to be asked.
    let prompt: Prompt?

    /// The rule.
    ///
    /// - Throws: `Failure` that says what is missing and with which option to give it.
    func rule() async throws(Failure) -> Rule {
        let known = session.resource(of: pattern)
        // What is wrong is said before anything is asked.
        var rule = Rule(pattern: pattern, authority: "", scopes: [])
        try options.writeSignIn(to: &rule)
        let authority = try await authority()
        rule.authority = authority
        rule.scopes = try await scopes(known)
        rule.clientID = try await clientID(authority)
        rule.account = options.account
        rule.kind = options.kind
        return rule
    }

    private func authority() async throws(Failure) -> String {
        let given = options.authority ?? session.configuration.authority
        // Most people have one organisation, and one app for all of its URLs.
        let suggestion =
            session.configuration.rules.last?.authority ?? Example.wideAuthority
        let asked = given == nil ? await prompt?.text("authority", suggesting: suggestion) : nil
        guard let url = (given ?? asked)?.withoutTrailingSlashes, !url.isEmpty else {
            throw Failure(
                "a rule needs an authority",
                hints: [Hint("name it, such as", write: "--authority \(Example.authority)")])
        }
        guard session.registry.match(authority: url, kind: options.kind, isConfigured: true) != nil else {
            throw Failure(
                unknownAuthority: url,
                hints: [
                    "write it with its tenant, such as \(Example.authority)",
                    Hint("see which plugins there are", run: "lanyard plugin list"),
                ])
        }
        return url
    }

    private func clientID(_ authority: String) async throws(Failure) -> String? {
        if let id = options.clientId { return try checked(id) }
        guard session.configuration.clientID == nil else { return nil }
        if prompt != nil {
            session.context.console.note(
                "which app asks? its client id is on its Overview page in the Entra admin centre, App registrations "
                    + "(redirect URI http://localhost)")
        }
        let other = session.configuration.rules.last { $0.authority == authority && $0.clientID != nil }
        let asked = await prompt?.text("client id", suggesting: other?.clientID)
        guard let id = asked, !id.isEmpty else {
            let missing = Failure(.noClientID(authority: authority), in: session.context)
            throw Failure(
                missing.message,
                hints: missing.hints.prefix(1) + [Hint("then give its application id", write: "--client-id ID")])
        }
        return try checked(id)
    }

    private func checked(_ id: String) throws(Failure) -> String {
        guard id.isScopeToken, id.utf8.count <= 256 else {
            throw Failure(
                "\(id.displayable(limit: 60)) is no client id", hints: ["it is a GUID, shown by the app's registration"]
            )
        }
        return id
    }

    private func scopes(_ known: PluginResource?) async throws(Failure) -> [String] {
        if let resource = options.resource {
            let named = session.registry.plugins.flatMap(\.resources)
                .first { $0.name.lowercased() == resource.lowercased() }
            return try checked(named?.scopes ?? ["\(resource)/.default"])
        }
        if !options.scope.isEmpty { return try checked(options.scope) }
        if let known { return known.scopes }
        let asked = await prompt?.text("scopes, separated by spaces, such as api://git.contoso.com/.default")
        let words = (asked ?? "").pieces(between: " ").map(String.init)
        guard !words.isEmpty else {
            throw Failure(
                "a rule needs a scope",
                hints: [
                    Hint("name it, such as", write: "--scope api://git.contoso.com/.default"),
                    Hint("or its resource", write: "--resource \"Azure DevOps\""),
                ])
        }
        return try checked(words)
    }

    private func checked(_ scopes: [String]) throws(Failure) -> [String] {
        guard scopes.allSatisfy(\.isScopeToken) else { throw Failure(.badScope, in: session.context) }
        return scopes
    }
}

extension Session {
    /// The well-known consumer of tokens at a pattern's host.
    func resource(of pattern: URLPattern) -> PluginResource? {
        guard pattern.scheme == "https" else { return nil }
        return registry.resource(forHost: pattern.host.text)
    }
}

extension Rule {
    /// `FILE:LINE`, for people.
    func place(_ context: CommandContext) -> String { context.short(file) + (line.map { ":\($0)" } ?? "") }
}

extension Failure {
    /// A rule in the place of one that was to be made.
    init(taken other: Rule, _ context: CommandContext, hint: Hint) {
        let url = other.pattern.text.displayable(limit: 200)
        self.init("there is a rule for \(url) already, at \(other.place(context))", hints: [hint])
    }
}
