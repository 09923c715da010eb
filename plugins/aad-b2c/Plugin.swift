package import MicrosoftIdentity
import PluginKit
import PluginWire

/// Azure AD B2C: `https://{host}/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`; accounts are separate for each policy.
package struct AADB2CPlugin: MicrosoftPlugin {
    /// The client with B2C's profile.
    package let client = IdentityClient(
        AuthorityProfile(
            name: "aad-b2c", kind: .b2c, explains: PolicyError.explain,
            isForgottenPassword: PolicyError.isForgottenPassword))

    /// Creates the plugin, with the proxy and certificate variables of the process's environment.
    package init() {}
}
