public import Addresses
import Files

/// The installed plugins.
public struct PluginRegistry: Sendable {
    /// The usable plugins in the order they were found; if several have the same name, the first one found.
    public let plugins: [PluginManifest]
    /// The same with those that can't be used, whose authorities are nevertheless theirs.
    let claimants: [PluginManifest]
    /// The problems with the others.
    public let problems: [PluginProblem]
    /// The problems of those plugins of which nobody knows what they claim.
    public let unreadable: [PluginProblem]

    /// Creates a registry of known plugins.
    public init(plugins: [PluginManifest], problems: [PluginProblem] = [], unreadable: [PluginProblem] = []) {
        self.plugins = plugins.filter { $0.problem == nil }
        // What was left out of a manifest is for no other plugin.
        claimants = plugins.flatMap { plugin in
            guard !plugin.leftOut.isEmpty else { return [plugin] }
            var rest = plugin
            rest.authorities = plugin.leftOut
            rest.problem = plugin.notes.first { $0.message.hasBytes("[[authority]]") }
            return [plugin, rest]
        }
        self.problems = problems
        self.unreadable = unreadable
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
        return PluginDiscovery(places: PluginPlaces(environment: environment, executable: program)).registry()
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
                // A plugin that serves any path must not serve an authority that another plugin knows and refuses.
                let isOthers =
                    isConfigured && kind == nil && pattern.takesRest && names(host: url.host, besides: plugin)
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
            shared.narrowsTo.contains(where: { $0.accepts(named.realm) })
        else { return nil }
        let path = wide.authority.path.map { $0.lowercased() == wide.realm ? named.realm : $0 }
        return "https://\(wide.authority.host)/\(path.joined(separator: "/"))"
    }

    /// The hosts of well-known consumers that serve git, with the owner of a repository in the path.
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

    /// The issuers whose git servers' users sign in at the server's own URL, whatever its host.
    public var gitIssuers: [PluginIssuer] { plugins.flatMap(\.issuers).filter { !$0.realms.isEmpty } }

    /// Returns the issuer whose git servers' challenges have one of these realms, ignoring case; nil if there is none,
    /// or several.
    public func gitIssuer(ofRealms realms: [String]) -> PluginIssuer? {
        let realms = Set(realms.map { $0.lowercased() })
        let named = gitIssuers.filter { issuer in issuer.realms.contains { realms.contains($0.lowercased()) } }
        return named.count == 1 ? named[0] : nil
    }

    /// Returns the first well-known consumer that one of these scopes is for; nil if no manifest names one.
    public func resource(forScopes scopes: [String]) -> PluginResource? {
        plugins.flatMap(\.resources).first { $0.scopes.contains { scopes.contains($0) } }
    }

    /// Returns the named client with this ID; nil if no manifest has one.
    public func client(withID id: String) -> PluginClient? {
        plugins.flatMap(\.clients).first { $0.id.lowercased() == id.lowercased() }
    }

    /// Returns the well-known consumer at a host, whose `scopes` are requested for its tokens.
    ///
    /// - Parameter host: The host, with `:port` if the port isn't 443.
    /// - Returns: The consumer; nil if no manifest names the host.
    public func resource(forHost host: String) -> PluginResource? {
        plugins.flatMap(\.resources).best { $0.hosts.rank(of: host.lowercased()) }
    }
}

extension InstalledPlugins {
    /// The hosts whose paths mean the same in upper and lower case, at whichever port.
    public var caseless: HostTrait {
        HostTrait { self.registry.resource(forHost: $0.name)?.ignoresPathCase ?? false }
    }
}

/// One search of the places where plugins are.
private struct PluginDiscovery {
    let places: PluginPlaces
    var plugins: [PluginManifest] = []
    var unreadable: [PluginProblem] = []
    var problems: [PluginProblem] = []
    var trust = FileTrust()

    func registry() -> PluginRegistry {
        var search = self
        for place in places.folders {
            let names = search.names(in: place)
            for name in names.sorted() where !name.hasPrefix(".") { search.visit(name, in: place) }
        }
        return PluginRegistry(plugins: search.plugins, problems: search.problems, unreadable: search.unreadable)
    }

    private mutating func names(in place: String) -> [String] {
        do throws(FileProblem) {
            return try Folder(place).names(atMost: 1024)
        } catch {
            // A folder of somebody else's home is none of the places.
            guard FileStatus(of: place)?.isFolder == true else { return [] }
            let problem = PluginProblem(file: place, "cannot be read: \(error.reason)")
            problems.append(problem)
            unreadable.append(problem)
            return []
        }
    }

    /// Looks at one folder; a plugin of a name that was found earlier is hidden by that one, even if it can't be used.
    private mutating func visit(_ name: String, in place: String) {
        do throws(PluginProblem) {
            let folder = PluginFolder(folder: place + "/" + name, name: name)
            guard var plugin = try folder.load(places, &trust) else { return }
            guard !plugins.contains(where: { $0.name == plugin.name }) else { return }
            if let problem = plugin.problem {
                problems.append(problem)
            } else if let hidden = unreadable.first(where: { $0.plugin == name }) {
                // The one that can't be read would have these authorities.
                plugin.problem = hidden
            }
            plugins.append(plugin)
        } catch {
            var problem = error
            problem.plugin = name
            problems.append(problem)
            if !plugins.contains(where: { $0.name == name }) { unreadable.append(problem) }
        }
    }
}
