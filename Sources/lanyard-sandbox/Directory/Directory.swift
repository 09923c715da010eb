import FoundationEssentials
import SettingsFile
import Synchronization
import TOMLKit

/// The tenants, users and applications of this sandbox, including users added at run time.
final class Directory: Sendable {
    let tenants: [Tenant]
    let clients: [Client]
    let resources: [ResourceApp]
    let requirements: [Requirement]
    let applications: [ServicePrincipal]
    let managedIdentities: [ManagedIdentity]
    private let people: Mutex<[User]>

    init(_ file: DirectoryFile) {
        tenants = file.tenant
        clients = file.client
        resources = file.resource
        requirements = file.requirement ?? []
        applications = file.application ?? []
        managedIdentities = file.managedIdentity ?? []
        people = Mutex(file.user)
    }

    /// Reads a users file.
    ///
    /// - Throws: `SandboxError` that names the file and says what is wrong with it.
    convenience init(contentsOf path: String) throws(SandboxError) {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw SandboxError("cannot read the users file \(path): \(error)")
        }
        do throws(SettingsError) {
            _ = try SettingsTable(file: path, text: text)
        } catch {
            throw SandboxError("the users file \(error.description)")
        }
        do {
            self.init(try TOMLDecoder(strictDecoding: true).decode(DirectoryFile.self, from: text))
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

    init(_ description: String) {
        self.description = description
    }
}
