public import PluginWire

/// Issuers that need no looking up: an `[[issuer]]` table.
public struct PluginIssuer: Sendable, Equatable {
    /// What kind of authority they are.
    public let kind: String
    /// Patterns of their hosts: a name or `*.suffix`; empty if only a rule can name the kind.
    public let hosts: [String]
    /// Their endpoints: each an https URL, or a path below the authority's own URL.
    public var endpoints = PluginEndpoints()
    /// The scopes that git and the like need there, none if no scope means all; nil if only rules can name them.
    public var scopes: [String]?
    /// The ways to sign in there, best first.
    public var flows: [PluginRequest.Flow] = []
    /// The flows in which a client proves itself with a secret.
    public var secretFlows: [PluginRequest.Flow] = []
    /// The user name that a token goes with as a password; nil if any will do.
    public var username: String?
    /// User names that stand in URLs for nobody, besides `username`; nil if others need not be accounts' either.
    public var placeholderUsernames: [String]?
    /// Whether servers take a token as such, too (RFC 6750).
    public var takesBearer = true
    /// Whether a renewal ends the token that it replaces.
    public var revokesOnRenewal = false
    /// What people call the kind; empty if only its own name will do.
    public var name = ""
    /// Patterns of git servers elsewhere that take the tokens of the first of `hosts`.
    public var gitHosts: [String] = []
    /// What their git servers call themselves in a challenge (the `realm` of HTTP's Basic); they sign people in at their own URL.
    public var realms: [String] = []
    /// How an application is registered there.
    public var registration = IssuerRegistration()

    /// The endpoints at an authority, each a URL.
    public func endpoints(at authority: AuthorityURL) -> PluginEndpoints {
        var all = endpoints
        for (_, endpoint) in PluginEndpoints.names {
            all[keyPath: endpoint] = all[keyPath: endpoint].map(authority.resolving)
        }
        return all
    }

    /// Whether a user name in a URL is an account's there, and not one that programs write for anybody.
    public func hasAccounts(named name: String) -> Bool {
        guard let placeholderUsernames, !name.isEmpty else { return false }
        let nobodys = placeholderUsernames + [username].compactMap(\.self)
        return !nobodys.contains { $0.lowercased() == name.lowercased() }
    }

    /// The page at an authority where an application is registered; nil if the manifest doesn't say.
    public func registrationPage(at authority: AuthorityURL) -> String? {
        registration.page.map(authority.resolving)
    }

    /// Of these flows those that work there, with the client's secret or without; all if the manifest doesn't say.
    public func usable(_ wanted: [PluginRequest.Flow], hasSecret: Bool) -> [PluginRequest.Flow] {
        wanted.filter { (flows.isEmpty || flows.contains($0)) && (hasSecret || !secretFlows.contains($0)) }
    }

    /// Whether nobody can sign in there without the client's secret.
    public var needsSecret: Bool { !flows.isEmpty && flows.allSatisfy(secretFlows.contains) }
}

/// What a person needs who registers an application at an issuer.
public struct IssuerRegistration: Sendable, Equatable {
    /// The page to do it at: an https URL, or a path below the authority's own URL.
    public var page: String?
    /// What to do there: a sentence without a full stop.
    public var advice: String?
    /// The redirect URI to enter there, which requests name if a rule has no port of its own.
    public var redirectURI: String?

    /// Makes one that says nothing.
    public init() {}
}

extension PluginManifest {
    /// The row for an authority: of the kind that its rule names, or else of its host; nil if there is none.
    func issuer(at authority: AuthorityURL, kind: String?) -> PluginIssuer? {
        let rows = issuers.filter { kind == nil || $0.kind == kind }
        let ranked = rows.compactMap { row in
            row.hosts.compactMap { HostPattern.rank($0, authority.host, isConfigured: false) }.max().map { (row, $0) }
        }
        return ranked.max { $0.1 < $1.1 }?.0 ?? (kind == nil ? nil : rows.first)
    }
}
