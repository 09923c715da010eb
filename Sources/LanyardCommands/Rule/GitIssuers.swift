import Addresses
import PluginHost
import Rules
import Secrets
import SettingsFile
import Terminal

// Git hosts that sign people in by themselves, as the plugins' manifests have them.

extension Session {
    /// The issuer that a manifest names at a git host; nil if none does.
    func issuer(atHost host: RequestHost) -> PluginIssuer? { registry.gitAuthority(ofHost: host.urlText)?.issuer }

    /// The issuer whose git servers answer so: a suggestion, which maps nothing.
    func issuer(suggestedBy answer: ServerAnswer) -> PluginIssuer? {
        registry.gitIssuer(ofRealms: answer.realms)
    }

    /// The issuer of a kind that an organisation may have at a host of its own.
    func gitIssuer(kind: String) -> PluginIssuer? { registry.gitIssuers.first { $0.kind == kind.lowercased() } }

    /// Refuses a kind that no plugin has.
    func requireKind(_ kind: String) throws(Failure) {
        let kinds = Set(registry.plugins.flatMap(\.kinds)).sorted()
        guard !kinds.contains(kind) else { return }
        let meant = kinds.nearest(to: kind.lowercased()).map { Hint("did you mean", write: "--kind \($0)") }
        throw Failure(
            kind.isEmpty ? "the kind is empty" : "no plugin knows the kind \(kind.displayable(limit: 60))",
            hints: [meant, Hint("the kinds are \(kinds.joined(separator: ", "))")].compactMap(\.self), status: .usage)
    }
}

extension PluginIssuer {
    /// What people call the kind.
    var nameForPeople: String { (name.isEmpty ? kind : name).displayable(limit: 64) }
}

extension URLPattern {
    /// The root of the pattern's host, if tokens may be sent there and it is one host only.
    var ownAuthority: String? {
        guard scheme == "https", !host.name.hasBytes("*") else { return nil }
        return "https://\(host.urlText)"
    }

    /// Whether an authority is at the pattern's own host.
    func isAtHost(of authority: String) -> Bool {
        guard let own = ownAuthority.flatMap(AuthorityURL.init) else { return false }
        return own.host == AuthorityURL(authority)?.host
    }

    /// What the server answers about the pattern's URL, and about a repository that need not exist.
    fileprivate func answers(_ context: CommandContext) async -> [ServerAnswer] {
        async let anywhere = ServerAnswer.asking("\(place)/lanyard/lanyard.git", in: context)
        let here = hasPath ? [await ServerAnswer.asking(request.url, in: context)] : []
        return here + [await anywhere]
    }
}

extension AuthorityMatch {
    /// Where and how an app is registered; nil if the plugin doesn't say.
    var registrationHint: Hint? {
        guard let issuer, let page = issuer.registrationPage(at: authority) else { return plugin.registrationHint }
        return Hint("register an application at \(issuer.nameForPeople)", write: page.displayable(limit: 2048))
    }
}

/// Finds out, with the person's help, of which kind the git host is that a rule is for.
struct IssuerFinder {
    let session: Session
    let pattern: URLPattern
    /// The kind that was named already; nil for none.
    let kind: String?
    let prompt: Prompt?

    private var console: Console { session.context.console }
    private var host: String { pattern.host.urlText.displayable(limit: 255) }

    /// An authority's URL, and the kind that a rule must name for it; nil if the URL alone tells, or an option has it.
    typealias Found = (authority: String, kind: String?)

    /// Who signs people in for the URL's host, if that is known: a manifest or `kind` says so, or it looks so and the person
    /// agrees; else nil.
    func found() async -> Found? {
        guard let root = pattern.ownAuthority, session.resource(of: pattern) == nil else { return nil }
        let known = session.registry.gitAuthority(ofHost: pattern.host.urlText)
        if let known, let issuer = known.issuer, kind == nil || kind == issuer.kind {
            if prompt != nil { console.note("\(host) is \(issuer.nameForPeople); using \(known.authority)") }
            return ("\(known.authority)", nil)
        }
        if let kind { return session.gitIssuer(kind: kind).map { (root, $0.kind) } }
        guard let prompt, let issuer = await suggestion() else { return nil }
        guard await prompt.accepts("\(host) looks like \(issuer.nameForPeople); sign in there?") else { return nil }
        return await settled(root, issuer, prompt)
    }

