extension PluginRegistry {
    /// The plugin that gets an authority's tokens from a program of the machine that holds sign-ins; nil if there is none.
    public func broker(for match: AuthorityMatch) -> PluginManifest? {
        plugins.first { plugin in plugin.brokered.contains { $0.serves(match) } }
    }
}

extension BrokerPattern {
    func serves(_ match: AuthorityMatch) -> Bool {
        match.plugin.kind == kind && authority.fit(match.authority, isConfigured: true) != nil
    }
}

extension PluginManifest {
    /// Whether all is there that the plugin can't do without, as far as it shows without starting anything.
    public func hasNeeds(in environment: [String: String]) -> Bool {
        !needs.contains(.sessionBus) || PluginEnvironment.hasSessionBus(environment)
    }
}
