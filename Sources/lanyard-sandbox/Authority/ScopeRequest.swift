import Addresses

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
    init(_ text: String, client: Client, realm: Realm, in directory: Directory) throws(OAuthFailure) {
        for scope in Set(text.split(separator: " ").map(String.init)).sorted() {
            if Self.openID.contains(scope.lowercased()) {
                openID.insert(scope.lowercased())
            } else {
                permissions.append(try Self.permission(scope, client: client, realm: realm, in: directory))
            }
        }
        for permission in permissions where permission.name == ".default" {
            if permissions.contains(where: { $0.resource == permission.resource && $0.name != ".default" }) {
                throw OAuthFailure(
                    "invalid_scope", 70011,
                    "The provided request must include a 'scope' input parameter. The scope \(text) is not valid: "
                        + ".default scope can't be combined with resource-specific scopes.")
            }
        }
    }

    private static func permission(
        _ scope: String, client: Client, realm: Realm, in directory: Directory
    ) throws(OAuthFailure) -> Permission {
        if realm.policy != nil, scope.lowercased() == client.id {
            let itself = ResourceApp(id: client.id, name: client.name, identifiers: [client.id], scopes: [])
            return Permission(resource: itself, name: client.id, prefix: "")
        }
        let (prefix, name) = scope.cut(atLast: "/").map { ("\($0)/", String($1)) } ?? ("", scope)
        guard let resource = directory.resource(prefix.isEmpty ? "https://graph.microsoft.com" : prefix),
            resource.tenant == realm.b2cTenant?.domain
        else {
            throw OAuthFailure(
                "invalid_resource", 500011,
                "The resource principal named \(prefix) was not found in the tenant. This can happen if the "
                    + "application has not been installed by the administrator of the tenant.")
        }
        guard name == ".default" || resource.scopes.contains(where: { $0.lowercased() == name.lowercased() }) else {
            throw OAuthFailure(
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
