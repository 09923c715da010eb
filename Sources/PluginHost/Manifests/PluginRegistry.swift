public import Addresses
import Files
public import SettingsFile
import Terminal

/// The installed plugins.
public struct PluginRegistry: Sendable {
    /// The usable plugins in the order they were found; if several have the same name, the first one found.
    public let plugins: [PluginManifest]
    /// The same with those that can't be used, whose authorities are nevertheless theirs.
    let claimants: [PluginManifest]
    /// The problems with the others.
    public let problems: [SettingsError]
    /// The problems of those plugins of which nobody knows what they claim.
    public let unreadable: [SettingsError]

    /// Creates a registry of known plugins.
    public init(plugins: [PluginManifest], problems: [SettingsError] = [], unreadable: [SettingsError] = []) {
        self.plugins = plugins.filter { $0.problem == nil }
        // What was left out of a manifest is for no other plugin.
        claimants = plugins.flatMap { plugin in
            guard !plugin.leftOut.isEmpty || !plugin.leftOutSources.isEmpty else { return [plugin] }
            var rest = plugin
            (rest.authorities, rest.sources) = (plugin.leftOut, plugin.leftOutSources)
            rest.problem = plugin.loss
            return [plugin, rest]
        }
        self.problems = problems
        self.unreadable = unreadable
    }

    /// The notes about usable plugins, but for those that are problems.
    public var notes: [SettingsError] {
        plugins.flatMap(\.notes).filter { note in
            !problems.contains { $0.file == note.file && $0.line == note.line && $0.message == note.message }
        }
    }

    /// Whether a usable plugin's tokens have this origin; nil stands for those that ship with lanyard.
    public func hasPlugin(of origin: String?) -> Bool { plugins.contains { $0.origin == origin } }

    /// Finds the plugins without starting any.
    ///
    /// The order of the search is: `$LANYARD_PLUGIN_PATH`, `$XDG_DATA_HOME/lanyard/plugins`, `lib/lanyard/plugins` of
    /// the prefix that the program is installed under, `plugins` of the checkout that it was built in. A problem with a
    /// plugin is added to `problems` and doesn't prevent the others from being found.
    ///
    /// - Parameters:
    ///   - environment: The process's environment.
    ///   - executable: The running program; by default its own file.
    /// - Returns: The plugins and the problems.
    public static func discover(environment: [String: String], executable: String? = nil) -> PluginRegistry {
        let program = FileTrust.realPath(executable ?? "/proc/self/exe")
        return PluginDiscovery(places: PluginFolders(environment: environment, executable: program)).registry()
    }

    /// Returns the plugin that serves an authority.
    ///
    /// If several patterns fit, the one with the most literal segments wins, then the one that matches the host most
    /// exactly, then the plugin found first. It may be one that can't be used: its authorities are for no other one.
    ///
    /// - Parameters:
    ///   - authority: The authority's URL.
    ///   - kind: The rule's `kind`, which restricts the choice to plugins of that kind.
    ///   - isConfigured: Whether the user's or the system's configuration names the authority, so that `*` may match.
    /// - Returns: The match; nil if no plugin serves the authority, or if its URL isn't valid.
    public func match(authority: String, kind: String? = nil, isConfigured: Bool) -> AuthorityMatch? {
        guard let url = AuthorityURL(authority) else { return nil }
        var best: (plugin: PluginManifest, fit: AuthorityPattern.Fit)?
        for plugin in claimants where kind.map(plugin.kinds.contains) ?? true {
            let fits = plugin.authorities.compactMap { pattern in
                // A plugin that serves any path must not serve an authority that another plugin knows and refuses; and
                // of hosts that a user's own plugin names, no other plugin does. One whose tokens are only for exchanges
                // is nobody's usual issuer.
                let isOthers =
                    isConfigured && kind == nil
                    && (pattern.takesRest && plugin.supports.contains(.exchangesOnly)
                        || claimants.contains { other in
                            other.name != plugin.name && (pattern.takesRest || other.origin != nil)
                                && other.names(host: url.host)
                        })
                return pattern.fit(url, isConfigured: isConfigured && !isOthers, kindIsNamed: kind != nil)
            }
            for fit in fits {
                if let best, best.fit.rank >= fit.rank { continue }
                best = (plugin, fit)
            }
        }
        guard let best else { return nil }
        let hosts = best.plugin.environments.first { $0.contains(url.host) } ?? [url.host]
        var match = AuthorityMatch(
            plugin: best.plugin, authority: url, environment: hosts.first ?? url.host, environmentHosts: hosts,
            realm: best.fit.realm, sharedRealm: best.plugin.sharedRealms.first { $0.name == best.fit.realm },
            policy: best.fit.policy)
        match.issuer = best.plugin.issuer(at: url, kind: kind)
        match.isSeparate = best.fit.isWholePath
        match.isByWildcard = best.fit.rank.host == 0
        return match
    }

