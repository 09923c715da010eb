import Files
import FoundationEssentials
import SettingsFile
import Synchronization
import TOMLKit
import Terminal

/// The tenants, users and applications of this sandbox, including users added at run time.
///
/// `DefaultUsers.swift` contains a users file with every kind of entry.
final class Directory: Decodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case tenant, user, client, resource, requirement, application
        case managedIdentity = "managed-identity"
    }

    let tenants: [Tenant]
    let clients: [Client]
    let resources: [ResourceApp]
    let requirements: [Requirement]
    let applications: [ServicePrincipal]
    let managedIdentities: [ManagedIdentity]
    private let people: Mutex<[User]>

    init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: CodingKeys.self)
        tenants = try file.decode([Tenant].self, forKey: .tenant)
        people = Mutex(try file.decode([User].self, forKey: .user))
        clients = try file.decode([Client].self, forKey: .client)
        resources = try file.decode([ResourceApp].self, forKey: .resource)
        requirements = try file.decodeIfPresent([Requirement].self, forKey: .requirement) ?? []
        applications = try file.decodeIfPresent([ServicePrincipal].self, forKey: .application) ?? []
        managedIdentities = try file.decodeIfPresent([ManagedIdentity].self, forKey: .managedIdentity) ?? []
    }

    /// Reads a users file.
    ///
    /// - Throws: `SandboxError` that names the file and says what is wrong with it.
    static func read(_ path: String) throws(SandboxError) -> Directory {
        let text: String
        do throws(FileError) {
            text = String(decoding: try OpenFile(path).contents(atMost: 1 << 24), as: UTF8.self)
        } catch {
            throw SandboxError(
                "cannot read the users file \(path): \(error.reason)",
                hint: "without --users, the sandbox writes a users.toml to its directory, to be changed")
        }
        do throws(SettingsError) {
            _ = try SettingsTable(file: path, text: text)
        } catch {
            throw SandboxError("the users file \(error.description)")
        }
        do {
            return try TOMLDecoder(strictDecoding: true).decode(Directory.self, from: text)
        } catch let error as UnexpectedKeysError {
            throw SandboxError("the users file \(path) has unknown keys: \(error.keys.keys.sorted())")
        } catch {
            throw SandboxError("the users file \(path) is not right: \(error)")
        }
    }

    var users: [User] { people.withLock { $0 } }

    func tenant(_ idOrDomain: String) -> Tenant? {
        let wanted = idOrDomain.lowercased()
        return tenants.first { $0.id == wanted || $0.domain == wanted }
    }

    func client(_ id: String) -> Client? {
        clients.first { $0.id == id.lowercased() }
    }

    func user(_ username: String) -> User? {
        let wanted = username.lowercased()
        return users.first { $0.username.lowercased() == wanted }
    }

    func home(of user: User) -> Tenant? { tenant(user.tenant) }

    /// Returns a user's object ID in a tenant; nil if the user is neither a member nor a guest.
    func objectID(of user: User, in tenant: Tenant) -> String? {
        if user.tenant.lowercased() == tenant.domain { return user.id }
        return user.guest?.first { $0.tenant.lowercased() == tenant.domain }?.id
    }

    /// Returns the application that a scope's prefix names: an application ID URI (a trailing slash is ignored) or a
    /// client ID.
    func resource(_ identifier: String) -> ResourceApp? {
        var wanted = identifier.lowercased()
        while wanted.hasSuffix("/") { wanted.removeLast() }
        return resources.first { resource in
            resource.id == wanted || resource.identifiers.contains { $0.lowercased() == wanted }
        }
    }

    /// Adds a user; returns false if the username is taken.
    func add(_ user: User) -> Bool {
        people.withLock { people in
            if people.contains(where: { $0.username.lowercased() == user.username.lowercased() }) { return false }
            people.append(user)
            return true
        }
    }

    func update(_ username: String, _ change: (inout User) -> Void) {
        people.withLock { people in
            guard let index = people.firstIndex(where: { $0.username == username }) else { return }
            change(&people[index])
        }
    }
}

/// An error that stops the sandbox, in words for the user.
struct SandboxError: Error, CustomStringConvertible {
    let description: String
    let hint: Hint?

    init(_ description: String, hint: Hint? = nil) {
        self.description = description
        self.hint = hint
    }
}

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
