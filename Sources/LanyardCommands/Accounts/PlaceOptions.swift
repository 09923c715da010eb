import Addresses
import ArgumentParser
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition

/// The authority whose accounts are meant, given directly or by a URL that a rule maps to it.
struct PlaceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only accounts of this authority.", valueName: "url"))
    var authority: String?

    /// Returns the authority that is given, directly or by a URL; nil if there is none.
    func place(_ url: String?, in session: Session) throws(Failure) -> NamedPlace? {
        if let authority {
            let client = session.registry.clientID(
                session.configuration.clientID(at: authority), at: authority.withoutTrailingSlashes)
            return try NamedPlace(authority, clientID: client, in: session)
        }
        guard let url else { return nil }
        let request = try CredentialRequest(url: url)
        guard let wanted = try session.resolve(request) else { throw Failure(noRuleMaps: request) }
        var place = try NamedPlace(wanted, in: session)
        place.url = request.url
        return place
    }
}

/// An authority and the client whose tokens count there.
struct NamedPlace {
    let place: AuthorityPlace
    /// Nil for any client.
    let clientID: String?
    /// The URL that a rule maps to the authority; nil if the authority was given directly.
    var url: String?

    init(_ authority: String, kind: String? = nil, clientID: String?, in session: Session) throws(Failure) {
        let trimmed = authority.withoutTrailingSlashes
        guard let place = session.acquirer.place(of: trimmed, kind: kind) else {
            throw Failure(unknownAuthority: trimmed, in: session.registry)
        }
        self.place = place
        self.clientID = clientID
    }

    init(_ request: TokenRequest, in session: Session) throws(Failure) {
        try self.init(request.authority, kind: request.kind, clientID: request.clientID, in: session)
    }
}

extension AuthorityPlace {
    /// The authority's URL, fit to show.
    var urlForPeople: String { url.displayable(limit: 255) }
}

extension Hint {
    /// What is wrong with an authority that no plugin serves: the path if its host is known, or else all of it.
    static func correcting(authority: String, _ context: CommandContext) -> Hint {
        let isKnown = AuthorityURL(authority).map { context.registry.names(host: $0.host) } ?? false
        return isKnown
            ? .tenant
            : "name it in a [[rule]] in \(context.short(context.userFile)), or install its plugin; see lanyard-plugin(7)"
    }

    /// What the URL of a known authority's host looks like.
    static let tenant: Hint = "write it with its tenant and nothing else, such as \(Example.authority)"
}

extension Failure {
    /// Creates the error for an authority that no plugin serves, as far as the manifests can be read.
    init(
        unknownAuthority url: String, in registry: PluginRegistry,
        hints: [Hint] = ["write it like \(Example.wideAuthority), or name it in a rule first"]
    ) {
        self.init(
            "no plugin supports the authority \(url.displayable(limit: 255))", hints: hints + registry.unreadableHints)
    }
}