    /// The URL's own host as one of a kind that the person typed; nil if it is no kind, or they give up.
    func found(typed text: String) async throws(Failure) -> Found? {
        guard let root = pattern.ownAuthority, let issuer = await issuer(typed: text) else { return nil }
        guard let prompt else {
            throw Failure(
                "\(issuer.kind) is a kind of authority, not an authority",
                hints: [Hint("if the URL's own host is of that kind", write: "--kind \(issuer.kind)")], status: .usage)
        }
        return await settled(root, issuer, prompt)
    }

    private func issuer(typed text: String) async -> PluginIssuer? {
        if let issuer = session.gitIssuer(kind: text) { return issuer }
        // What has a dot or a slash is a domain or a URL.
        guard let prompt, !text.utf8.contains(where: { !$0.isOfKind }),
            let kind = session.registry.gitIssuers.map(\.kind).nearest(to: text.lowercased()),
            await prompt.accepts("did you mean the kind \(kind)?")
        else { return nil }
        return session.gitIssuer(kind: kind)
    }

    /// An authority that was named, at the URL's own host: with the kind that another rule knows, or it looks like and the
    /// person agrees to.
    ///
    /// - Throws: `Failure` if it looks like one and nobody can be asked: git would get its tokens in another form.
    func found(at authority: String, known: String?) async throws(Failure) -> Found {
        let match = session.registry.match(authority: authority, isConfigured: true)
        guard kind == nil, known == nil, match?.issuer == nil, let issuer = await suggestion() else {
            return (authority, known)
        }
        guard let prompt else {
            let other = match?.plugin.kind.map { Hint("if it is not", write: "--kind \($0)") }
            throw Failure(
                "\(host) looks like \(issuer.nameForPeople), but there is no terminal to ask you whether it is",
                hints: [Hint("if it is", write: "--kind \(issuer.kind)"), other].compactMap(\.self), status: .usage)
        }
        let isSo = await prompt.accepts("\(host) looks like \(issuer.nameForPeople); is it?")
        return (authority, isSo ? issuer.kind : nil)
    }

    /// What the server's own words suggest, which anybody could say; a person is told if it can't be asked.
    private func suggestion() async -> PluginIssuer? {
        console.progress("asking \(host) how to sign in")
        let answers = await pattern.answers(session.context)
        console.endProgress()
        let reasons = answers.compactMap(\.reasonUnreachable)
        if prompt != nil, let reason = reasons.first, reasons.count == answers.count {
            console.note("\(host) could not be asked how to sign in: \(reason)")
        }
        return answers.lazy.compactMap(session.issuer(suggestedBy:)).first
    }

    /// A server below a path of its host has that path in its own URL.
    private func settled(_ root: String, _ issuer: PluginIssuer, _ prompt: Prompt) async -> Found? {
        guard pattern.hasPath else { return (root, issuer.kind) }
        while let text = await prompt.text("\(issuer.nameForPeople)'s own URL", suggesting: root) {
            let url = text.withoutTrailingSlashes
            if let authority = AuthorityURL(url), authority.host == AuthorityURL(root)?.host {
                return (url, issuer.kind)
            }
            console.note("type a URL at \(pattern.host.urlText), without the repository's path")
        }
        return nil
    }
}

extension UInt8 {
    /// Whether a kind's name may have it.
    fileprivate var isOfKind: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// Tells how an application is registered at an issuer.
struct RegistrationGuide {
    let match: AuthorityMatch
    let console: Console

    /// Says where and how; false if the manifest doesn't tell where.
    func tell() -> Bool {
        guard let issuer = match.issuer, let page = issuer.registrationPage(at: match.authority) else { return false }
        let name = issuer.nameForPeople
        console.note(
            Hint(
                "if you have no application at \(name) yet, register one",
                write: page.displayable(limit: 2048)))
        if let redirect = issuer.registration.redirectURI {
            console.note(Hint("its redirect URI, or callback URL", write: redirect.displayable(limit: 200)))
        }
        if let advice = issuer.registration.advice { console.note(advice.displayable(limit: 512)) }
        return true
    }
}
