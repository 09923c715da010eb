import OAuth
import PluginWire

extension IssuerSession {
    /// Has the issuer register an application, if it registers any by itself.
    ///
    /// - Throws: `declined-scopes` if the application may not ask for what is wanted; it is registered all the same.
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
        let missing = request.scopes.filter { client.scopes?.contains($0) == false }
        guard missing.isEmpty else {
            var error = PluginError(
                .declinedScopes,
                "\(address.environment) registers no applications for \(missing.joined(separator: ", "))",
                hint: "register one on its pages, and give its client ID")
            error.declinedScopes = missing
            throw error
        }
        return PluginRegistration(clientID: client.id, clientSecret: client.secret)
    }
}
