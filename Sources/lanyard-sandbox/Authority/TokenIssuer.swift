import Addresses
import Crypto
import FoundationEssentials
import JSON

/// Token responses.
extension World {
    /// The inputs for one token response.
    struct Issue: Sendable {
        var grant: Grant
        var client: Client
        var user: User
        /// The issuing tenant, and the realm of the request.
        var tenant: Tenant
        var realm: Realm
        var scopes: ScopeRequest
        var claims: ClaimsRequest
        var wantsClientInfo: Bool
        /// Whether a refresh token is redeemed, rather than a sign-in.
        var isRenewal = false
    }

    func tokens(_ issue: Issue, visit: Visit) async throws -> JSONValue {
        let lifetime = settings.accessTokenLifetime
        var answer: [String: JSONValue] = ["token_type": "Bearer", "expires_in": .integer(Int64(lifetime))]
        answer["ext_expires_in"] = .integer(Int64(lifetime * 2))
        answer["refresh_in"] = settings.refreshIn.map { .integer(Int64($0)) }
        answer["scope"] = .string(grantedScope(issue))
        if let token = try await accessToken(issue, lifetime: lifetime) { answer["access_token"] = .string(token) }
        if issue.scopes.openID.contains("openid"), !issue.isRenewal || settings.sendsIDTokenAtRenewal {
            answer["id_token"] = .string(try await key.sign(idToken(issue, visit: visit)))
        }
        if issue.scopes.wantsRefreshToken { answer["refresh_token"] = .string(refreshToken(issue)) }
        if issue.scopes.wantsRefreshToken, let family = issue.client.family { answer["foci"] = .string(family) }
        if issue.wantsClientInfo { answer["client_info"] = .string(clientInfo(of: issue.user, realm: issue.realm)) }
        if issue.realm.policy != nil {
            answer["not_before"] = .integer(Date.now.unix)
            answer["ext_expires_in"] = nil
        }
        return .object(answer)
    }

    private func refreshToken(_ issue: Issue) -> String {
        var grant = issue.grant
        if grant.request.scopes.permissions.isEmpty { grant.request.scopes = issue.scopes }
        let text = "1." + newSecret(bytes: 64)
        ledger.with { [grant] in $0.refreshTokens[text] = .init(grant: grant) }
        return text
    }

    /// Returns the scopes of a response: as requested, with `.default` both expanded and kept.
    private func grantedScope(_ issue: Issue) -> String {
        var names: [String] = []
        if let resource = issue.scopes.resources.first {
            names = issue.scopes.granted(for: resource, to: issue.client, in: directory).map(\.spelled)
            names += issue.scopes.permissions.filter { $0.name == ".default" && $0.resource == resource }.map(\.spelled)
        }
        // Entra lists OpenID Connect's scopes only with a token for Graph; B2C also lists offline_access.
        if issue.realm.policy != nil {
            names += issue.scopes.openID.sorted()
        } else if issue.scopes.resources.first.map({ $0.id == ResourceApp.graphID }) ?? true {
            names += issue.scopes.openID.subtracting(["offline_access"]).sorted()
        }
        return names.joined(separator: " ")
    }

    /// Returns an access token; without a resource's scope, Entra issues one for Graph, B2C none.
    private func accessToken(_ issue: Issue, lifetime: Int) async throws -> String? {
        let resource = issue.scopes.resources.first ?? directory.resource(ResourceApp.graphID)
        guard let resource, issue.realm.policy == nil || !issue.scopes.permissions.isEmpty else { return nil }
        var names = issue.scopes.granted(for: resource, to: issue.client, in: directory).map(\.name)
        if resource.id == ResourceApp.graphID {
            names += issue.scopes.openID.subtracting(["offline_access"]).sorted()
        }
        var claims = common(issue)
        claims["aud"] = .string(issue.realm.policy == nil ? resource.identifiers.first ?? resource.id : resource.id)
        claims["exp"] = .integer(Date.now.unix + Int64(lifetime))
        claims["scp"] = .string(names.joined(separator: " "))
        claims["azp"] = .string(issue.client.id)
        claims["azpacr"] = "0"
        claims["uti"] = .string(newSecret(bytes: 16))
        claims["acct"] = issue.user.tenant == issue.tenant.domain ? 0 : 1
        if !issue.claims.capabilities.isEmpty { claims["xms_cc"] = JSONValue(strings: issue.claims.capabilities) }
        let contexts = issue.grant.signedIn.proofs.subtracting([SignedIn.secondProof])
        if !contexts.isEmpty { claims["acrs"] = JSONValue(strings: contexts.sorted()) }
        return try await key.sign(claims)
    }

    private func idToken(_ issue: Issue, visit: Visit) -> Claims {
        var claims = common(issue)
        claims["aud"] = .string(issue.client.id)
        claims["exp"] = .integer(Date.now.unix + 3600)
        claims["auth_time"] = .integer(issue.grant.signedIn.at.unix)
        // An ID token of a renewal has no nonce (OpenID Connect Core 1.0, 12.2).
        if !issue.isRenewal { claims["nonce"] = issue.grant.request.nonce.map(JSONValue.string) }
        if issue.scopes.openID.contains("email") { claims["email"] = .string(issue.user.username) }
        if let issuer = faults.take(\.issuer, at: visit.path) { claims["iss"] = .string(issuer) }
        if let nonce = faults.take(\.nonce, at: visit.path) { claims["nonce"] = .string(nonce) }
        return claims
    }

    private func common(_ issue: Issue) -> Claims {
        let objectID = directory.objectID(of: issue.user, in: issue.tenant) ?? issue.user.id
        let now = Date.now.unix
        var claims: Claims = [
            "iss": .string(issuer(of: issue.tenant)), "iat": .integer(now), "nbf": .integer(now), "ver": "2.0",
            "tid": .string(issue.tenant.id), "oid": .string(objectID),
            "sub": .string(pairwiseSubject(objectID, issue.client)), "name": .string(issue.user.name),
            "preferred_username": .string(issue.user.username),
        ]
        if let policy = issue.realm.policy {
            claims["tfp"] = .string(policy)
            claims["ver"] = "1.0"
            claims["sub"] = .string(objectID)
            claims["emails"] = [.string(issue.user.username)]
            claims["preferred_username"] = nil
        }
        return claims
    }

    /// Returns a pairwise subject, which differs between clients (OpenID Connect Core 8.1).
    private func pairwiseSubject(_ objectID: String, _ client: Client) -> String {
        Base64URL.encode(SHA256.hash(data: Data("\(objectID)|\(client.id)".utf8)))
    }

    /// Returns the account's home IDs, which are the same for a guest; B2C has a separate account per policy.
    func clientInfo(of user: User, realm: Realm) -> String {
        let tenant = directory.home(of: user)?.id ?? ""
        let suffix = realm.policy.map { "-\($0.lowercased())" } ?? ""
        let info: JSONValue = ["uid": .string(user.id + suffix), "utid": .string(tenant)]
        return Base64URL.encode(info.encodedText.utf8)
    }
}

extension ResourceApp {
    static let graphID = "00000003-0000-0000-c000-000000000000"
}
