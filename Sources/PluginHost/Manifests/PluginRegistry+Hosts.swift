import Addresses
import SettingsFile

extension PluginRegistry {
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
    public func names(host: String) -> Bool { names(host: host, besides: nil) }

    /// Whether another plugin's manifest names it.
    func names(host: String, besides plugin: PluginManifest?) -> Bool {
        let host = host.lowercased()
        return claimants.contains { $0.name != plugin?.name && $0.names(host: host) }
    }

    /// Returns the plugin that exchanges an authority's tokens for a host, with `:port` if that isn't 443; nil if none
    /// does.
    ///
    /// It is the authority's own plugin. A machine's platform isn't an authority, so for its tokens it is whichever
    /// plugin has an exchange for the host.
    public func exchanger(named name: String?, forHost host: String, at match: AuthorityMatch) -> PluginManifest? {
        let able = match.plugin.authorities.isEmpty ? claimants : [match.plugin]
        return able.first { $0.exchange(named: name, forHost: host) != nil }
    }

    /// Whether a manifest has an exchange for a host, with `:port` if that isn't 443.
    public func exchanges(forHost host: String) -> Bool {
        let host = host.lowercased()
        return plugins.contains { $0.exchanges.contains { $0.hosts.rank(of: host) != nil } }
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
}

extension PluginManifest {
    /// Whether an `[[authority]]` names a host, in lower case, by itself or below a domain.
    fileprivate func names(host: String) -> Bool {
        authorities.contains { $0.hosts.rank(of: host) != nil }
    }
}

/// The similarity of a host to one of a pattern's.
private struct HostLikeness {
    /// The pattern's host, which the other could be mistaken for.
    let host: String
    let distance: Int

    /// Compares the names; nil if they differ too much to be mistaken for each other.
    init?(of name: String, to pattern: String) {
        let fixed = pattern.pieces(between: ".").filter { !$0.isSame(as: "*") }
        let labels = name.pieces(between: ".")
        let isWhole = fixed.count == pattern.pieces(between: ".").count
        guard isWhole || labels.count > fixed.count else { return nil }
        let first = isWhole ? [] : labels.dropLast(fixed.count)
        let own = fixed.joined(separator: ".")
        distance = own.editDistance(to: labels.dropFirst(first.count).joined(separator: "."))
        // A host further below a pattern's domain must match exactly.
        guard distance <= own.slips, isWhole || distance > 0 else { return nil }
        host = (first + fixed).joined(separator: ".")
    }
}

extension StringProtocol {
    /// How many letters may differ while the word still reads the same.
    fileprivate var slips: Int { Swift.max(1, utf8.count / 8) }

    /// Whether the word could be mistaken for another; a short one must match exactly.
    fileprivate func mayBeTaken(for word: Substring) -> Bool {
        String(self).editDistance(to: String(word)) <= (utf8.count < 8 ? 0 : slips)
    }
}
