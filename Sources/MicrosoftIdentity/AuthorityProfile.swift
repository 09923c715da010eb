import PluginOAuth
package import PluginWire

/// What makes one plugin of this family differ from the others.
package struct AuthorityProfile: Sendable {
    /// The plugin's name.
    package let name: String
    /// The kind of authority it serves.
    package let kind: Authority.Kind
    /// Why the plugin doesn't serve an authority of its kind, or nil if it does.
    package let refuses: @Sendable (Authority) -> PluginError?
    /// The plugin's own reading of a refusal, before the one that all share.
    package let explains: @Sendable (EntraRefusal, Authority) -> PluginError?

    /// Whether it turns its tokens into what registries and AWS take.
    package let exchanges: Bool
    /// Whether it gets tokens for applications.
    package let identities: Bool
    /// Whether a refusal means that the person has forgotten the password and wants another.
    package let isForgottenPassword: @Sendable (PluginError) -> Bool

    /// Makes a profile.
    ///
    /// - Parameters:
    ///   - name: the plugin's name.
    ///   - kind: the kind of authority.
    ///   - refuses: why an authority isn't served, or nil.
    ///   - explains: an error for a refusal that only this kind of authority knows, or nil.
    ///   - exchanges: whether its tokens can be exchanged at registries and AWS.
    ///   - identities: whether applications get tokens there by themselves.
    ///   - isForgottenPassword: whether an error of `explains` asks for a reset of the password.
    package init(
        name: String, kind: Authority.Kind, refuses: @escaping @Sendable (Authority) -> PluginError? = { _ in nil },
        explains: @escaping @Sendable (EntraRefusal, Authority) -> PluginError? = { _, _ in nil },
        exchanges: Bool = false, identities: Bool = false,
        isForgottenPassword: @escaping @Sendable (PluginError) -> Bool = { _ in false }
    ) {
        self.name = name
        self.kind = kind
        self.refuses = refuses
        self.explains = explains
        self.exchanges = exchanges
        self.identities = identities
        self.isForgottenPassword = isForgottenPassword
    }

    /// What `describe` answers.
    package var description: PluginDescription {
        var description = PluginDescription(
            name: name, version: FirstParty.version, protocols: [PluginProtocol.version],
            flows: [.browser, .deviceCode, .paste])
        if exchanges { description.exchanges = [RegistryExchange.name, STSExchange.name] }
        if identities { description.identities = [.client] }
        return description
    }
}
