extension PluginRegistry {
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
}
