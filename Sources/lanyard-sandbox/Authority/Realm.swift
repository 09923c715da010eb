/// Who an authority's path is for.
enum Realm: Sendable, Equatable {
    case common
    case organizations
    case consumers(Tenant)
    case tenant(Tenant)
    /// A B2C tenant and the policy as the tenant spells it.
    case policy(Tenant, String)

    /// Whether someone of this home tenant may sign in here at all; a single tenant also looks for guests.
    func admits(_ user: User, in directory: Directory) -> Bool {
        guard let home = directory.home(of: user) else { return false }
        switch self {
        case .common: return home.kind != .b2c
        case .organizations: return home.kind == .organization
        case .consumers: return home.kind == .consumers
        case .tenant: return home.kind == .organization
        case .policy(let tenant, _): return home == tenant
        }
    }

    /// The tenant that issues the tokens of this user here; nil if the user is unknown to it.
    func issuer(for user: User, in directory: Directory) -> Tenant? {
        guard admits(user, in: directory) else { return nil }
        switch self {
        case .common, .organizations, .consumers: return directory.home(of: user)
        case .tenant(let tenant), .policy(let tenant, _):
            return directory.objectID(of: user, in: tenant) == nil ? nil : tenant
        }
    }

    var policy: String? {
        guard case .policy(_, let name) = self else { return nil }
        return name
    }

    /// What a B2C policy is for, told by its name.
    var isEditPolicy: Bool { policy?.lowercased().contains("edit") == true }
    var isResetPolicy: Bool { policy?.lowercased().contains("reset") == true }

    var b2cTenant: Tenant? {
        guard case .policy(let tenant, _) = self else { return nil }
        return tenant
    }
}

/// An authority's part of a path, such as `/common` or `/tfp/TENANT/POLICY`, and what follows it.
struct AuthorityPath: Sendable {
    let realm: Realm
    /// The authority's path with a leading slash, spelled as the endpoints of its discovery document spell it.
    let prefix: String
    let rest: [String]

    /// Reads a path; nil if it names no tenant, or none that exists.
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
            prefix = Self.prefix(of: found, called: name)
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

    /// As Entra does, a tenant asked for by its domain is answered with the endpoints of its id.
    private static func prefix(of realm: Realm, called name: String) -> String {
        switch realm {
        case .common: "/common"
        case .organizations: "/organizations"
        case .consumers: name.lowercased() == "consumers" ? "/consumers" : "/\(name.lowercased())"
        case .tenant(let tenant), .policy(let tenant, _): "/\(tenant.id)"
        }
    }
}
