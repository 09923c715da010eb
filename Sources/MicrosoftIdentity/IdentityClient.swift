import Claims
import FoundationEssentials
package import OAuth
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets

/// Does what the host asks of one of Microsoft's identity plugins.
package struct IdentityClient: Sendable {
    let profile: AuthorityProfile
    private let connector: AuthorityConnector

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - profile: the plugin's.
    ///   - environment: where proxies and certificates are looked for.
    ///   - limits: how long and how much an authority may answer.
    package init(
        _ profile: AuthorityProfile, environment: [String: String] = ProcessInfo.processInfo.environment,
        limits: Transport.Limits = .init()
    ) {
        self.profile = profile
        connector = AuthorityConnector(environment: environment, limits: limits, headers: Self.headers)
    }

    /// Signs a person in, by the first of the request's flows that can be used here.
    ///
    /// - Parameters:
    ///   - request: an `authorize` request.
    ///   - person: who signs in.
    /// - Returns: checked tokens.
    /// - Throws: why there are none.
    package func authorize(
        _ request: PluginRequest, _ person: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(request, profile: profile, over: transport)
            do throws(PluginError) {
                return try await session.signIn(person)
            } catch {
                guard session.resetsPassword(after: error) else { throw error }
                try await PasswordReset(session: session).run(person)
                return try await session.signIn(person)
            }
        }
    }

    /// The headers by which Entra's logs tell who asked.
    private static func headers(for request: PluginRequest) -> [(name: String, value: String)] {
        [
            ("x-client-sku", "lanyard"), ("x-client-ver", FirstParty.version), ("x-client-os", "linux"),
            ("x-ms-lib-capability", "retry-after, h429"),
            ("client-request-id", request.correlationID ?? UUID().uuidString.lowercased()),
            ("return-client-request-id", "true"),
        ]
    }

    /// Redeems a refresh token (RFC 6749, 6), for an audience at the account's home tenant.
    ///
    /// - Parameter request: a `renew` request.
    /// - Returns: checked tokens; with a refresh token only if the authority gave a new one.
    /// - Throws: why there are none; `interaction-required` if the person can help.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        let refreshToken = try request.requiredRefreshToken()
        return try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(
                request, profile: profile, over: transport, home: true, recalling: true)
            return try await session.renew(with: refreshToken)
        }
    }

    /// Finds out whether the authority can be asked from here, and whether it knows the client.
    ///
    /// - Parameter request: a `probe` request.
    /// - Returns: what was tried and works.
    /// - Throws: why it doesn't.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await connector.connected(request) { transport throws(PluginError) in
            try await AuthoritySession.open(request, profile: profile, over: transport).probe()
        }
    }

    /// Gets a token as an application, which proves itself by a secret, a certificate or somebody's assertion.
    ///
    /// - Parameter request: an `authenticate` request.
    /// - Returns: the token, with neither account nor refresh token.
    /// - Throws: `unsupported` for another kind of identity; why there is none.
    package func authenticate(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        guard profile.identities, let identity = request.identity, identity.kind == .client else {
            throw PluginError(
                .unsupported, "\(profile.name) gets no tokens for such an identity",
                hint: "name one tenant of Entra's in the identity's authority, by its id or domain")
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            try await ApplicationToken(request, identity, profile: profile, over: transport).result()
        }
    }

    /// Turns a token into what a registry or AWS takes.
    ///
    /// - Parameter request: an `exchange` request.
    /// - Returns: what they gave.
    /// - Throws: `unsupported` for another exchange; why there is nothing else.
    package func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        let name = request.exchange ?? ""
        guard profile.exchanges, [RegistryExchange.name, STSExchange.name].contains(name) else {
            throw PluginError(.unsupported, "\(profile.name) has no exchange \(name.displayable(limit: 64))")
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            if name == STSExchange.name { return try await STSExchange(request, over: transport).credential() }
            return try await RegistryExchange(request, over: transport).credential()
        }
    }

    /// Opens the authority's end-session page (OpenID Connect RP-Initiated Logout 1.0, 2).
    ///
    /// - Parameters:
    ///   - request: a `sign-out` request.
    ///   - person: whose browser has the session.
    /// - Throws: `unsupported` if the authority has no such page or no browser can be opened.
    package func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {
        let url = try await connector.connected(request) { transport throws(PluginError) in
            let session = try await AuthoritySession.open(request, profile: profile, over: transport, home: true)
            guard let endpoint = session.configuration.endpoints.endSession else {
                throw PluginError(.unsupported, "\(session.authority.environment) has no page to end a session at")
            }
            return FormEncoding.append(Self.logout(request, at: session.authority), to: endpoint)
        }
        try await person.endSession(at: url)
    }

    /// What names the session: Entra takes a hint, B2C only an ID token, which tells more than a browser need be told.
    ///
    /// Without a `post_logout_redirect_uri`, because nobody here waits for one: the authority says that it's done.
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
}
