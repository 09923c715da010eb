import Addresses
import PluginWire

/// Which plugin serves an authority, and what the authority's URL says.
public struct AuthorityMatch: Sendable, Equatable {
    /// The plugin that serves the authority.
    public let plugin: PluginManifest
    /// The authority's URL, its host in lower case.
    public let authority: AuthorityURL
    /// The host that tokens are kept under: the first of its aliases, with `:port` if the port isn't 443.
    public let environment: String
    /// Every host of the environment; tokens may have been kept under any.
    public let environmentHosts: [String]
    /// The realm in the URL, lower case; empty if its path has none.
    public let realm: String
    /// What the realm stands for, if it is none itself.
    public let sharedRealm: SharedRealm?
    /// The policy in the URL, as written.
    public let policy: String?
    /// What the manifest says of the issuer; nil if nothing.
    public var issuer: PluginIssuer?
    /// Whether each path of the host is an issuer by itself, whose accounts and tokens are nobody else's.
    public var isSeparate = false
}

extension PluginManifest {
    /// What the plugin turns tokens into for a host, with `:port` if that isn't 443; nil if the host takes tokens themselves.
    ///
    /// The row of a name that a rule has for it counts for any host, otherwise the one that names the host most exactly.
    public func exchange(named name: String?, forHost host: String) -> PluginExchange? {
        let ranked = exchanges.compactMap { row in
            row.rank(host.lowercased()).map { (row, $0) }
        }
        let best = ranked.filter { name == nil || $0.0.name == name }.max { $0.1 < $1.1 }?.0
        return best ?? name.flatMap { name in exchanges.first { $0.name == name } }
    }
}

extension PluginExchange {
    /// How exactly a host is named; nil if it isn't.
    func rank(_ host: String) -> Int? { hosts.compactMap { HostPattern.rank($0, host, isConfigured: false) }.max() }
}

extension AuthorityPattern {
    /// What a URL's path says, and how well the pattern fits it.
    struct Fit {
        var realm = ""
        var policy: String?
        /// Whether the realm is all of the path.
        var isWholePath = false
        /// Literal segments, then how exactly the host was named: the greater fits better.
        var rank = (literals: 0, host: 0)
    }

    /// How the pattern fits, or nil if it doesn't.
    ///
    /// The policies' names only tell kinds apart: if the rule names the kind, as it must for a custom domain with
    /// policies named otherwise, any will do.
    func fit(_ url: AuthorityURL, isConfigured: Bool, kindIsNamed: Bool = false) -> Fit? {
        let ranks = hosts.compactMap { HostPattern.rank($0, url.host, isConfigured: isConfigured) }
        guard let hostRank = ranks.max(),
            takesRest ? url.path.count >= path.count - 1 : url.path.count == path.count
        else { return nil }
        var fit = Fit()
        fit.rank.host = hostRank
        for (segment, text) in zip(path, url.path) {
            switch segment {
            case .literal(let literal):
                guard literal == text.lowercased() else { return nil }
                fit.rank.literals += 1
            case .realm: fit.realm = text.lowercased()
            case .policy: fit.policy = text
            case .rest: break
            }
        }
        if takesRest {
            fit.realm = PluginProtocol.realm(ofPath: url.path.dropFirst(path.count - 1))
            fit.isWholePath = true
        }
        return allows(fit, anyPolicy: kindIsNamed) ? fit : nil
    }

    /// Whether its path ends in `{path}`.
    var takesRest: Bool { path.last == .rest }

    /// Whether an authority of a realm, lower case, may be among those meant.
    package func serves(realm: String) -> Bool {
        (path.contains(.realm) || path.last == .rest) && takes(realm)
    }

    private func takes(_ realm: String) -> Bool {
        (realms.isEmpty || realms.contains(realm)) && !exceptRealms.contains(realm)
    }

    private func allows(_ fit: Fit, anyPolicy: Bool) -> Bool {
        guard takes(fit.realm) else { return false }
        guard let policy = fit.policy, !policies.isEmpty, !anyPolicy else { return true }
        return policies.contains { Glob.matches($0, policy.lowercased()) }
    }
}

enum HostPattern {
    /// How exactly the pattern names the host: 2 by name, 1 with wildcards, 0 as `*`; nil if it doesn't.
    ///
    /// Each `*` between dots stands for exactly one label: what is deeper down belongs to somebody else as often as not.
    static func rank(_ pattern: String, _ host: String, isConfigured: Bool) -> Int? {
        if pattern == host { return 2 }
        if pattern == "*" { return isConfigured ? 0 : nil }
        return pattern.hasBytes("*") && host.isHost(meantBy: pattern) ? 1 : nil
    }
}

/// Globs with `*` and nothing else.
enum Glob {
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return pattern.isSame(as: text) }
        guard text.utf8.starts(with: first) else { return false }
        var rest = text.utf8.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.reversed().starts(with: last.reversed())
    }
}