    /// Returns the URL of an authority with its shared realm replaced by the realm in another URL of it, which may be that
    /// of an endpoint.
    ///
    /// - Returns: The URL; nil if the authority's realm isn't shared or can't be replaced by a realm of that form, or
    ///   if the other URL belongs to another environment.
    public func narrowing(_ wide: AuthorityMatch, to named: String, isConfigured: Bool) -> String? {
        guard let shared = wide.sharedRealm,
            let named = match(authority: wide.plugin.authority(ofEndpoint: named), isConfigured: isConfigured),
            named.environment == wide.environment, named.sharedRealm == nil, named.policy == nil,
            named.authority.path.count == wide.authority.path.count,
            shared.narrows, !shared.exceptHomes.contains(named.realm),
            RealmForm.allCases.contains(where: { $0.accepts(named.realm) })
        else { return nil }
        let path = wide.authority.path.map { $0.lowercased() == wide.realm ? named.realm : $0 }
        return "https://\(wide.authority.host)/\(path.joined(separator: "/"))"
    }

    /// The hosts of well-known resources that serve git, with the owner of a repository in the path.
    public var gitHosts: [String] { plugins.flatMap(\.resources).flatMap(\.gitHosts) }

    /// Returns the authority that a manifest names for a git server: at its own host, or the one whose tokens it
    /// accepts.
    ///
    /// - Parameter host: The host, with `:port` if the port isn't 443.
    /// - Returns: The match, whose `issuer` isn't nil; nil if no manifest names the host as an issuer's.
    public func gitAuthority(ofHost host: String) -> AuthorityMatch? {
        let host = host.lowercased()
        let issuer = plugins.lazy.flatMap(\.issuers).first { $0.gitHosts.rank(of: host) != nil }
        let match = match(authority: "https://\(issuer?.hosts.first ?? host)", isConfigured: true)
        return match?.issuer == nil ? nil : match
    }

    /// Returns the issuer that another host than its own belongs to, such as a registry or another git server.
    public func issuer(ofOtherHost host: String) -> PluginIssuer? {
        plugins.lazy.flatMap(\.issuers).first { ($0.otherHosts + $0.gitHosts).rank(of: host.lowercased()) != nil }
    }

    /// The issuers whose git servers' users sign in at the server's own URL, whatever its host.
    public var gitIssuers: [PluginIssuer] { plugins.flatMap(\.issuers).filter { !$0.realms.isEmpty } }

    /// Returns the issuer whose git servers' challenges have one of these realms, ignoring case; nil if there is none,
    /// or several.
    public func gitIssuer(ofRealms realms: [String]) -> PluginIssuer? {
        let realms = Set(realms.map { $0.lowercased() })
        let named = gitIssuers.filter { issuer in issuer.realms.contains { realms.contains($0.lowercased()) } }
        return named.count == 1 ? named[0] : nil
    }

    /// Returns the first well-known resource that one of these scopes is for; nil if no manifest names one.
    public func resource(forScopes scopes: [String]) -> PluginResource? {
        plugins.flatMap(\.resources).first { $0.scopes.contains { scopes.contains($0) } }
    }

