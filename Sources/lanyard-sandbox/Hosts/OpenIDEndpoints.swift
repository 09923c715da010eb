import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// The OpenID Connect issuer's endpoints besides the sign-in.
extension HostSite {
    /// Returns the metadata document, which is the same at both well-known locations (OpenID Connect Discovery 1.0 and
    /// RFC 8414).
    func discovery(_ visit: Visit) -> Response {
        let url = host.url
        var members: [String: JSONValue] = [
            "issuer": .string(world.faults.take(\.issuer, at: visit.path) ?? url),
            "authorization_endpoint": .string("\(url)/oauth/authorize"),
            "token_endpoint": .string("\(url)/oauth/token"), "revocation_endpoint": .string("\(url)/oauth/revoke"),
            "userinfo_endpoint": .string("\(url)/oauth/userinfo"),
            "end_session_endpoint": .string("\(url)/oauth/logout"),
            "jwks_uri": .string("\(url)/oauth/discovery/keys"),
            "scopes_supported": JSONValue(strings: knownScopes.map(\.key)), "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": JSONValue(strings: HostClient.allGrants.sorted()),
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "code_challenge_methods_supported": ["S256"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "authorization_response_iss_parameter_supported": true,
            "claims_supported": [
                "sub", "iss", "aud", "exp", "iat", "auth_time", "name", "preferred_username", "email",
            ],
        ]
        if world.settings.deviceCodeLifetime > 0 {
            members["device_authorization_endpoint"] = .string("\(url)/oauth/authorize_device")
        }
        if world.settings.offersRegistration { members["registration_endpoint"] = .string("\(url)/oauth/register") }
        return .json(.object(members))
    }

    /// Returns Gitea's document, which has no device codes, revocation or end-session endpoint.
    func giteaDiscovery(_ visit: Visit) -> Response {
        let url = host.url
        return .json([
            "issuer": .string(world.faults.take(\.issuer, at: visit.path) ?? url),
            "authorization_endpoint": .string("\(url)/login/oauth/authorize"),
            "token_endpoint": .string("\(url)/login/oauth/access_token"),
            "jwks_uri": .string("\(url)/login/oauth/keys"),
            "userinfo_endpoint": .string("\(url)/login/oauth/userinfo"),
            "response_types_supported": ["code", "id_token"], "id_token_signing_alg_values_supported": ["RS256"],
            "subject_types_supported": ["public"], "scopes_supported": ["openid", "profile", "email", "groups"],
            "code_challenge_methods_supported": ["plain", "S256"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
        ])
    }

    /// The metadata of the repositories, with the issuer of their tokens (RFC 9728).
    var resourceMetadata: Response {
        .json([
            "resource": .string(host.url), "authorization_servers": [.string(host.url)],
            "scopes_supported": ["read_repository", "write_repository"], "bearer_methods_supported": ["header"],
        ])
    }

    /// Revokes a token (RFC 7009).
    ///
    /// Revoking a refresh token revokes its whole sign-in. An unknown token is no error.
    func revoke(_ visit: Visit) -> Response {
        do throws(HostFailure) {
            let client = try client(of: visit)
            guard let token = visit.form["token"] else { throw .missing("token") }
            let grant = host.ledger.with { $0.refreshTokens[token]?.grant ?? $0.accessTokens[token]?.grant }
            guard grant.map({ $0.request.clientID == client.id }) ?? true else {
                throw HostFailure("unauthorized_client", "The token was issued to another client.")
            }
            visit.user = grant?.signedIn.username
            host.ledger.with { state in
                if let grant = state.refreshTokens[token]?.grant { state.end(lineage: grant.lineage) }
                state.accessTokens[token] = nil
            }
            return .json([:])
        } catch {
            return answer(error, visit)
        }
    }

    func userInfo(_ visit: Visit) -> Response {
        guard let token = visit.bearer.flatMap(liveToken), token.scopes.contains("openid") else {
            return .json(["error": "invalid_token"], status: .unauthorized)
                .challenging("Bearer error=\"invalid_token\"")
        }
        visit.user = token.grant.signedIn.username
        return .json(.object(claims(about: token.grant)))
    }

    /// Handles the end-session endpoint (OpenID Connect RP-Initiated Logout 1.0).
    func logout(_ visit: Visit) async -> Response {
        let parameters = visit.parameters
        var user = parameters["logout_hint"].flatMap(person)
        var client = parameters["client_id"].flatMap(host.client)
        if let hint = parameters["id_token_hint"], let claims = await world.key.verify(hint),
            claims["iss"]?.string == host.url
        {
            let subject = claims["sub"]?.string
            user = user ?? world.directory.users.first { $0.id == subject }
            client = client ?? claims["aud"]?.string.flatMap(host.client)
        }
        visit.user = user?.username
        if let session = visit.cookie(host.sessionCookie) {
            host.ledger.forget(user?.username, inSession: session)
        }
        guard let target = parameters["post_logout_redirect_uri"],
            client?.accepts(redirect: target, at: style) == true
        else { return .page(Pages.signedOut) }
        let state = parameters["state"].map { [(name: "state", value: $0)] } ?? []
        return ReturnAddress(uri: target, mode: .query, state: nil).response(Form(state))
    }
}
