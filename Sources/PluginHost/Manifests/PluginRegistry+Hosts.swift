import Addresses
import SettingsFile

extension PluginRegistry {
    /// The patterns of the authorities' hosts, but for `*`, which names none.
    private var hostPatterns: [String] {
        plugins.flatMap(\.authorities).flatMap(\.hosts).filter { !$0.isSame(as: "*") }
    }

    /// Those whose names nobody else has a reason to use.
    ///
    /// An organisation's own GitLab is called `gitlab.contoso.com`: a plugin that serves any path serves such hosts too.
    private var distinctivePatterns: [String] {
        plugins.flatMap(\.authorities).filter { !$0.takesRest }.flatMap(\.hosts).filter { !$0.isSame(as: "*") }
    }

    /// Whether a manifest names an authority's host, by itself or below a domain.
    ///
    /// - Parameter host: The host, with `:port` if the port isn't 443.
    /// - Returns: Whether one does, `*` naming none.
    public func names(host: String) -> Bool { names(host: host, besides: nil) }

    /// Whether another plugin's manifest does.
    func names(host: String, besides plugin: PluginManifest?) -> Bool {
        let host = host.lowercased()
        return plugins.contains { $0.name != plugin?.name && $0.names(host: host) }
    }

    /// The plugin that turns an authority's tokens into what a host takes, with `:port` if that isn't 443; nil if none does.
    ///
    /// It is the authority's own. A machine's platform is no authority, so that whichever plugin exchanges tokens for the host does.
    public func exchanger(named name: String?, forHost host: String, at match: AuthorityMatch) -> PluginManifest? {
        let able = match.plugin.authorities.isEmpty ? plugins : [match.plugin]
        return able.first { $0.exchange(named: name, forHost: host) != nil }
    }

    /// Whether some manifest says what tokens are turned into for a host, with `:port` if that isn't 443.
    public func exchanges(forHost host: String) -> Bool {
        let host = host.lowercased()
        return plugins.contains { $0.exchanges.contains { $0.rank(host) != nil } }
    }

    /// The host that a manifest names and that people could take another for.
    ///
    /// It differs in few letters or in its port, or the other has the name of its domain somewhere.
    ///
    /// - Parameter host: The other, with `:port` if the port isn't 443.
    /// - Returns: The host; nil if a manifest names the other itself, or it is like none.
    public func lookAlike(of host: String) -> String? {
        guard !names(host: host) else { return nil }
        let name = (host.cut(at: ":")?.0 ?? host[...]).lowercased()
        let patterns = hostPatterns
        let near = patterns.compactMap { HostLikeness(of: name, to: $0) }.min { $0.distance < $1.distance }
        if let near { return near.host }
        let words = name.pieces(between: ".").flatMap { [$0] + $0.pieces(between: "-") }
        return distinctivePatterns.first { pattern in
            let domain = pattern.hasBytes("*") ? nil : pattern.pieces(between: ".").dropLast().last
            return domain.map { domain in words.contains { domain.mayBeTaken(for: $0) } } ?? false
        }
    }
}

extension PluginManifest {
    /// Whether an `[[authority]]` names a host, lower case, by itself or below a domain.
    fileprivate func names(host: String) -> Bool {
        authorities.contains { $0.hosts.contains { HostPattern.rank($0, host, isConfigured: false) != nil } }
    }
}

/// How alike a host is to one of a pattern's.
private struct HostLikeness {
    /// The pattern's, which the other could be taken for.
    let host: String
    let distance: Int

    /// Nil if they differ too much to be taken for each other.
    init?(of name: String, to pattern: String) {
        let fixed = pattern.pieces(between: ".").filter { !$0.isSame(as: "*") }
        let labels = name.pieces(between: ".")
        let isWhole = fixed.count == pattern.pieces(between: ".").count
        guard isWhole || labels.count > fixed.count else { return nil }
        let first = isWhole ? [] : labels.dropLast(fixed.count)
        let own = fixed.joined(separator: ".")
        distance = own.editDistance(to: labels.dropFirst(first.count).joined(separator: "."))
        // What is deeper below a pattern's domain is like nothing but itself.
        guard distance <= own.slips, isWhole || distance > 0 else { return nil }
        host = (first + fixed).joined(separator: ".")
    }
}

extension StringProtocol {
    /// How many letters of it may be wrong before nobody reads it as the same.
    fileprivate var slips: Int { Swift.max(1, utf8.count / 8) }

    /// Whether a word is as good as the same; of short ones one letter makes another word.
    fileprivate func mayBeTaken(for word: Substring) -> Bool {
        String(self).editDistance(to: String(word)) <= (utf8.count < 8 ? 0 : slips)
    }
}
