import Addresses
public import PluginHost
public import Rules

extension Configuration {
    /// Returns the ID of a request's client, which may be given by name.
    ///
    /// A UUID is never a name, so it is returned without loading plugins unless a policy restricts the well-known
    /// clients.
    ///
    /// - Throws: The errors of `clientID(_:at:)`.
    func clientID(of request: TokenRequest, in plugins: InstalledPlugins) throws(ResolutionError) -> String {
        let isSettled = request.clientID.isUUID && wellKnownClients == nil
        guard !isSettled,
            let match = plugins.registry.match(
                authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
        else { return request.clientID }
        return try clientID(request.clientID, at: match)
    }

    /// Returns the ID of a client that is given by name or by ID.
    ///
    /// - Throws: `ResolutionError` if a policy forbids the client, or if the text is neither a name nor an ID.
    public func clientID(_ text: String, at match: AuthorityMatch) throws(ResolutionError) -> String {
        if let client = match.client(text) {
            guard allows(client: client.name) else { throw .forbiddenClient(client.name) }
            return client.id
        }
        guard match.takes(clientID: text) else {
            let names = match.clients.map(\.name).filter(allows)
            let nearest = match.nearestClient(to: text).flatMap { names.contains($0) ? $0 : nil }
            let path = match.authority.path.joined(separator: "/")
            throw .unknownClient(
                text, names: names, nearest: nearest, authority: "https://\(match.authority.host)/\(path)")
        }
        return text
    }

    /// Returns the IDs of all clients that the configuration names, as keys.
    public func clientIDs(in registry: PluginRegistry) -> Set<String> {
        let named = Set((rules.map(\.clientID) + clients.map(\.clientID) + [clientID]).compactMap(\.self))
        let ids = named.flatMap { name in
            let known = name.isUUID ? [] : registry.clientIDs(named: name)
            return known.isEmpty ? [name] : known
        }
        return Set(ids.map(\.clientKey))
    }
}
