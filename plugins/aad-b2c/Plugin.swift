package import MicrosoftIdentity
import PluginWire

extension MicrosoftPlugin {
    /// Azure AD B2C: `https://{host}/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`; accounts are separate for each policy.
    package static let aadB2C = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-b2c", kind: .b2c, explains: PolicyError.explain,
            forgottenPassword: PolicyError.forgottenPassword))
}