    /// Returns the named client with this ID; nil if no manifest has one.
    public func client(withID id: String) -> PluginClient? {
        plugins.flatMap(\.clients).first { $0.id.lowercased() == id.lowercased() }
    }

    /// Returns the well-known resource at a host, whose `scopes` are requested for its tokens.
    ///
    /// - Parameter host: The host, with `:port` if the port isn't 443.
    /// - Returns: The tool; nil if no manifest names the host.
    public func resource(forHost host: String) -> PluginResource? {
        plugins.filter { !$0.isFinder }.flatMap(\.resources).best { $0.hosts.rank(of: host.lowercased()) }
    }

    /// Returns the plugin whose identities, which it finds on this machine, have tokens for a host.
    ///
    /// - Parameter host: The host, with `:port` if the port isn't 443.
    /// - Returns: The plugin; nil if there is none.
    public func finder(forHost host: String) -> PluginManifest? {
        plugins.filter(\.isFinder).best { plugin in
            let host = host.lowercased()
            return (plugin.resources.map(\.hosts) + plugin.exchanges.map(\.hosts)).compactMap { $0.rank(of: host) }
                .max()
        }
    }

    /// Returns the scopes that an issuer's tokens need at a host; nil if they have none unless a rule says.
    ///
    /// Its own scopes are for git. A host of the same cloud as its git servers takes its tokens with that cloud's scopes.
    public func scopes(of issuer: PluginIssuer, forHost host: String) -> [String]? {
        let host = host.lowercased()
        guard issuer.gitHosts.rank(of: host) == nil else { return issuer.scopes }
        let cloud = plugins.filter(\.isFinder).flatMap(\.resources).first { resource in
            resource.hosts.rank(of: host) != nil && resource.hosts.contains { issuer.gitHosts.contains($0) }
        }
        return cloud?.scopes ?? issuer.scopes
    }

    /// Returns the plugin that gets an authority's tokens from a broker; nil if there is none.
    public func broker(for match: AuthorityMatch) -> PluginManifest? {
        plugins.first { plugin in plugin.brokered.contains { $0.serves(match) } }
    }

    /// Returns the origin of another program's records of a host: the plugin that names it, unless one that ships with
    /// lanyard does, too, or none does; nil for those that ship with lanyard.
    public func origin(ofHost host: String) -> String? {
        let origins = claimants.filter { $0.authorities.contains { $0.hosts.rank(of: host.lowercased()) != nil } }
            .map(\.origin)
        return origins.contains(nil) ? nil : origins.first ?? nil
    }

    /// Returns the hosts of the environment that a host belongs to, first the one that requests go to.
    ///
    /// - Parameters:
    ///   - host: The host, with `:port` if the port isn't 443.
    ///   - isConfigured: Whether the user's or the system's configuration names the host, so that `*` may match.
    /// - Returns: The hosts; nil if no plugin serves an authority at the host.
    public func environment(ofHost host: String, isConfigured: Bool) -> [String]? {
        let host = host.lowercased()
        let authorities = claimants.lazy.flatMap(\.authorities)
        guard authorities.contains(where: { $0.hosts.rank(of: host, isConfigured: isConfigured) != nil }) else {
            return nil
        }
        return plugins.lazy.flatMap(\.environments).first { $0.contains(host) } ?? [host]
    }

    /// Returns the first host of the environment that a host belongs to, under which its locks are.
    public func firstHost(ofEnvironment host: String) -> String {
        let host = host.lowercased()
        return plugins.lazy.flatMap(\.environments).first { $0.contains(host) }?.first ?? host
    }

    /// Returns the folders where plugins are looked for, whether or not they exist; reads nothing.
    public static func folders(environment: [String: String], executable: String?) -> [String] {
        PluginFolders(environment: environment, executable: executable).folders
    }

    /// The patterns of the authorities' hosts, without `*`.
    private var hostPatterns: [String] {
        plugins.flatMap(\.authorities).flatMap(\.hosts).filter { !$0.isSame(as: "*") }
    }

