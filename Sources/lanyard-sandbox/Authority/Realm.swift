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
