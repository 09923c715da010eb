public import Addresses
public import PluginWire

/// Issuers whose properties are known without discovery: an `[[issuer]]` table.
public struct PluginIssuer: Sendable, Equatable {
    /// The kind of authority.
    public let kind: String
    /// Patterns of their hosts: a name or `*.suffix`; empty if only a rule can name the kind.
    public let hosts: [String]
    /// Their endpoints, each an https URL or a path below the authority's URL.
    public var endpoints = PluginEndpoints()
    /// The scopes that git and similar tools need there, empty if no scope means all; nil if only rules can name them.
    public var scopes: [String]?
    /// The flows that work there, best first.
    public var flows: [PluginRequest.Flow] = []
    /// The flows that need a client secret.
    public var secretFlows: [PluginRequest.Flow] = []
    /// The user name that servers require if a token is sent as a password; nil if any will do.
    public var username: String?
    /// User names in URLs that stand for no account, besides `username`; nil if no user name in a URL need be an
    /// account.
    public var placeholderUsernames: [String]?
    /// Whether servers also accept a bearer token (RFC 6750).
    public var takesBearer = true
    /// Whether a renewal revokes the token that it replaces.
    public var revokesOnRenewal = false
    /// The display name of the kind; empty if there is none.
    public var name = ""
    /// Patterns of git servers on other hosts that accept tokens of the first of `hosts`.
    public var gitHosts: [String] = []
    /// The `realm` of their git servers' HTTP Basic challenges; their users sign in at the git server's own URL.
    public var realms: [String] = []
    /// How to register an application there.
    public var registration = IssuerRegistration()

    /// Returns the endpoints of an authority as URLs.
    public func endpoints(at authority: AuthorityURL) -> PluginEndpoints {
        var all = endpoints
        for (_, endpoint) in PluginEndpoints.names {
            all[keyPath: endpoint] = all[keyPath: endpoint].map(authority.resolving)
        }
        return all
    }

    /// Whether a user name in a URL is an account there, rather than a placeholder that programs write.
    public func hasAccounts(named name: String) -> Bool {
        guard let placeholderUsernames, !name.isEmpty else { return false }
        let nobodys = placeholderUsernames + [username].compactMap(\.self)
        return !nobodys.contains { $0.lowercased() == name.lowercased() }
    }

    /// Returns the page of an authority where applications are registered; nil if the manifest doesn't name one.
    public func registrationPage(at authority: AuthorityURL) -> String? {
        registration.page.map(authority.resolving)
    }

    /// Returns the flows that work there, with or without the client's secret; all if the manifest doesn't say.
    public func usable(_ wanted: [PluginRequest.Flow], hasSecret: Bool) -> [PluginRequest.Flow] {
        wanted.filter { (flows.isEmpty || flows.contains($0)) && (hasSecret || !secretFlows.contains($0)) }
    }

    /// Whether signing in there always requires the client's secret.
    public var needsSecret: Bool { !flows.isEmpty && flows.allSatisfy(secretFlows.contains) }
}

/// Information for a user who registers an application at an issuer.
public struct IssuerRegistration: Sendable, Equatable {
    /// The page for registering: an https URL, or a path below the authority's URL.
    public var page: String?
    /// The steps to take there: a sentence without a full stop.
    public var advice: String?
    /// The redirect URI to enter there, which requests use if a rule has no port of its own.
    public var redirectURI: String?
}

extension PluginManifest {
    /// Returns the row for an authority: of the kind that its rule names, or else of its host; nil if there is none.
    func issuer(at authority: AuthorityURL, kind: String?) -> PluginIssuer? {
        let rows = issuers.filter { kind == nil || $0.kind == kind }
        return rows.best { $0.hosts.rank(of: authority.host) } ?? (kind == nil ? nil : rows.first)
    }
}