    /// The patterns of hosts whose names have no other legitimate use.
    ///
    /// An organisation's own GitLab may be called `gitlab.contoso.com`; a plugin that serves any path also serves such
    /// hosts.
    private var distinctivePatterns: [String] {
        plugins.flatMap(\.authorities).filter { !$0.takesRest }.flatMap(\.hosts).filter { !$0.isSame(as: "*") }
    }

    /// Whether a manifest names an authority's host, by itself or below a domain.
    ///
    /// - Parameter host: The host, with `:port` if the port isn't 443.
    /// - Returns: Whether one does; `*` doesn't count.
    public func names(host: String) -> Bool { plugin(naming: host) != nil }

    /// Returns the first plugin whose manifest names a host; nil if none does.
    public func plugin(naming host: String) -> PluginManifest? {
        let host = host.lowercased()
        return claimants.first { $0.names(host: host) }
    }

    /// Returns the plugin that exchanges an authority's tokens for a host, with `:port` if that isn't 443; nil if none
    /// does.
    ///
    /// It is the authority's own plugin, or else another one of the same origin, to which its tokens belong, too. What a
    /// plugin finds on this machine has no authority, so for these tokens it is whichever plugin has an exchange for the host.
    /// Tokens that are only for exchanges are only for those of their own plugin.
    public func exchanger(named name: String?, forHost host: String, at match: AuthorityMatch) -> PluginManifest? {
        exchangers(at: match).first { $0.exchange(named: name, forHost: host) != nil }
    }

    /// Returns the row of an authority's tokens' exchange for a host; nil if there is none.
    public func exchange(named name: String?, forHost host: String, at match: AuthorityMatch) -> PluginExchange? {
        exchanger(named: name, forHost: host, at: match)?.exchange(named: name, forHost: host)
    }

    /// The names of all exchanges of an authority's tokens.
    public func exchangeNames(at match: AuthorityMatch) -> [String] {
        Set(exchangers(at: match).flatMap(\.exchanges).map(\.name)).sorted()
    }

    private func exchangers(at match: AuthorityMatch) -> [PluginManifest] {
        guard !match.plugin.supports.contains(.exchangesOnly) else { return [match.plugin] }
        return [match.plugin] + (match.isMachine ? claimants : claimants.filter { $0.origin == match.plugin.origin })
    }

    /// Returns the name of the row in a rule's source, and what the rule says besides after a colon; empty if nothing.
    public static func parts(ofSource text: String) -> (name: String, reference: String) {
        text.cut(at: ":").map { (String($0.0), String($0.1)) } ?? (text, "")
    }

    /// Returns the plugin and the row that a source's name stands for; nil if there is none.
    ///
    /// It may be a plugin that can't be used.
    public func source(named name: String) -> (plugin: PluginManifest, row: PluginSource)? {
        for plugin in claimants {
            if let row = plugin.sources.first(where: { $0.name == name }) { return (plugin, row) }
        }
        return nil
    }

    /// The sources that have the sign-ins of a kind of code host.
    public func sources(ofKind kind: String) -> [PluginSource] {
        plugins.flatMap(\.sources).filter { $0.kinds.contains(kind) }
    }

    /// The names of all sources.
    public var sourceNames: [String] { plugins.flatMap(\.sources).map(\.name).uniqued }

    /// Whether a manifest has an exchange for a host, with `:port` if that isn't 443.
    public func exchanges(forHost host: String) -> Bool {
        let host = host.lowercased()
        return plugins.contains { $0.exchanges.contains { $0.hosts.rank(of: host) != nil } }
    }

    /// Whether a host is known to serve images, packages or keys, and no git.
    public func servesNoGit(host: String) -> Bool {
        let isOther = plugins.lazy.flatMap(\.issuers).contains { $0.otherHosts.rank(of: host.lowercased()) != nil }
        return isOther || exchanges(forHost: host)
    }

