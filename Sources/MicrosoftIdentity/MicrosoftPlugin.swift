package import PluginKit
package import PluginWire

/// A plugin for one kind of Microsoft authority; its client's profile makes the difference, and the client does the
/// work.
package protocol MicrosoftPlugin: AuthorityPlugin {
    /// The client that handles the host's requests.
    var client: IdentityClient { get }
}

extension MicrosoftPlugin {
    /// The name, version, protocol versions and flows.
    package var description: PluginDescription { client.profile.description }

    /// Signs a user in.
    package func authorize(
        _ request: PluginRequest, _ person: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await client.authorize(request, person)
    }

    /// Redeems a refresh token, at the account's home tenant if the authority is an audience.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        try await client.renew(request)
    }

    /// Gets a token as an application.
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await client.authenticate(request)
    }

    /// Exchanges a token for the credentials of a container registry or AWS.
    package func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        try await client.exchange(request)
    }

    /// Fetches the authority's metadata, and checks whether it knows the client.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await client.probe(request)
    }

    /// Opens the page that ends the browser's session.
    package func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {
        try await client.signOut(request, person)
    }
}
