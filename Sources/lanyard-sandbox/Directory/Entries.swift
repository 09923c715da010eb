/// A tenant: an organization, the tenant of all personal accounts, or a B2C directory.
struct Tenant: Decodable, Sendable, Equatable {
    enum Kind: String, Decodable { case organization, consumers, b2c }

    var id: String
    var domain: String
    var name: String
    var kind: Kind
    var policies: [String]?
    /// Whether it requires multi-factor authentication from everyone, including guests.
    var mfa: Bool?

    /// The first part of the domain, which names its repositories.
    var shortName: String { String(domain.prefix { $0 != "." }) }
}

/// A user with a home tenant, who may be a guest in others.
struct User: Decodable, Sendable, Equatable {
    struct Guest: Decodable, Sendable, Equatable {
        var tenant: String
        var id: String
    }

    var username: String
    var name: String
    var password: String
    /// The domain of the home tenant.
    var tenant: String
    /// The object ID in the home tenant.
    var id: String
    var guest: [Guest]?
}

/// A client application.
struct Client: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey {
        case id, name, tenant, family, permissions, declines, preconsented
        case redirectURIs = "redirect-uris"
        case deviceCode = "device-code"
    }

    var id: String
    var name: String
    var redirectURIs: [String]
    /// The only tenant that knows this client; nil if all but B2C tenants do.
    var tenant: String?
    var family: String?
    /// The permissions in the application's registration, which define `.default` and what consent covers.
    var permissions: [String]?
    /// The scopes that are never granted to it, whatever the user consents to.
    var declines: [String]?
    var preconsented: Bool?
    /// Whether device codes are allowed; false simulates a Conditional Access policy.
    var deviceCode: Bool?
}

/// A resource application, which tokens are issued for.
struct ResourceApp: Decodable, Sendable, Equatable {
    var id: String
    var name: String
    /// The application ID URIs; the first one is the audience of its tokens.
    var identifiers: [String]
    var scopes: [String]
    /// The domain of its B2C tenant; nil for an Entra resource.
    var tenant: String?
}

/// A path that answers `insufficient_claims` until the token contains an authentication context.
struct Requirement: Decodable, Sendable, Equatable {
    var path: String
    var acrs: String
}
