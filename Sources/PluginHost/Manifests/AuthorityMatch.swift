public import Addresses
import Claims
public import PluginWire
import SettingsFile

/// An authority's URL, taken apart, and the plugin that serves it.
public struct AuthorityMatch: Sendable, Equatable {
    /// The plugin that serves the authority.
    public let plugin: PluginManifest
    /// The authority's URL, with its host in lower case.
    public let authority: AuthorityURL
    /// The host that tokens are stored under: the first of its aliases, with `:port` if the port isn't 443.
    public let environment: String
    /// Every host of the environment; tokens may have been stored under any of them.
    public let environmentHosts: [String]
    /// The realm in the URL, in lower case or, if it is a path, with its capitals escaped; empty if the path has none.
    public let realm: String
    /// The kind of shared realm that the name stands for; nil if it is a single realm.
    public let sharedRealm: SharedRealm?
    /// The policy in the URL, as written.
    public let policy: String?
    /// The issuer's row in the manifest; nil if there is none.
    public var issuer: PluginIssuer?
    /// Whether each path of the host is a separate issuer with its own accounts and tokens.
    public var isSeparate = false
    /// Whether the plugin's manifest doesn't name the host, but has a `*` for any that the configuration names.
    public var isByWildcard = false

    /// Whether it only stands for identities that the plugin finds on this machine.
    public var isMachine: Bool { MachineIdentity.plugin(ofAuthority: authority.description) != nil }

    /// The scopes of an identity that the plugin finds on this machine, if nothing else says what its token is for; nil if the
    /// plugin has tokens for many resources and none of its own.
    public var ownScopes: [String]? {
        guard isMachine, plugin.isFinder else { return nil }
        return plugin.resources.first?.scopes ?? ["default"]
    }

    /// The clients at the authority's host that users can refer to by name.
    public var clients: [PluginClient] {
        plugin.clients.filter { client in
            client.kinds.isEmpty || client.kinds.contains(issuer?.kind ?? "")
        }
    }

    /// Returns the client with this name or ID; nil if the manifest has none.
    public func client(_ text: String) -> PluginClient? {
        clients.first { $0.name == text } ?? clients.first { $0.id.lowercased() == text.lowercased() }
    }

    /// Whether a text may be the ID of a client at the authority.
    public func takes(clientID: String) -> Bool { plugin.clientIDs?.accepts(clientID) ?? true }

    /// Returns the client name that is nearest to a mistyped one; nil if none is near.
    public func nearestClient(to name: String) -> String? { clients.map(\.name).nearest(to: name.lowercased()) }
}

extension PluginManifest {
    /// Whether it finds identities of one cloud on this machine, whose tokens are for that cloud's hosts alone.
    var isFinder: Bool { identities.contains(.managed) && !name.isSame(as: MachineIdentity.plugin) }

    /// Returns the exchange that a host needs, with `:port` if that isn't 443; nil if the host accepts tokens
    /// themselves.
    ///
    /// If a rule names the exchange, it applies to any host. Otherwise the one that matches the host most exactly does.
    public func exchange(named name: String?, forHost host: String) -> PluginExchange? {
        let named = exchanges.filter { name == nil || $0.name == name }
        return named.best { $0.hosts.rank(of: host.lowercased()) } ?? (name == nil ? nil : named.first)
    }
}

extension AuthorityPattern {
    /// The parts of a URL's path, and how well the pattern fits it.
    struct Fit {
        var realm = ""
        var policy: String?
        /// Whether the realm is the whole path.
        var isWholePath = false
        /// The number of literal segments, then how exactly the host matches; greater is better.
        var rank = (literals: 0, host: 0)
    }

    /// Returns how the pattern fits; nil if it doesn't.
    ///
    /// If the rule names the kind, as it must for a custom domain with other names of policies, any policy fits.
    func fit(_ url: AuthorityURL, isConfigured: Bool, kindIsNamed: Bool = false) -> Fit? {
        guard let hostRank = hosts.rank(of: url.host, isConfigured: isConfigured),
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
            case .policy(let glob):
                fit.policy = text
                // The policies' names only distinguish kinds.
                if let glob, !kindIsNamed, !text.lowercased().matches(glob: glob) { return nil }
            case .rest: break
            }
        }
        if takesRest {
            // Such paths have a case (RFC 3986, 6.2.2.1).
            fit.realm = PluginProtocol.realm(ofPath: Array(url.path.dropFirst(path.count - 1))).withoutCapitals
            fit.isWholePath = true
        }
        return takes(fit.realm) ? fit : nil
    }

    /// Whether its path ends in `{path}`.
    var takesRest: Bool { path.last == .rest }

    /// Whether the pattern includes authorities of a realm, given in lower case.
    package func serves(realm: String) -> Bool {
        (path.contains(.realm) || path.last == .rest) && takes(realm)
    }

    private func takes(_ realm: String) -> Bool {
        (realms.isEmpty || realms.contains(realm)) && !exceptRealms.contains(realm)
    }
}

extension [String] {
    /// Returns how exactly these patterns match a host: 2 by name, 1 with wildcards, 0 for `*`, which counts only for
    /// hosts in the configuration; nil if none matches.
    ///
    /// Each `*` between dots stands for exactly one label, because deeper subdomains often belong to somebody else.
    func rank(of host: String, isConfigured: Bool = false) -> Int? {
        compactMap { pattern in
            if pattern == host { return 2 }
            if pattern == "*" { return isConfigured ? 0 : nil }
            return pattern.hasBytes("*") && host.isHost(meantBy: pattern) ? 1 : nil
        }.max()
    }
}

extension Array {
    /// Returns the element of the highest rank, of several the first; nil if none has a rank.
    func best(_ rank: (Element) -> Int?) -> Element? {
        compactMap { element in rank(element).map { (element, $0) } }.max { $0.1 < $1.1 }?.0
    }
}

extension String {
    /// Whether it matches a pattern with `*` as the only special character.
    func matches(glob pattern: String) -> Bool {
        let parts = pattern.pieces(between: "*", omittingEmpty: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return isSame(as: pattern) }
        guard utf8.starts(with: first.utf8) else { return false }
        var rest = Substring(utf8.dropFirst(first.utf8.count))
        for part in parts.dropFirst().dropLast() {
            guard let (_, after) = rest.cut(atText: part) else { return false }
            rest = after
        }
        return rest.utf8.reversed().starts(with: last.utf8.reversed())
    }
}

extension PluginIssuer {
    /// Returns the scopes that tokens need besides at another host than the issuer's own.
    public func moreScopes(atHost host: String) -> [String] {
        otherHosts.rank(of: host.lowercased()) == nil ? [] : otherScopes
    }
}

extension PluginClient {
    /// Returns those flows that the client may use.
    public func usable(_ all: [PluginRequest.Flow]) -> [PluginRequest.Flow] {
        flows.isEmpty ? all : all.filter(flows.contains)
    }
}

extension PluginRegistry {
    /// Returns the well-known resource whose tokens have these scopes; nil if there is none.
    public func resource(ofScopes scopes: [String]) -> PluginResource? {
        plugins.lazy.flatMap(\.resources).first { $0.scopes == scopes }
    }

    /// Returns the IDs that a client's name stands for at any authority; empty if it isn't a client's name.
    public func clientIDs(named name: String) -> [String] {
        plugins.flatMap(\.clients).filter { $0.name == name }.map(\.id)
    }
}
