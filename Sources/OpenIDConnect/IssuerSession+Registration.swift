import OAuth
import PluginWire

extension IssuerSession {
    /// Has the issuer register an application, if it registers any by itself.
    ///
    /// - Throws: `declined-scopes` if the application may not ask for what is wanted; the issuer is asked to take it back then.
    func register() async throws(PluginError) -> PluginRegistration {
        guard let endpoint = metadata.registration else {
            throw PluginError(
                .unsupported, "\(address.environment) registers no applications by itself",
                hint: "register one on its pages, and give its client ID")
        }
        let wanted = ClientRegistration(
            name: request.clientName ?? "lanyard", redirectURI: redirectURI, scope: scope,
            usesDeviceCodes: metadata.endpoints.deviceAuthorization != nil)
        let client: RegisteredClient
        do throws(OAuthError) {
            client = try await wanted.send(to: endpoint, of: address.environment, over: transport)
        } catch {
            throw pluginError(error)
        }
        if let error = client.obstacle.map(pluginError) ?? refusal(ofScopes: client) {
            throw await takingBack(client, after: error)
        }
        var registration = PluginRegistration(clientID: client.id, clientSecret: client.secret)
        registration.secretExpiresAt = client.secretExpiresAt
        registration.management = client.management.map { .init(uri: $0.uri, token: $0.token) }
        return registration
    }

    private func refusal(ofScopes client: RegisteredClient) -> PluginError? {
        let missing = request.scopes.filter { client.scopes?.contains($0) == false }
        guard !missing.isEmpty else { return nil }
        var error = PluginError(
            .declinedScopes, "\(address.environment) registers no applications for \(missing.joined(separator: ", "))",
            hint: "register one on its pages, and give its client ID")
        error.declinedScopes = missing
        return error
    }

    /// The error, and what is left of an application that nobody can use: nothing if the issuer takes it back.
    private func takingBack(_ client: RegisteredClient, after error: PluginError) async -> PluginError {
        do throws(OAuthError) {
            try await client.management?.delete(of: address.environment, over: transport)
            if client.management != nil { return error }
        } catch {}
        var error = error
        error.message += "; it keeps the application \(client.id), which is of no use"
        return error
    }
}
