import Addresses
import OAuth
import PluginOAuth
import PluginWire

extension IssuerSession {
    /// Registers an application, if the issuer supports dynamic registration.
    ///
    /// - Throws: `declined-scopes` if the application may not request the required scopes; in that case its
    ///   registration is deleted again. `invalid-request` if its page to sign in at is at a host that nobody named,
    ///   where the client ID could be one of another issuer's.
    func register() async throws(PluginError) -> PluginRegistration {
        guard let endpoint = metadata.registration else {
            throw PluginError(
                .unsupported, "\(address.hostText) registers no applications by itself",
                hint: "register one on its pages, and give its client ID")
        }
        if !metadata.isConfigured, let page = metadata.endpoints.authorization, !request.issuerPlaces.contain(page) {
            throw pluginError(.foreign(page, "a sign-in page", named: metadata.issuer))
        }
        let wanted = ClientRegistration(
            name: request.clientName ?? "lanyard", redirectURI: redirectURI, scope: scope,
            usesDeviceCodes: metadata.endpoints.deviceAuthorization != nil)
        let client = try await plainly { () async throws(OAuthError) in
            try await wanted.send(to: endpoint, of: address.hostText, over: transport)
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
        let missing = request.scopes.filter { !ScopeText.isOpenID($0) && client.scopes?.contains($0) == false }
        guard !missing.isEmpty else { return nil }
        var error = PluginError(
            .declinedScopes, "\(address.hostText) registers no applications for \(missing.joined(separator: ", "))",
            hint: "register one on its pages, and give its client ID")
        error.declinedScopes = missing
        return error
    }

    /// Returns the error after deleting an unusable registration, with what remains of it if the issuer doesn't delete
    /// it.
    private func takingBack(_ client: RegisteredClient, after error: PluginError) async -> PluginError {
        do throws(OAuthError) {
            try await client.management?.delete(of: address.hostText, over: transport)
            if client.management != nil { return error }
        } catch {}
        var error = error
        error.message += "; it keeps the application \(client.id), which is of no use"
        return error
    }
}
