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
        do throws(FileProblem) {
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
