import Hummingbird
import JSON

/// The discovery documents.
extension World {
    /// Answers `/common/discovery/instance`, which lists the hosts of one environment.
    func instanceDiscovery(_ visit: Visit) -> Response {
        let own = authority.dropFirst("https://".count)
        guard let endpoint = visit.query["authorization_endpoint"] else {
            return OAuthFailure.missing("authorization_endpoint").response(to: visit)
        }
        let asked = endpoint.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        let isOwn = asked.count > 3 && asked[0] == "https:" && (asked[2] == own || asked[2] == "localhost")
        guard isOwn else {
            return OAuthFailure(
                "invalid_instance", 50049, "Unknown or invalid instance."
            ).response(to: visit)
        }
        return .json([
            "tenant_discovery_endpoint": .string("\(authority)/\(asked[3])/v2.0/.well-known/openid-configuration"),
            "api-version": .string(visit.query["api-version"] ?? "1.1"),
            "metadata": [
                [
                    "preferred_network": .string(String(own)), "preferred_cache": .string(String(own)),
                    "aliases": [.string(String(own))],
                ]
            ],
        ])
    }

    func openIDConfiguration(_ path: AuthorityPath) -> Response {
        let base = authority + path.prefix
        var members: [String: JSONValue] = [
            "issuer": .string(issuerTemplate(of: path.realm)),
            "authorization_endpoint": .string("\(base)/oauth2/v2.0/authorize"),
            "token_endpoint": .string("\(base)/oauth2/v2.0/token"),
            "end_session_endpoint": .string("\(base)/oauth2/v2.0/logout"),
            "jwks_uri": .string("\(base)/discovery/v2.0/keys"),
            "response_modes_supported": ["query", "fragment", "form_post"],
            "response_types_supported": ["code"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt", "none"],
            "claims_supported": [
                "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "name", "preferred_username", "tid", "oid",
                "ver", "email",
            ],
            "request_uri_parameter_supported": false,
        ]
        // Azure AD B2C itself has no device codes; the sandbox offers them so that every flow can be tried everywhere.
        if settings.deviceCodeLifetime > 0 {
            members["device_authorization_endpoint"] = .string("\(base)/oauth2/v2.0/devicecode")
        }
        if path.realm.policy == nil {
            members["cloud_instance_name"] = .string(String(authority.dropFirst("https://".count)))
            members["tenant_region_scope"] = .null
        }
        return .json(.object(members))
    }

    /// Returns the issuer with the placeholder that Entra uses for realms of many tenants.
    private func issuerTemplate(of realm: Realm) -> String {
        switch realm {
        case .common, .organizations: "\(authority)/{tenantid}/v2.0"
        case .consumers(let tenant), .tenant(let tenant), .policy(let tenant, _): issuer(of: tenant)
        }
    }
}
