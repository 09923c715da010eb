import Addresses
import JSON

/// A valid request to the authorization endpoint, which may be answered with a redirect, or that of a device.
struct SignInRequest: ClientRequest {
    let authority: AuthorityPath
    let client: Client
    var target: ReturnAddress?
    var scopes: ScopeRequest
    var prompts: Set<String> = []
    var parameters = Form()
    var claims = RequestedClaims()

    var clientID: String { client.id }
    var challenge: String { parameters["code_challenge"] ?? "" }
    var nonce: String? { parameters["nonce"] }
    var loginHint: String? { parameters["login_hint"] }
    var domainHint: String? { parameters["domain_hint"]?.lowercased() }
    var maximumAge: Int? { parameters["max_age"].flatMap(Int.init) }
}

/// The destination of an authorization response.
struct ReturnAddress: Sendable {
    enum ResponseMode: String, Sendable { case query, fragment, formPost = "form_post" }

    let uri: String
    let mode: ResponseMode
    let state: String?
}

extension World {
    /// Validates a request in Entra's order; unlike Entra, it requires PKCE with S256.
    func read(
        _ parameters: Form, at authority: AuthorityPath
    ) throws(OAuthErrorResponse) -> SignInRequest {
        let client = try client(of: parameters, at: authority)
        let target = try target(of: parameters, for: client)
        do throws(OAuthErrorResponse) {
            try checkForm(of: parameters)
            guard let scope = parameters["scope"] else { throw .missing("scope") }
            return SignInRequest(
                authority: authority, client: client, target: target,
                scopes: try ScopeRequest(scope, client: client, realm: authority.realm, in: directory),
                prompts: try prompts(of: parameters), parameters: parameters,
                claims: try RequestedClaims(parameters["claims"]))
        } catch {
            throw error.sent(to: target)
        }
    }

    private func target(of parameters: Form, for client: Client) throws(OAuthErrorResponse) -> ReturnAddress {
        guard let redirect = parameters["redirect_uri"] else { throw .missing("redirect_uri") }
        guard client.accepts(redirect: redirect) else { throw .redirectMismatch }
        let mode = ReturnAddress.ResponseMode(rawValue: parameters["response_mode"] ?? "query")
        let target = ReturnAddress(uri: redirect, mode: mode ?? .query, state: parameters["state"])
        if mode == nil {
            throw OAuthErrorResponse(
                "invalid_request", 90100, "The 'response_mode' parameter is not supported."
            )
            .sent(to: target)
        }
        return target
    }

    private func checkForm(of parameters: Form) throws(OAuthErrorResponse) {
        guard let type = parameters["response_type"] else { throw .missing("response_type") }
        guard type == "code" else {
            throw OAuthErrorResponse(
                "unsupported_response_type", 700054, "response_type '\(type)' is not enabled for the application.")
        }
        guard let challenge = parameters["code_challenge"] else {
            throw OAuthErrorResponse("invalid_request", 9_002_325, "Proof Key for Code Exchange is required.")
        }
        guard parameters["code_challenge_method"] == "S256", challenge.utf8.count == 43 else {
            throw OAuthErrorResponse(
                "invalid_request", 501_491, "The code_challenge must be an S256 digest, which is 43 characters long.")
        }
    }

    private func prompts(of parameters: Form) throws(OAuthErrorResponse) -> Set<String> {
        let prompts = Set((parameters["prompt"] ?? "").split(separator: " ").map(String.init))
        let known: Set = ["none", "login", "consent", "select_account", "create"]
        if let odd = prompts.subtracting(known).min() {
            throw OAuthErrorResponse("invalid_request", 90023, "Unsupported 'prompt' value: \(odd).")
        }
        if prompts.contains("none"), prompts.count > 1 {
            throw OAuthErrorResponse("invalid_request", 90023, "'prompt=none' can't be combined with other values.")
        }
        return prompts
    }
}

/// The contents of a `claims` parameter (OpenID Connect Core 5.5), as far as Entra supports them.
struct RequestedClaims: Sendable, Equatable {
    /// The client's capabilities, such as `CP1`.
    var capabilities: [String] = []
    /// The authentication contexts that the access token must contain.
    var contexts: [String] = []
    /// The parameter without the capabilities, to report it if it can't be satisfied.
    var text: String?

    init() {}

    init(_ text: String?) throws(OAuthErrorResponse) {
        guard let text else { return }
        guard let claims = JSONValue(bytes: text.utf8), case .object = claims else {
            throw OAuthErrorResponse("invalid_request", 900_201, "The 'claims' parameter is not a JSON object.")
        }
        self.text = Self.withoutCapabilities(claims)
        capabilities = Self.values(of: claims["access_token"]?["xms_cc"])
        contexts = Self.values(of: claims["access_token"]?["acrs"])
    }

    /// Returns the additional proofs that a tenant or the client requires.
    func proofs(wantedBy tenant: Tenant?) -> [String] {
        contexts + (tenant?.mfa == true ? [SignedIn.secondProof] : [])
    }

