import Addresses
import OAuth
import PluginOAuth
import PluginWire
import Secrets

// Applications, which sign in by themselves.

extension IssuerSession {
    /// Gets a token with the application's own credentials (RFC 6749, 4.4): its secret, its key (`private_key_jwt`, OpenID
    /// Connect Core 1.0, 9), or an assertion from elsewhere (RFC 7523, 2.2); or in exchange for a token from elsewhere
    /// (RFC 8693).
    func authenticate(_ identity: PluginIdentity) async throws(PluginError) -> PluginResult {
        if let api = traits.api {
            var app = GitHubApp(session: self, api: api)
            return try await app.token(of: identity)
        }
        var client = client
        client.scope = request.scopes.joined(separator: " ")
        client.grantParameters += identity.audience.map { [("audience", $0)] } ?? []
        let grant: TokenGrant
        if let subject = identity.subject {
            grant = .exchange(try await token(from: subject, of: identity))
        } else {
            grant = .clientCredentials
            if let assertion = try await assertion(for: identity) { client.authentication = .assertion(assertion) }
        }
        let response = try await tokens(for: grant, as: client)
        let tokens = IssuerTokens(response, asked: request.scopes)
        return result(response.accessToken, expiresIn: response.expiresIn, tokens.scopes, declined: tokens.declined)
    }

    /// Returns the tokens for a grant; if the issuer takes a secret in the form or in the header, but not from this application, in the other.
    private func tokens(for grant: TokenGrant, as client: OAuthClient) async throws(PluginError) -> TokenResponse {
        do throws(PluginError) {
            return try await plainly { () async throws(OAuthError) in try await client.redeem(grant) }
        } catch {
            guard error.reasons.contains(.clientRefused), case .post(let secret) = client.authentication,
                metadata.authenticationMethods.contains("client_secret_basic")
            else { throw error }
            var other = client
            other.authentication = .basic(secret)
            let asker = other
            return try await plainly { () async throws(OAuthError) in try await asker.redeem(grant) }
        }
    }

    /// Returns a token that belongs to no account as a result of the plugin protocol.
    func result(
        _ token: Secret, expiresIn: Int?, _ scopes: [String], declined: [String] = []
    ) -> PluginResult {
        var result = PluginResult(
            accessToken: token, expiresIn: expiresIn, scopes: scopes, environment: address.hostText, realm: realm,
            account: nil)
        result.declinedScopes = declined
        result.memo = memo.memo
        return result
    }

    /// Returns the assertion that proves who the application is; nil if its secret does.
    private func assertion(for identity: PluginIdentity) async throws(PluginError) -> Secret? {
        guard request.clientSecret == nil else { return nil }
        guard let path = identity.certificate else {
            return try await token(from: identity.assertion ?? "", of: identity)
        }
        let (id, metadata) = (request.clientID, metadata)
        return try await plainly { () async throws(OAuthError) in
            try ClientCertificate(file: path, password: identity.certificatePassword, mayBeKey: true)
                .assertion(of: id, for: metadata.endpoints.token, by: metadata.assertionAlgorithms)
        }
    }

    private func token(from source: String, of identity: PluginIdentity) async throws(PluginError) -> Secret {
        try await AssertionSource(source, of: identity, audience: metadata.issuer).assertion(over: transport)
    }
}
