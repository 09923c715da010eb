import Hummingbird

/// Git remotes and a little of Graph, each for those who bring the right token.
struct ResourceRoutes {
    let world: World
    let git: GitBackend

    func route(_ visit: Visit) async throws -> Response {
        if visit.segments == ["v1.0", "me"], visit.method == .get { return await world.me(visit) }
        guard visit.segments.count >= 2, visit.segments[1].hasSuffix(".git"), !visit.climbs,
            let area = GitArea(visit.segments[0], in: world)
        else { return .text("there is no such resource in this sandbox", status: .notFound) }
        switch await world.checkGit(visit, area) {
        case .refused(let response): return response
        case .accepted(let username):
            visit.user = username
            do {
                try await world.repositories.prepare("/" + visit.segments.prefix(2).joined(separator: "/"), in: world)
            } catch {
                return .text("\(error)", status: .internalServerError)
            }
            return await git.respond(to: visit, as: username, root: world.home.repositories)
        }
    }
}

/// A folder of repositories, and the tokens that it accepts.
struct GitArea: Sendable {
    let name: String
    /// The authority's path for callers without a token.
    let authority: String
    /// The tenant that must have issued the token; nil for any but B2C tenants.
    let tenant: Tenant?
    let audience: ResourceApp

    init?(_ name: String, in world: World) {
        guard let found = Self.all(in: world).first(where: { $0.name == name }) else { return nil }
        self = found
    }

    private init(name: String, authority: String, tenant: Tenant?, audience: ResourceApp) {
        self.name = name
        self.authority = authority
        self.tenant = tenant
        self.audience = audience
    }

    /// Returns `common`, `b2c`, and one area per organization, named after the first part of its domain.
    static func all(in world: World) -> [GitArea] {
        var areas: [GitArea] = []
        for tenant in world.directory.tenants {
            let domain = tenant.kind == .b2c ? tenant.domain : nil
            guard
                let audience = world.directory.resources.first(where: { resource in
                    resource.tenant == domain && resource.identifiers.contains { $0.hasSuffix("sandbox-git") }
                })
            else { continue }
            switch tenant.kind {
            case .consumers:
                areas.append(GitArea(name: "common", authority: "/common", tenant: nil, audience: audience))
            case .organization:
                let name = String(tenant.domain.prefix { $0 != "." })
                areas.append(GitArea(name: name, authority: "/" + tenant.domain, tenant: tenant, audience: audience))
            case .b2c:
                let policy = tenant.policies?.first ?? ""
                areas.append(
                    GitArea(
                        name: "b2c", authority: "/tfp/\(tenant.domain)/\(policy)", tenant: tenant, audience: audience))
            }
        }
        return areas
    }
}
