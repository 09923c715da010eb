import Files
import FoundationEssentials
import JSON
import SettingsFile
import Synchronization
import Terminal

/// The tenants, users and applications of this sandbox, including users added at run time.
///
/// `DefaultUsers.swift` contains a users file with every kind of entry.
final class Directory: Sendable {
    let tenants: [Tenant]
    let clients: [Client]
    let resources: [ResourceApp]
    let requirements: [Requirement]
    let applications: [ServicePrincipal]
    let managedIdentities: [ManagedIdentity]
    private let people: Mutex<[User]>

    private init(_ file: SettingsTable) throws(SettingsError) {
        try file.allow(only: [
            "tenant", "user", "client", "resource", "requirement", "application", "managed-identity",
        ])
        tenants = try Self.rows("tenant", of: file)
        people = Mutex(try Self.rows("user", of: file))
        clients = try Self.rows("client", of: file)
        resources = try Self.rows("resource", of: file)
        requirements = try Self.rows("requirement", of: file)
        applications = try Self.rows("application", of: file)
        managedIdentities = try Self.rows("managed-identity", of: file)
    }

    /// Reads the tables `[[key]]`, which may have no keys but those of the type.
    private static func rows<Row: Codable>(_ key: String, of file: SettingsTable) throws(SettingsError) -> [Row] {
        var rows: [Row] = []
        for table in try file.tables(key) {
            let json = table.json
            do {
                let row = try JSONDecoder().decode(Row.self, from: Data(json.encoded()))
                guard JSONValue.encode(row).flatMap({ JSONValue(bytes: $0) }) == json else {
                    throw table.error(nil, "[[\(key)]] has an unknown key")
                }
                rows.append(row)
            } catch {
                let reason = (error as? DecodingError)?.words ?? "it can't be read"
                throw error as? SettingsError ?? table.error(nil, "[[\(key)]] is not right: \(reason)")
            }
        }
        return rows
    }

    /// Reads a users file.
    ///
    /// - Throws: `CommandError` that names the file and says what is wrong with it.
    static func read(_ path: String) throws(CommandError) -> Directory {
        let text: String
        do throws(FileError) {
            text = String(decoding: try OpenFile(path).contents(atMost: 1 << 24), as: UTF8.self)
        } catch {
            throw CommandError(
                "cannot read the users file \(path): \(error.reason)",
                hints: ["without --users, the sandbox writes a users.toml to its directory, to be changed"])
        }
        do throws(SettingsError) {
            return try Directory(SettingsTable(file: path, text: text))
        } catch {
            throw CommandError("the users file \(error.description)")
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

extension DecodingError {
    /// What is wrong, and in which key.
    fileprivate var words: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            (context.codingPath.map(\.stringValue) + [context.debugDescription]).joined(separator: ": ")
        @unknown default: "it can't be read"
        }
    }
}

/// A tenant: an organization, the tenant of all personal accounts, or a B2C directory.
struct Tenant: Codable, Sendable, Equatable {
    enum Kind: String, Codable { case organization, consumers, b2c }

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
struct User: Codable, Sendable, Equatable {
    struct Guest: Codable, Sendable, Equatable {
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
struct Client: Codable, Sendable, Equatable {
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
struct ResourceApp: Codable, Sendable, Equatable {
    var id: String
    var name: String
    /// The application ID URIs; the first one is the audience of its tokens.
    var identifiers: [String]
    var scopes: [String]
    /// The domain of its B2C tenant; nil for an Entra resource.
    var tenant: String?
}

/// A path that answers `insufficient_claims` until the token contains an authentication context.
struct Requirement: Codable, Sendable, Equatable {
    var path: String
    var acrs: String
}
