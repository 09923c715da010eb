import Addresses
import PluginHost
import Rules
import Secrets
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

    /// What the server answers about the pattern's URL, and about a repository that need not exist.
    fileprivate var answers: [ServerAnswer] {
        get async {
            async let anywhere = ServerAnswer.asking("\(scheme)://\(host.urlText)/lanyard/lanyard.git")
            let here = hasPath ? [await ServerAnswer.asking(request.url)] : []
            return here + [await anywhere]
        }
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

    /// An authority's URL, and the kind that a rule must name for it; nil if the URL alone tells.
    typealias Found = (authority: String, kind: String?)

    /// The URL's own host, if it signs people in: a manifest or `kind` says so, or it looks so and the person agrees; else nil.
    func found() async -> Found? {
        guard let root = pattern.ownAuthority, session.resource(of: pattern) == nil else { return nil }
        let known = session.registry.gitAuthority(ofHost: pattern.host.urlText)
        if let known, let issuer = known.issuer, kind == nil || kind == issuer.kind {
            if prompt != nil {
                console.note("\(pattern.host.urlText) is \(issuer.nameForPeople); taking \(known.authority)")
            }
            return ("\(known.authority)", nil)
        }
        if let kind { return session.gitIssuer(kind: kind).map { (root, $0.kind) } }
        guard let prompt, let issuer = await suggestion() else { return nil }
        let question = "\(pattern.host.urlText) looks like \(issuer.nameForPeople); sign in there?"
        guard await prompt.accepts(question) else { return nil }
        return await settled(root, issuer, prompt)
    }

    /// The URL's own host as one of a kind that the person typed; nil if it is no kind, or they give up.
    func found(typed text: String) async -> Found? {
        guard let root = pattern.ownAuthority, let prompt, let issuer = session.gitIssuer(kind: text) else {
            return nil
        }
        return await settled(root, issuer, prompt)
    }

    /// What the server's own words suggest, which anybody could say.
    private func suggestion() async -> PluginIssuer? {
        console.progress("asking \(pattern.host.urlText.displayable(limit: 255)) how to sign in")
        defer { console.endProgress() }
        return await pattern.answers.lazy.compactMap(session.issuer(suggestedBy:)).first
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
