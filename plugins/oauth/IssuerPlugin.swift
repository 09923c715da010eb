import Addresses
import FoundationEssentials
package import OAuth
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets

/// The plugin for any issuer that follows OAuth 2.0 or OpenID Connect: `https://{host}/{path}`.
package struct IssuerPlugin: AuthorityPlugin {
    private let connector: AuthorityConnector

    /// The name, version, protocol versions and flows.
    package var description: PluginDescription {
        PluginDescription(
            name: "oauth", version: Version.current, protocols: [PluginProtocol.version],
            flows: [.browser, .deviceCode, .paste], identities: [.client])
    }

    /// Creates the plugin.
    ///
    /// - Parameters:
    ///   - environment: The environment with the proxy and certificate variables.
    ///   - limits: The limits of time and size for an issuer's answers.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, limits: Transport.Limits = .init()
    ) {
        connector = AuthorityConnector(environment: environment, limits: limits)
    }

    /// Signs a user in with the first of the request's flows that is possible here.
    package func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult {
        let flows = try request.oauthFlows(of: description.name)
        return try await connector.connected(request) { transport throws(PluginError) in
            let session = try await IssuerSession.open(request, over: transport)
            try await session.checkDefaultApp()
            return try await session.signIn(flows, by: user)
        }
    }

    /// Gets a token as an application (RFC 6749, 4.4).
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        guard let identity = request.identity, identity.kind == .client else {
            throw PluginError(.unsupported, "oauth signs in applications only")
        }
        for source in [identity.assertion, identity.subject] {
            if let source { try AssertionSource.requireKnown(source) }
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            try await IssuerSession.open(request, over: transport).authenticate(identity)
        }
    }

    /// Redeems a refresh token (RFC 6749, 6).
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        let refreshToken = try request.requiredRefreshToken()
        return try await connector.connected(request) { transport throws(PluginError) in
            try await IssuerSession.open(request, over: transport, recalling: true).renew(with: refreshToken)
        }
    }

    /// Opens the page that ends the browser's session.
    package func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {
        let page = try await connector.connected(request) { transport throws(PluginError) in
            try await IssuerSession.open(request, over: transport).endSessionPage()
        }
        try await user.endSession(at: page)
    }

    /// Revokes a refresh token (RFC 7009) if the issuer supports that.
    package func revoke(_ request: PluginRequest) async throws(PluginError) {
        let refreshToken = try request.requiredRefreshToken()
        try await connector.connected(request) { transport throws(PluginError) in
            try await IssuerSession.open(request, over: transport).revoke(refreshToken)
        }
    }

    /// Registers an application at the issuer (RFC 7591).
    package func register(_ request: PluginRequest) async throws(PluginError) -> PluginRegistration {
        try await connector.connected(request) { transport throws(PluginError) in
            try await IssuerSession.open(request, over: transport).register()
        }
    }

    /// Deletes an application's registration (RFC 7592), which needs nothing but the registration itself.
    package func unregister(_ request: PluginRequest) async throws(PluginError) {
        guard let asked = request.registration else {
            throw PluginError(.invalidRequest, "the request does not say where the application is taken back")
        }
        try await connector.connected(request) { transport throws(PluginError) in
            do throws(OAuthError) {
                let host = StrictURL(https: request.authority)?.hostText ?? "the authority"
                try await ClientManagement(uri: asked.uri, token: asked.token).delete(of: host, over: transport)
            } catch {
                throw error.plain
            }
        }
    }

    /// Fetches the issuer's metadata, and checks whether it knows the client; or asks GitHub which App has an identity's key.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await connector.connected(request) { transport throws(PluginError) in
            let session = try await IssuerSession.open(request, over: transport)
            guard let identity = request.identity, let api = session.traits.api else {
                return try await session.probe()
            }
            var app = GitHubApp(session: session, api: api)
            var probe = PluginProbe([.authority, .client])
            probe.summary = try await app.name(of: identity)
            return probe
        }
    }
}
