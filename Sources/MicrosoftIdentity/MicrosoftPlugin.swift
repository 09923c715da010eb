package import PluginKit
package import PluginWire

/// A plugin of this family: what sets it apart is in its client's profile, and the client does the rest.
package protocol MicrosoftPlugin: AuthorityPlugin {
    /// Does what the host asks.
    var client: IdentityClient { get }
}

extension MicrosoftPlugin {
    /// Name, version, protocol versions and flows.
    package var description: PluginDescription { client.profile.description }

    /// Signs a person in.
    package func authorize(
        _ request: PluginRequest, _ person: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await client.authorize(request, person)
    }

    /// Redeems a refresh token, for an audience at the account's home tenant.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        try await client.renew(request)
    }

    /// Gets a token as an application.
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await client.authenticate(request)
    }

    /// Turns a token into what a registry or AWS takes.
    package func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        try await client.exchange(request)
    }

    /// Reads what the authority says of itself, and asks whether it knows the client.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await client.probe(request)
    }

    /// Opens the page that ends the browser's session.
    package func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {
        try await client.signOut(request, person)
    }
}
