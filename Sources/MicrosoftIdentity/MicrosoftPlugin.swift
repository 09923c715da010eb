import Claims
import FoundationEssentials
package import OAuth
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets

/// The plugin for one kind of Microsoft authority; its profile makes the difference.
package struct MicrosoftPlugin: AuthorityPlugin {
    let profile: AuthorityProfile
    private let connector: AuthorityConnector

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - profile: The plugin's profile.
    ///   - environment: The environment with the proxy and certificate variables.
    ///   - limits: The limits of time and size for an authority's answers.
    package init(
        _ profile: AuthorityProfile, environment: [String: String] = ProcessInfo.processInfo.environment,
        limits: Transport.Limits = .init()
    ) {
        self.profile = profile
        connector = AuthorityConnector(environment: environment, limits: limits, headers: Self.headers)
    }

    /// The name, version, protocol versions, flows, and what the profile supports.
    package var description: PluginDescription {
        PluginDescription(
            name: profile.name, version: Version.current, protocols: [PluginProtocol.version],
            flows: [.browser, .deviceCode, .paste], identities: profile.identities ? [.client] : [],
            exchanges: profile.exchanges ? [RegistryExchange.name] : [])
    }

    /// Signs a user in with the first of the request's flows that is possible here.
    package func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(request, profile: profile, over: transport)
            let flows = try request.oauthFlows(of: profile.name)
            do throws(PluginError) {
                return try await session.signIn(flows, user)
            } catch {
                guard session.resetsPassword(after: error) else { throw error }
                try await session.resetPassword(flows, user)
                return try await session.signIn(flows, user)
            }
        }
    }

    /// Returns the headers that identify the client in Entra's logs.
    private static func headers(for request: PluginRequest) -> [(name: String, value: String)] {
        [
            ("x-client-sku", "lanyard"), ("x-client-ver", Version.current), ("x-client-os", "linux"),
            ("x-ms-lib-capability", "retry-after, h429"),
            ("client-request-id", request.correlationID ?? UUID().uuidString.lowercased()),
            ("return-client-request-id", "true"),
        ]
    }

    /// Redeems a refresh token (RFC 6749, 6), at the account's home tenant if the authority is an audience.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        let refreshToken = try request.requiredRefreshToken()
        return try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(
                request, profile: profile, over: transport, home: true, recalling: true)
            return try await session.renew(by: refreshToken)
        }
    }

    /// Checks whether the authority can be reached from here and knows the client.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(request, profile: profile, over: transport)
            return try await session.probe(session.authority.url, clockLead: session.configuration.clockLead)
        }
    }

    /// Gets a token as an application, which authenticates with a secret, a certificate or a federated assertion.
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        guard profile.identities, let identity = request.identity, identity.kind == .client else {
            throw PluginError(
                .unsupported, "\(profile.name) gets no tokens for such an identity",
                hint: "name one tenant of Entra's in the identity's authority, by its id or domain")
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            try await ApplicationToken(request, identity, profile: profile, over: transport).result()
        }
    }

    /// Exchanges a token for the credentials of a container registry.
    package func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        let name = request.exchange ?? ""
        guard profile.exchanges, name == RegistryExchange.name else {
            throw PluginError(.unsupported, "\(profile.name) has no exchange \(name.displayable(limit: 64))")
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            try await RegistryExchange(request, over: transport).credential()
        }
    }

    /// Opens the authority's end-session page (OpenID Connect RP-Initiated Logout 1.0, 2).
    package func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {
        let url = try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(request, profile: profile, over: transport, home: true)
            guard let endpoint = session.configuration.endpoints.endSession else {
                throw PluginError(.unsupported, "\(session.authority.environment) has no page to end a session at")
            }
            return FormEncoding.append(Self.logout(request, at: session.authority), to: endpoint)
        }
        try await user.endSession(at: url)
    }

    /// Returns the parameters that identify the session: a hint for Entra, an ID token for B2C.
    ///
    /// B2C accepts nothing else, although an ID token contains more than the browser needs to know.
    /// There is no `post_logout_redirect_uri`, because nothing here waits for it; the authority's page says that the
    /// session has ended.
    private static func logout(_ request: PluginRequest, at authority: Authority) -> [FormEncoding.Field] {
        let token = request.idTokenHint.flatMap { try? EntraClaims($0) }
        let hint = token?.loginHint ?? request.signIn.loginHint ?? token?.username
        var fields: [FormEncoding.Field] = []
        if let token = request.idTokenHint, authority.kind == .b2c || hint == nil {
            fields.append(("id_token_hint", token.reveal()))
        }
        if let hint { fields.append(("logout_hint", hint)) }
        return fields
    }

    /// Microsoft Entra ID for accounts of any tenant: `https://{host}/common`, `/organizations` and `/consumers`.
    ///
    /// Tokens are stored for the account's home tenant, and renewed there.
    package static let aadCommon = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-common", kind: .aad,
            refuses: { authority in
                guard authority.audience == .identifier else { return nil }
                return PluginError(
                    .invalidRequest, "\(authority.url) is one tenant's authority, which aad-common doesn't support",
                    hint: "use the aad-tenant plugin, or /organizations in place of the tenant")
            }, exchanges: true))

    /// Microsoft Entra ID for the accounts of one tenant, including guests: `https://{host}/{id or domain}`.
    ///
    /// Tokens are stored for that tenant under its ID, however the authority's URL names it.
    package static let aadTenant = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-tenant", kind: .aad,
            refuses: { authority in
                guard authority.audience != .identifier else { return nil }
                return PluginError(
                    .invalidRequest, "\(authority.url) names no tenant, and aad-tenant supports nothing else",
                    hint: "use the aad-common plugin, or put the tenant's id or domain into the URL")
            }, exchanges: true, identities: true))

    /// Azure AD B2C: `https://{host}/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`; accounts are separate for each policy.
    package static let aadB2C = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-b2c", kind: .b2c, explains: EntraRefusal.ofPolicy,
            forgottenPassword: EntraRefusal.forgottenPassword))
}

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
