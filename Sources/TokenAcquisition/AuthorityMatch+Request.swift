public import PluginHost
public import Rules

extension AuthorityMatch {
    /// Where its tokens are found in the store.
    var place: AuthorityPlace { AuthorityPlace(self) }
}

extension PluginRegistry {
    /// Returns the plugin and the authority for a request; nil if no plugin serves the authority.
    public func match(_ request: TokenRequest) -> AuthorityMatch? {
        if request.authority == Identity.machineAuthority { return machineAuthority }
        return match(
            authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
    }
}
