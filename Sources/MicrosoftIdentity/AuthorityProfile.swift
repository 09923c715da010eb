package import PluginWire

/// The differences between the Microsoft plugins.
package struct AuthorityProfile: Sendable {
    /// The plugin's name.
    package let name: String
    /// The supported kind of authority.
    package let kind: Authority.Kind
    /// Returns why the plugin doesn't serve an authority of its kind; nil if it does.
    package let refuses: @Sendable (Authority) -> PluginError?
    /// The plugin's own interpretation of a refusal, which takes precedence over the common one.
    package let explains: @Sendable (EntraRefusal, Authority) -> PluginError?

    /// Whether tokens can be exchanged for the credentials of container registries and AWS.
    package let exchanges: Bool
    /// Whether it gets tokens for applications.
    package let identities: Bool
    /// Whether an error means that the user has forgotten the password and wants to reset it.
    package let isForgottenPassword: @Sendable (PluginError) -> Bool

    /// Creates a profile.
    ///
    /// - Parameters:
    ///   - name: The plugin's name.
    ///   - kind: The kind of authority.
    ///   - refuses: Returns why an authority isn't served, or nil.
    ///   - explains: Returns an error for a refusal that is specific to this kind of authority, or nil.
    ///   - exchanges: Whether tokens can be exchanged at container registries and AWS.
    ///   - identities: Whether applications can get tokens there without a user.
    ///   - isForgottenPassword: Whether an error of `explains` requires a password reset.
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
}
