import Addresses
public import PluginHost
public import Rules

extension Configuration {
    /// The id of a request's client, which may have been called by name.
    ///
    /// A UUID is nobody's name: unless a policy could forbid it, no plugin is looked for.
    ///
    /// - Throws: as `clientID(_:at:)`.
    func clientID(of request: TokenRequest, in plugins: InstalledPlugins) throws(ResolutionError) -> String {
        let isSettled = request.clientID.isUUID && wellKnownClients == nil
        guard !isSettled,
            let match = plugins.registry.match(
                authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
        else { return request.clientID }
        return try clientID(request.clientID, at: match)
    }

    /// The id of a client that is called by name or by its id.
    ///
    /// - Throws: `ResolutionError` if the policy forbids the client, or the text is neither a name nor an id.
    public func clientID(_ text: String, at match: AuthorityMatch) throws(ResolutionError) -> String {
        if let client = match.client(text) {
            guard allows(client: client.name) else { throw .forbiddenClient(client.name) }
            return client.id
        }
        guard match.takes(clientID: text) else {
            let names = match.clients.map(\.name).filter(allows)
            throw .unknownClient(text, names: names, nearest: match.nearestClient(to: text).flatMap(names.member))
        }
        return text
    }

    /// The ids of the clients that the configuration names, lower-cased.
    public func clientIDs(in registry: PluginRegistry) -> Set<String> {
        let named = Set((rules.map(\.clientID) + clients.map(\.clientID) + [clientID]).compactMap(\.self))
        let ids = named.flatMap { name in
            let known = name.isUUID ? [] : registry.clientIDs(named: name)
            return known.isEmpty ? [name] : known
        }
        return Set(ids.map { $0.lowercased() })
    }
}

extension [String] {
    fileprivate func member(_ text: String) -> String? { contains(text) ? text : nil }
}
