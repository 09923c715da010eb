import Hummingbird

/// Git remotes and a little of Graph, each for those who bring the right token.
extension World {
    func routeResource(_ visit: Visit) async -> Response {
        if visit.segments == ["v1.0", "me"], visit.method == .get { return await me(visit) }
        guard visit.segments.count >= 2, visit.segments[1].hasSuffix(".git"), !visit.climbs,
            let area = GitArea.all(in: self).first(where: { $0.name == visit.segments[0] })
        else { return .text("there is no such resource in this sandbox", status: .notFound) }
        return await repository(visit, in: area)
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

    /// Returns `common`, `b2c`, and one area per organization, named after the first part of its domain.
    static func all(in world: World) -> [GitArea] {
        world.directory.tenants.compactMap { tenant in
            let domain = tenant.kind == .b2c ? tenant.domain : nil
            let audience = world.directory.resources.first { resource in
                resource.tenant == domain && resource.identifiers.contains { $0.hasSuffix("sandbox-git") }
            }
            return audience.map { GitArea(of: tenant, audience: $0) }
        }
    }

    private init(of tenant: Tenant, audience: ResourceApp) {
        switch tenant.kind {
        case .consumers: (name, authority) = ("common", "/common")
        case .organization: (name, authority) = (tenant.shortName, "/" + tenant.domain)
        case .b2c: (name, authority) = ("b2c", "/tfp/\(tenant.domain)/\(tenant.policies?.first ?? "")")
        }
        self.tenant = tenant.kind == .consumers ? nil : tenant
        self.audience = audience
    }
}
