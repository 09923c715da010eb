import Addresses
import OAuth
import PluginOAuth
import PluginWire
import Secrets

// Applications, which sign in by themselves.

extension IssuerSession {
    /// Gets a token with the application's own credentials (RFC 6749, 4.4): its secret, a certificate (`private_key_jwt`, OpenID
    /// Connect Core 1.0, 9), or an assertion from elsewhere (RFC 7523, 2.2).
    func authenticate(_ identity: PluginIdentity) async throws(PluginError) -> PluginResult {
        var client = client
        client.scope = request.scopes.joined(separator: " ")
        if let assertion = try await assertion(for: identity) { client.authentication = .assertion(assertion) }
        let asker = client
        let response = try await plainly { () async throws(OAuthError) in try await asker.redeem(.clientCredentials) }
        let tokens = IssuerTokens(response, asked: request.scopes)
        var result = PluginResult(
            accessToken: response.accessToken, expiresIn: response.expiresIn, scopes: tokens.scopes,
            environment: address.hostText, realm: realm, account: nil)
        result.declinedScopes = tokens.declined
        result.memo = memo.memo
        return result
    }

    /// Returns the assertion that proves who the application is; nil if its secret does.
    private func assertion(for identity: PluginIdentity) async throws(PluginError) -> Secret? {
        guard request.clientSecret == nil else { return nil }
        guard let path = identity.certificate else {
            return try await AssertionSource(identity, audience: metadata.issuer).assertion(over: transport)
        }
        let (id, endpoint) = (request.clientID, metadata.endpoints.token)
        return try await plainly { () async throws(OAuthError) in
            try ClientCertificate(file: path, password: identity.certificatePassword)
                .assertion(of: id, for: endpoint, sendsChain: false)
        }
    }
}
