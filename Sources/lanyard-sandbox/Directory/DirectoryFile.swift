/// What a users file may say; `DefaultUsers.swift` holds one with every kind of entry.
struct DirectoryFile: Decodable, Sendable {
    var tenant: [Tenant]
    var user: [User]
    var client: [Client]
    var resource: [ResourceApp]
    var requirement: [Requirement]?
    var application: [ServicePrincipal]?
    var managedIdentity: [ManagedIdentity]?

    private enum CodingKeys: String, CodingKey {
        case tenant, user, client, resource, requirement, application
        case managedIdentity = "managed-identity"
    }
}

/// A tenant: an organization, the one of all personal accounts, or a B2C directory.
struct Tenant: Decodable, Sendable, Equatable {
    enum Kind: String, Decodable { case organization, consumers, b2c }

    var id: String
    var domain: String
    var name: String
    var kind: Kind
    var policies: [String]?
    /// Whether it wants a second proof of everybody, guests too, before it issues a token.
    var mfa: Bool?
}

/// Someone who can sign in, at home in one tenant and perhaps a guest in others.
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
    /// The object id in the home tenant.
    var id: String
    var guest: [Guest]?
}

/// An application that asks for tokens.
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
    /// What the application's registration asks for: what `.default` means and what consent covers.
    var permissions: [String]?
    /// Scopes that are never granted to it, whatever anyone consents to.
    var declines: [String]?
    var preconsented: Bool?
    /// False if Conditional Access forbids the device code flow.
    var deviceCode: Bool?
}

/// An application that tokens are for.
struct ResourceApp: Decodable, Sendable, Equatable {
    var id: String
    var name: String
    /// Its application ID URIs; the first is the audience of its tokens.
    var identifiers: [String]
    var scopes: [String]
    /// Its B2C tenant's domain; nil for one of Entra.
    var tenant: String?
}

/// A path that answers `insufficient_claims` until the token carries an authentication context.
struct Requirement: Decodable, Sendable, Equatable {
    var path: String
    var acrs: String
}