    /// Returns the host in a manifest that this host could be mistaken for.
    ///
    /// It differs in few letters or in its port, or the given host contains the name of its domain.
    ///
    /// - Parameter host: The host to check, with `:port` if the port isn't 443.
    /// - Returns: The similar host; nil if a manifest names the host itself, or if none is similar.
    public func lookAlike(of host: String) -> String? {
        guard !names(host: host) else { return nil }
        let name = RequestHost(host)?.name ?? host.lowercased()
        let patterns = hostPatterns
        let near = patterns.compactMap { HostLikeness(of: name, to: $0) }.min { $0.distance < $1.distance }
        if let near { return near.host }
        let words = name.pieces(between: ".").flatMap { [$0] + $0.pieces(between: "-") }
        return distinctivePatterns.first { pattern in
            let domain = pattern.hasBytes("*") ? nil : pattern.pieces(between: ".").dropLast().last
            return domain.map { domain in words.contains { domain.mayBeTaken(for: $0) } } ?? false
        }
    }

    /// Returns the URL of the authority that the user means; the text itself if it has a scheme or means nothing else.
    public func authority(typed text: String) -> String {
        guard StrictURL.scheme(of: text) == nil, !text.isEmpty else { return text }
        let url = "https://\(text)"
        guard !text.hasBytes("/") else { return completed(url) }
        // Of an email address, the domain.
        let realm = (text.cut(atLast: "@").map { String($0.1) } ?? text).lowercased()
        guard !names(host: realm) else { return url }
        return plugins.lazy.compactMap { $0.authority(ofRealm: realm) }.first ?? url
    }

    /// Returns a URL in which a realm of a single label has its plugin's domain appended.
    private func completed(_ url: String) -> String {
        guard let match = match(authority: url, isConfigured: true), match.sharedRealm == nil,
            let realm = match.plugin.wholeRealm(match.realm), realm != match.realm
        else { return url }
        let path = match.authority.path.map { $0.lowercased() == match.realm ? realm : $0 }
        return "https://\(match.authority.host)/\(path.joined(separator: "/"))"
    }
}

extension InstalledPlugins {
    /// The hosts whose paths mean the same in upper and lower case, at whichever port.
    public var caseless: HostTrait {
        HostTrait { self.registry.resource(forHost: $0.name)?.ignoresPathCase ?? false }
    }
}

extension BrokerPattern {
    func serves(_ match: AuthorityMatch) -> Bool {
        match.plugin.kind == kind && authority.fit(match.authority, isConfigured: true) != nil
    }
}

extension PluginManifest {
    /// Whether the plugin's needs are met, as far as that shows without starting anything.
    public func hasNeeds(in environment: [String: String]) -> Bool {
        brokered.isEmpty || PluginEnvironment.hasSessionBus(environment)
    }

    /// Whether an `[[authority]]` names a host, in lower case, by itself or below a domain.
    fileprivate func names(host: String) -> Bool {
        authorities.contains { $0.hosts.rank(of: host) != nil }
    }

    /// Returns the authority of a realm, in lower case, that the user typed alone; nil if the plugin has none.
    fileprivate func authority(ofRealm realm: String) -> String? {
        guard let pattern = realmAuthority else { return nil }
        let isNamed = authorities.contains { $0.realms.contains(realm) }
        let isServed = authorities.contains { $0.realms.isEmpty && $0.serves(realm: realm) }
        guard let whole = isNamed ? realm : isServed ? wholeRealm(realm) : nil else { return nil }
        return pattern.replacing(bytes: "{realm}", with: whole)
    }

    /// Returns a realm, in lower case, with its domain appended if it is a single label; nil if it isn't a valid realm.
    fileprivate func wholeRealm(_ realm: String) -> String? {
        if RealmForm.allCases.contains(where: { $0.accepts(realm) }) { return realm }
        guard let realmDomain else { return nil }
        let whole = "\(realm).\(realmDomain)"
        return !realm.hasBytes(".") && RealmForm.domain.accepts(whole) ? whole : nil
    }
}
