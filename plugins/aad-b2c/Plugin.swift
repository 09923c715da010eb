package import MicrosoftIdentity
import PluginKit
import PluginWire

/// Azure AD B2C: `https://{host}/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`, each policy with accounts of its own.
package struct AADB2CPlugin: MicrosoftPlugin {
    /// The client with B2C's profile.
    package let client = IdentityClient(
        AuthorityProfile(
            name: "aad-b2c", kind: .b2c, explains: PolicyError.explain,
            isForgottenPassword: PolicyError.isForgottenPassword))

    /// Makes the plugin; proxies and certificates are looked for in the process's environment.
    package init() {}
}
