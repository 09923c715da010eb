import Hummingbird
import JSON

/// Everything of Entra and B2C.
extension World {
    func routeAuthority(_ visit: Visit) async throws -> Response {
        switch visit.segments.map({ $0.lowercased() }) {
        case []: return .page(Pages.front(self))
        case ["_actions", "token"]: return try await workloadToken(visit)
        case ["_actions", "oidctoken"]: return try await pipelineToken(visit)
        case ["favicon.ico"]: return Response(status: .noContent)
        case ["devicelogin"]: return .redirect(to: "/common/oauth2/deviceauth")
        case let path where path.count == 3 && path[1...] == ["discovery", "instance"]:
            return instanceDiscovery(visit)
        default: break
        }
        guard let path = AuthorityPath(visit.segments, in: directory) else { return unknown(visit) }
        switch path.rest.map({ $0.lowercased() }) {
        case ["v2.0", ".well-known", "openid-configuration"]: return openIDConfiguration(path)
        case ["discovery", "v2.0", "keys"]: return .json(key.published)
        case ["oauth2", "v2.0", "authorize"]: return authorize(visit, at: path)
        case ["oauth2", "v2.0", "token"]: return try await token(visit, at: path)
        case ["oauth2", "v2.0", "logout"]: return await logout(visit, at: path)
        case ["oauth2", "v2.0", "devicecode"]: return deviceCode(visit, at: path)
        case ["oauth2", "deviceauth"]: return deviceAuth(visit)
        default: return .page(Pages.notFound, status: .notFound)
        }
    }

    /// Answers a path without an existing tenant, in Entra's format if it looks like one of Entra's endpoints.
    private func unknown(_ visit: Visit) -> Response {
        let last = visit.segments.last?.lowercased() ?? ""
        guard visit.segments.count > 2 else { return .page(Pages.notFound, status: .notFound) }
        let failure = OAuthErrorResponse.unknownTenant(visit.segments[0])
        if ["authorize", "logout", "deviceauth"].contains(last) {
            return .page(Pages.refusal(failure, visit), status: .badRequest)
        }
        return failure.response(to: visit)
    }
}

/// The discovery documents.
extension World {
    /// Answers `/common/discovery/instance`, which lists the hosts of one environment.
    func instanceDiscovery(_ visit: Visit) -> Response {
        let own = authority.dropFirst("https://".count)
        guard let endpoint = visit.query["authorization_endpoint"] else {
            return OAuthErrorResponse.missing("authorization_endpoint").response(to: visit)
        }
        let asked = endpoint.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        let isOwn = asked.count > 3 && asked[0] == "https:" && (asked[2] == own || asked[2] == "localhost")
        guard isOwn else {
            return OAuthErrorResponse(
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

/// Handles the end-session endpoint (OpenID Connect RP-Initiated Logout 1.0).
extension World {
    func logout(_ visit: Visit, at authority: AuthorityPath) async -> Response {
        let parameters = visit.parameters
        var username = parameters["logout_hint"]
        var client: Client?
        if let hint = parameters["id_token_hint"], let claims = await key.verify(hint) {
            username = username ?? claims["preferred_username"]?.string ?? claims["emails"]?.elements.first?.string
            client = claims["aud"]?.string.flatMap(directory.client)
        }
        if let session = visit.cookie(Self.sessionCookie) { ledger.forget(username, inSession: session) }
        visit.user = username
        guard let target = parameters["post_logout_redirect_uri"], accepts(target, for: client, at: authority) else {
            return .page(Pages.signedOut)
        }
        let state = parameters["state"].map { (target.contains("?") ? "&" : "?") + Form([("state", $0)]).encoded }
        return .redirect(to: target + (state ?? ""))
    }

    /// Whether the target is a redirect URI of the client, or of any client of this authority if the request names
    /// none.
    private func accepts(_ target: String, for client: Client?, at authority: AuthorityPath) -> Bool {
        let candidates =
            client.map { [$0] } ?? directory.clients.filter { $0.tenant == authority.realm.b2cTenant?.domain }
        return candidates.contains { $0.accepts(redirect: target) }
    }
}

/// The accounts that an authority's path admits.
enum Realm: Sendable, Equatable {
    case common
    case organizations
    case consumers(Tenant)
    case tenant(Tenant)
    /// A B2C tenant and a policy, as the tenant spells it.
    case policy(Tenant, String)

    /// Whether a user may sign in here; a single tenant admits its guests, too.
    func admits(_ user: User, in directory: Directory) -> Bool {
        guard let home = directory.home(of: user) else { return false }
        switch self {
        case .common: return home.kind != .b2c
        case .organizations, .tenant: return home.kind == .organization
        case .consumers: return home.kind == .consumers
        case .policy(let tenant, _): return home == tenant
        }
    }

    /// Returns the tenant that issues this user's tokens here; nil if it doesn't know the user.
    func issuer(for user: User, in directory: Directory) -> Tenant? {
        guard admits(user, in: directory) else { return nil }
        switch self {
        case .common, .organizations, .consumers: return directory.home(of: user)
        case .tenant(let tenant), .policy(let tenant, _):
            return directory.objectID(of: user, in: tenant) == nil ? nil : tenant
        }
    }

    /// The organization of a tenant's own authority; nil for an audience, and for B2C.
    var organization: Tenant? {
        guard case .tenant(let tenant) = self else { return nil }
        return tenant
    }

    var policy: String? {
        guard case .policy(_, let name) = self else { return nil }
        return name
    }

    /// A B2C policy's purpose, derived from its name.
    var isEditPolicy: Bool { policy?.lowercased().contains("edit") == true }
    var isResetPolicy: Bool { policy?.lowercased().contains("reset") == true }

    var b2cTenant: Tenant? {
        guard case .policy(let tenant, _) = self else { return nil }
        return tenant
    }
}

/// The authority's part of a path, such as `/common` or `/tfp/TENANT/POLICY`, and the rest.
struct AuthorityPath: Sendable {
    let realm: Realm
    /// The authority's path with a leading slash, as the discovery document's endpoints spell it.
    let prefix: String
    let rest: [String]

    /// Parses a path; nil if it names no tenant, or an unknown one.
    init?(_ segments: [String], in directory: Directory) {
        var segments = segments[...]
        let isTFP = segments.first?.lowercased() == "tfp"
        if isTFP { segments.removeFirst() }
        guard let name = segments.popFirst() else { return nil }
        if let tenant = directory.tenant(name), tenant.kind == .b2c {
            guard let asked = segments.popFirst(), let policy = Self.policy(asked, of: tenant) else { return nil }
            realm = .policy(tenant, policy)
            prefix = (isTFP ? "/tfp/" : "/") + name.lowercased() + "/" + policy
        } else if !isTFP, let found = Self.realm(name, in: directory) {
            realm = found
            // Like Entra, the sandbox answers a request for a tenant's domain with endpoints that contain its ID.
            prefix = "/" + (found.organization?.id ?? name.lowercased())
        } else {
            return nil
        }
        rest = Array(segments)
    }

    private static func policy(_ name: String, of tenant: Tenant) -> String? {
        tenant.policies?.first { $0.lowercased() == name.lowercased() }
    }

    private static func realm(_ name: String, in directory: Directory) -> Realm? {
        switch name.lowercased() {
        case "common": return .common
        case "organizations": return .organizations
        case "consumers": return directory.tenants.first { $0.kind == .consumers }.map(Realm.consumers)
        default:
            guard let tenant = directory.tenant(name) else { return nil }
            return tenant.kind == .consumers ? .consumers(tenant) : .tenant(tenant)
        }
    }
}
