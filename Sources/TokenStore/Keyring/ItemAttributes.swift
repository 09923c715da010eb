import Addresses

/// The attributes of an item: the same eight always, "" if one does not apply.
///
/// A provider that replaces an item replaces the first one that has *at least* the attributes given, so an item with
/// fewer than the others would overwrite one of them. Attributes are not secret, hence neither user names nor times.
struct ItemAttributes {
    static let schemaName = "dev.lanyard.Credential"

    var group: String
    var kind: String
    var homeAccount = ""
    var environment = ""
    var client = ""
    var realm = ""
    var target = ""
    var family = ""

    var dictionary: [String: String] {
        [
            "group": group, "kind": kind, "home-account": homeAccount, "environment": environment, "client": client,
            "realm": realm, "target": target, "family": family,
        ]
    }

    /// The attributes an item is stored with: its schema too.
    var stored: [String: String] { dictionary.ofSchema(Self.schemaName) }
}

extension ItemAttributes {
    /// The attributes a record is stored under: what MSAL's keychain keys are made of, lower-case as they are.
    init(_ record: CredentialRecord, group: String) {
        self.init(group: group, kind: record.kind.rawValue)
        switch record {
        case .accessToken(let token):
            setOwner(token.homeAccountID, token.environment, client: token.clientID, realm: token.realm)
            target = token.target.sortedScopes + (token.isBearer ? "" : "-" + token.tokenType.lowercased())
            // Tokens of the same scopes for other resources are other items.
            if let resources = token.resourceIndicators { target += " resource:" + resources }
        case .refreshToken(let token):
            // A family's refresh token is the family's, whichever of its clients got it.
            setOwner(token.homeAccountID, token.environment, client: token.familyID == nil ? token.clientID : "")
            family = token.familyID?.lowercased() ?? ""
        case .idToken(let token):
            setOwner(token.homeAccountID, token.environment, client: token.clientID, realm: token.realm)
        case .account(let account):
            setOwner(account.homeAccountID, account.environment, realm: account.realm)
        case .appMetadata(let metadata):
            setOwner("", metadata.environment, client: metadata.clientID)
        case .exchanged(let result):
            setOwner(result.homeAccountID, result.environment, client: result.clientID, realm: result.realm)
            // A path may be private.
            let path = result.path.isEmpty ? "" : " " + result.path.shortDigest
            target = "\(result.target.sortedScopes) \(result.exchange):\(result.audience.lowercased())\(path)"
        }
    }

    private mutating func setOwner(
        _ homeAccountID: String, _ environment: String, client: String = "", realm: String = ""
    ) {
        homeAccount = homeAccountID.lowercased()
        self.environment = environment.lowercased()
        self.client = client.lowercased()
        self.realm = realm.lowercased()
    }
}

extension [String: String] {
    /// The attributes with the name of a schema, as libsecret adds it.
    func ofSchema(_ name: String) -> Self { merging(["xdg:schema": name]) { $1 } }
}

extension String {
    /// Scopes in one order and one case, so that the same scopes asked for in another order are the same item.
    fileprivate var sortedScopes: String {
        Set(lowercased().pieces(between: " ")).sorted().joined(separator: " ")
    }
}

extension RecordQuery {
    /// What to ask the provider for; it may find more than the query matches, never less.
    func searchAttributes(group: String) -> [String: String] {
        var attributes = ["group": group]
        if kinds.count == 1, let kind = kinds.first { attributes["kind"] = kind.rawValue }
        // A client's secret is kept apart from the records of its environment.
        if secretOwner == nil, environments.count == 1, let environment = environments.first {
            attributes["environment"] = environment.lowercased()
        }
        if let homeAccountID, !kinds.contains(.appMetadata) { attributes["home-account"] = homeAccountID.lowercased() }
        if let clientID, !includesShared { attributes["client"] = clientID.lowercased() }
        return attributes
    }

    /// What to ask the provider for, one search each, if many items are stored; together as much as the other.
    func narrowSearches(group: String) -> [[String: String]] {
        kinds.flatMap { kind in
            var attributes = searchAttributes(group: group)
            attributes["kind"] = kind.rawValue
            guard let clientID, kind != .account else { return [attributes] }
            attributes["client"] = clientID.lowercased()
            guard kind == .refreshToken, includesShared else { return [attributes] }
            return [attributes, attributes.merging(["client": ""]) { $1 }]
        }
    }

    /// Whether it leaves kinds or clients out, so that narrow searches find less.
    var isSelective: Bool { clientID != nil || kinds.count < CredentialKind.allCases.count }

    /// Whether a record matches the query.
    package func matches(_ record: CredentialRecord) -> Bool {
        kind(of: record.itemKey) != nil
    }

    /// The kind of an item that matches the query, or nil if it does not match.
    func kind(of attributes: [String: String]) -> CredentialKind? {
        guard let kind = attributes["kind"].flatMap(CredentialKind.init), kinds.contains(kind),
            environments.isEmpty || environments.contains(where: { $0.lowercased() == attributes["environment"] }),
            // An application's token has no account, and is nobody's for that.
            Self.agree(homeAccountID, attributes["home-account"], orEmpty: kind == .appMetadata),
            Self.agree(clientID, attributes["client"], orEmpty: includesShared),
            Self.agree(realm, attributes["realm"], orEmpty: true)
        else { return nil }
        return kind
    }

    private static func agree(_ wanted: String?, _ attribute: String?, orEmpty: Bool) -> Bool {
        guard let wanted, let attribute else { return wanted == nil }
        return wanted.lowercased() == attribute || (orEmpty && attribute.isEmpty)
    }
}