    private static func withoutCapabilities(_ claims: JSONValue) -> String? {
        var targets = claims.members ?? [:]
        if var wanted = targets["access_token"]?.members {
            wanted["xms_cc"] = nil
            targets["access_token"] = wanted.isEmpty ? nil : .object(wanted)
        }
        return targets.isEmpty ? nil : String(decoding: JSONValue.object(targets).encoded(), as: UTF8.self)
    }

    private static func values(of request: JSONValue?) -> [String] {
        let single = request?["value"]?.string.map { [$0] } ?? []
        return single + (request?["values"]?.elements.compactMap(\.string) ?? [])
    }
}

/// The scopes of a request, split into OpenID Connect's and those of resources.
struct ScopeRequest: Sendable, Equatable {
    static let openID: Set<String> = ["openid", "profile", "email", "offline_access"]

    /// A scope of a resource.
    struct Permission: Sendable, Equatable {
        var resource: ResourceApp
        var name: String
        /// The resource as spelt in the request, with its slash; empty for Graph's short scopes.
        var prefix: String
        var spelled: String { prefix + name }
        /// The permission regardless of its spelling.
        var identity: String { "\(resource.id)/\(name.lowercased())" }
    }

    var openID: Set<String> = []
    var permissions: [Permission] = []

    init() {}

    /// Parses a `scope` parameter.
    ///
    /// - Throws: `invalid_scope`, `invalid_resource` and the like, each with Entra's code.
    init(_ text: String, client: Client, realm: Realm, in directory: Directory) throws(OAuthErrorResponse) {
        for scope in Set(text.split(separator: " ").map(String.init)).sorted() {
            if Self.openID.contains(scope.lowercased()) {
                openID.insert(scope.lowercased())
            } else {
                permissions.append(try Self.permission(scope, client: client, realm: realm, in: directory))
            }
        }
        for permission in permissions where permission.name == ".default" {
            if permissions.contains(where: { $0.resource == permission.resource && $0.name != ".default" }) {
                throw OAuthErrorResponse(
                    "invalid_scope", 70011,
                    "The provided request must include a 'scope' input parameter. The scope \(text) is not valid: "
                        + ".default scope can't be combined with resource-specific scopes.")
            }
        }
    }

    private static func permission(
        _ scope: String, client: Client, realm: Realm, in directory: Directory
    ) throws(OAuthErrorResponse) -> Permission {
        if realm.policy != nil, scope.lowercased() == client.id {
            let itself = ResourceApp(id: client.id, name: client.name, identifiers: [client.id], scopes: [])
            return Permission(resource: itself, name: client.id, prefix: "")
        }
        let (prefix, name) = scope.cut(atLast: "/").map { ("\($0)/", String($1)) } ?? ("", scope)
        guard let resource = directory.resource(prefix.isEmpty ? "https://graph.microsoft.com" : prefix),
            resource.tenant == realm.b2cTenant?.domain
        else {
            throw OAuthErrorResponse(
                "invalid_resource", 500011,
                "The resource principal named \(prefix) was not found in the tenant. This can happen if the "
                    + "application has not been installed by the administrator of the tenant.")
        }
        guard name == ".default" || resource.scopes.contains(where: { $0.lowercased() == name.lowercased() }) else {
            throw OAuthErrorResponse(
                "invalid_scope", 70011,
                "The provided value for the input parameter 'scope' is not valid. The scope \(scope) does not exist.")
        }
        return Permission(resource: resource, name: name, prefix: prefix)
    }

    /// The requested resources, in order.
    var resources: [ResourceApp] {
        permissions.reduce(into: []) { found, next in
            if !found.contains(next.resource) { found.append(next.resource) }
        }
    }

    var wantsRefreshToken: Bool { openID.contains("offline_access") }

    /// Returns the permissions granted for one resource: `.default` is replaced by the client's registered permissions,
    /// and those never granted to the client are removed.
    func granted(for resource: ResourceApp, to client: Client, in directory: Directory) -> [Permission] {
        let declined = Set((client.declines ?? []).map { $0.lowercased() })
        return permissions.filter { $0.resource == resource }.flatMap { permission -> [Permission] in
            guard permission.name == ".default" else { return [permission] }
            return client.registered(for: resource, in: directory).map {
                Permission(resource: resource, name: $0, prefix: permission.prefix)
            }
        }.filter { !declined.contains($0.name.lowercased()) && !declined.contains($0.spelled.lowercased()) }
    }
}

extension Client {
    /// Returns the scopes of a resource in this client's registration; all scopes if it lists none.
    func registered(for resource: ResourceApp, in directory: Directory) -> [String] {
        guard let permissions else { return resource.scopes }
        return permissions.compactMap { permission in
            guard let (identifier, name) = permission.cut(atLast: "/"),
                directory.resource(String(identifier)) == resource
            else { return nil }
            return String(name)
        }
    }

    /// Whether a redirect URI is registered for this client; loopback URIs match with any port (RFC 8252, 7.3).
    func accepts(redirect: String) -> Bool {
        redirectURIs.contains { registered in
            if registered == redirect { return true }
            let hosts = LoopbackURI.addresses + ["http://localhost"]
            guard let asked = LoopbackURI(redirect, at: hosts), let known = LoopbackURI(registered, at: hosts) else {
                return false
            }
            return asked.host == known.host && asked.path == known.path
        }
    }
}
