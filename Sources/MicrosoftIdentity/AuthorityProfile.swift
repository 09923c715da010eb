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
    /// The error code of a user who has forgotten the password and wants to reset it; nil if there is none.
    package let forgottenPassword: String?

    /// Creates a profile.
    ///
    /// - Parameters:
    ///   - name: The plugin's name.
    ///   - kind: The kind of authority.
    ///   - refuses: Returns why an authority isn't served, or nil.
    ///   - explains: Returns an error for a refusal that is specific to this kind of authority, or nil.
    ///   - exchanges: Whether tokens can be exchanged at container registries and AWS.
    ///   - identities: Whether applications can get tokens there without a user.
    ///   - forgottenPassword: The code of an error of `explains` that requires a password reset.
    package init(
        name: String, kind: Authority.Kind, refuses: @escaping @Sendable (Authority) -> PluginError? = { _ in nil },
        explains: @escaping @Sendable (EntraRefusal, Authority) -> PluginError? = { _, _ in nil },
        exchanges: Bool = false, identities: Bool = false, forgottenPassword: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.refuses = refuses
        self.explains = explains
        self.exchanges = exchanges
        self.identities = identities
        self.forgottenPassword = forgottenPassword
    }
}
