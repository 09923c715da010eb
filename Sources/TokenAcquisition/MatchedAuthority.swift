public import PluginHost
public import Rules

/// An authority as its plugin's manifest and the store see it.
struct MatchedAuthority: Sendable {
    let match: AuthorityMatch
    let place: AuthorityPlace
}

extension TokenAcquirer {
    func match(_ request: TokenRequest) throws(AcquisitionError) -> MatchedAuthority {
        guard let match = registry.match(request) else { throw .unknownAuthority(request.authority) }
        return MatchedAuthority(match: match, place: AuthorityPlace(match))
    }
}

extension PluginRegistry {
    /// The plugin that gets a request's token, and the authority that it gets it from; nil if there is none.
    public func match(_ request: TokenRequest) -> AuthorityMatch? {
        if request.authority == Identity.machineAuthority { return machineAuthority }
        return match(
            authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
    }
}
