/// Consent of users to clients' permissions.
extension World {
    /// Returns the permissions that a user must still consent to before these scopes can be granted; empty if none.
    func consentNeeded(by user: User, for scopes: ScopeRequest, client: Client, realm: Realm) -> [String] {
        if client.preconsented == true || realm.policy != nil { return [] }
        let wanted = permissionsCovered(by: scopes, client: client)
        let given = ledger.with { $0.consents }
        return wanted.filter { !given.contains(Self.entry(user, client, $0)) }
    }

    func giveConsent(by user: User, to client: Client, for scopes: ScopeRequest) {
        let entries = permissionsCovered(by: scopes, client: client).map { Self.entry(user, client, $0) }
        ledger.with { $0.consents.formUnion(entries) }
    }

    /// Returns the permissions covered by consent to these scopes, as `Resource: Scope`.
    ///
    /// They are the scopes themselves and all permissions in the client's registration, so that another of its
    /// resources needs no second consent.
    func permissionsCovered(by scopes: ScopeRequest, client: Client) -> [String] {
        var covered: [String] = scopes.openID.isEmpty ? [] : ["Sign you in and read your profile"]
        for resource in scopes.resources {
            covered += scopes.granted(for: resource, to: client, in: directory).map { "\(resource.name): \($0.name)" }
        }
        for resource in directory.resources where client.permissions != nil && resource.tenant == client.tenant {
            covered += client.registered(for: resource, in: directory).map { "\(resource.name): \($0)" }
        }
        return covered.reduce(into: []) { unique, next in
            if !unique.contains(where: { $0.lowercased() == next.lowercased() }) { unique.append(next) }
        }
    }

    private static func entry(_ user: User, _ client: Client, _ permission: String) -> String {
        "\(user.username)|\(client.id)|\(permission.lowercased())"
    }
}
