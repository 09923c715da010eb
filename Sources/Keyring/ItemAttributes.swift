import Addresses
internal import AnswerCache

/// The attributes of an item: always the same eight, "" if one doesn't apply.
///
/// A keyring that replaces an item replaces the first one that has *at least* the given attributes, so an item with
/// fewer attributes would overwrite another one. Attributes aren't secret, so they contain neither user names nor
/// times.
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

    /// The attributes that an item is stored with, including its schema.
    var stored: [String: String] { dictionary.ofSchema(Self.schemaName) }
}

extension ItemAttributes {
    /// Creates the attributes of a record, based on MSAL's keychain keys and lower-case like those, except where case
    /// may count.
    init(_ record: CredentialRecord, group: String) {
        self.init(
            group: group, kind: record.kind.rawValue, homeAccount: record.homeAccountID?.lowercased() ?? "",
            environment: record.environment.lowercased(), client: record.clientID?.clientKey ?? "",
            realm: record.realm?.lowercased() ?? "")
        switch record {
        case .accessToken(let token):
            target = token.target.sortedScopes + (token.isBearer ? "" : "-" + token.tokenType.lowercased())
            // Tokens with the same scopes for other resources are separate items.
            if let resources = token.resourceIndicators { target += " resource:" + resources }
        case .refreshToken(let token):
            // A family's refresh token belongs to the family, whichever of its clients got it.
            if token.familyID != nil { client = "" }
            family = token.familyID?.lowercased() ?? ""
        case .exchanged(let result):
            // A path may be private.
            let path = result.path.isEmpty ? "" : " " + result.path.shortDigest
            target = "\(result.target.sortedScopes) \(result.exchange):\(result.audience.lowercased())\(path)"
        case .idToken, .account, .appMetadata: break
        }
    }
}

extension [String: String] {
    /// Returns the attributes with the name of a schema.
    func ofSchema(_ name: String) -> Self { merging(["xdg:schema": name]) { $1 } }
}

extension String {
    /// The scopes in a fixed order, so that the same scopes in another order make the same item.
    fileprivate var sortedScopes: String {
        Set(pieces(between: " ")).sorted().joined(separator: " ")
    }
}

extension RecordQuery {
    /// Returns the attributes to search for; the keyring may find more than the query matches, but never less.
    func searchAttributes(group: String) -> [String: String] {
        var attributes = ["group": group]
        if kinds.count == 1, let kind = kinds.first { attributes["kind"] = kind.rawValue }
        // A client's secret is kept apart from the records of its environment.
        if secretOwner == nil, environments.count == 1, let environment = environments.first {
            attributes["environment"] = environment.lowercased()
        }
        if let homeAccountID, !kinds.contains(.appMetadata) { attributes["home-account"] = homeAccountID.lowercased() }
        if let clientID, !includesShared { attributes["client"] = clientID.clientKey }
        return attributes
    }

    /// Returns the attributes of several narrow searches for when many items are stored; together they find the same
    /// items.
    func narrowSearches(group: String) -> [[String: String]] {
        kinds.flatMap { kind in
            var attributes = searchAttributes(group: group)
            attributes["kind"] = kind.rawValue
            guard let clientID, kind != .account else { return [attributes] }
            attributes["client"] = clientID.clientKey
            guard kind == .refreshToken, includesShared else { return [attributes] }
            return [attributes, attributes.merging(["client": ""]) { $1 }]
        }
    }

    /// Whether the query leaves out kinds or clients, so that narrow searches find less.
    var isSelective: Bool { clientID != nil || kinds.count < CredentialKind.allCases.count }

    /// Whether a record matches the query.
    package func matches(_ record: CredentialRecord) -> Bool {
        kind(of: record.itemKey) != nil
    }

    /// Returns the kind of an item that matches the query; nil if it doesn't match.
    func kind(of attributes: [String: String]) -> CredentialKind? {
        guard let kind = attributes["kind"].flatMap(CredentialKind.init), kinds.contains(kind),
            environments.isEmpty || environments.contains(where: { $0.lowercased() == attributes["environment"] }),
            // An application's token has no account, so it matches no query for one.
            Self.agree(homeAccountID?.lowercased(), attributes["home-account"], orEmpty: kind == .appMetadata),
            Self.agree(clientID?.clientKey, attributes["client"], orEmpty: includesShared),
            Self.agree(realm?.lowercased(), attributes["realm"], orEmpty: true)
        else { return nil }
        return kind
    }

    private static func agree(_ wanted: String?, _ attribute: String?, orEmpty: Bool) -> Bool {
        guard let wanted, let attribute else { return wanted == nil }
        return wanted == attribute || (orEmpty && attribute.isEmpty)
    }
}
