import PluginHost
import Rules

/// An authority as its plugin's manifest and the store see it.
struct MatchedAuthority: Sendable {
    let match: AuthorityMatch
    let place: AuthorityPlace
}

extension TokenAcquirer {
    func match(_ request: TokenRequest) throws(AcquisitionError) -> MatchedAuthority {
        if request.authority == Identity.machineAuthority {
            guard let match = registry.machineAuthority else { throw .unknownAuthority(request.authority) }
            return MatchedAuthority(match: match, place: AuthorityPlace(match))
        }
        guard
            let match = registry.match(
                authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
        else { throw .unknownAuthority(request.authority) }
        return MatchedAuthority(match: match, place: AuthorityPlace(match))
    }
}
