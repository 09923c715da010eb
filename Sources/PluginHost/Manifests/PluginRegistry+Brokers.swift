extension PluginRegistry {
    /// Returns the plugin that gets an authority's tokens from a broker; nil if there is none.
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
    /// Whether the plugin's needs are met, as far as that shows without starting anything.
    public func hasNeeds(in environment: [String: String]) -> Bool {
        !needs.contains(.sessionBus) || PluginEnvironment.hasSessionBus(environment)
    }
}
