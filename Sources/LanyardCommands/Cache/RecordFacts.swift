import JSON
import Secrets
import TokenStore

/// The public facts of a stored record: everything but its secret.
struct RecordFacts {
    let kind: CredentialKind
    let environment: String
    let homeAccountID: String
    var username = ""
    let clientID: String
    var tenant = ""
    var scopes: [String] = []
    var family: String?
    var tokenType: String?
    var storedOn: Int?
    var expiresOn: Int?
    var usableUntil: Int?
    /// The host that accepts an exchanged token.
    var audience: String?
    /// Whether it is a token without a known expiry.
    var isEndless = false

    /// Creates the facts of a record; `usernames` are by lower-case home account ID.
    init(_ record: CredentialRecord, usernames: [String: String]) {
        kind = record.kind
        environment = record.environment
        homeAccountID = record.homeAccountID ?? ""
        clientID = record.clientID ?? ""
        switch record {
        case .accessToken(let token):
            (tenant, scopes, tokenType) = (token.realm, token.scopes, token.tokenType)
            (storedOn, expiresOn) = (token.cachedAt, token.expiresOn)
            usableUntil = max(token.expiresOn ?? 0, token.extendedExpiresOn ?? 0)
            isEndless = token.expiresOn == nil
        case .refreshToken(let token): (family, storedOn) = (token.familyID, token.lastModificationTime)
        case .idToken(let token): tenant = token.realm
        case .account(let account): (username, tenant) = (account.username, account.realm)
        case .appMetadata(let metadata): family = metadata.familyID
        case .exchanged(let result):
            (tenant, scopes, audience) = (result.realm, result.scopes, result.audience)
            (storedOn, expiresOn, usableUntil) = (result.cachedAt, result.expiresOn, result.expiresOn)
            isEndless = result.expiresOn == nil
        }
        if username.isEmpty { username = usernames[home] ?? "" }
    }

    /// Returns the facts of records, with the user names of their accounts.
    static func all(_ records: [CredentialRecord]) -> [RecordFacts] {
        var usernames: [String: String] = [:]
        for case .account(let account) in records where !account.username.isEmpty {
            usernames[account.homeAccountID.lowercased()] = account.username
        }
        return records.map { RecordFacts($0, usernames: usernames) }
    }

    /// The home account ID in lower case, by which records belong together.
    var home: String { homeAccountID.lowercased() }

    /// The owner of the record, fit to show; nil for a client's metadata.
    ///
    /// Without an account, it belongs to an application.
    var whose: String? {
        guard kind != .appMetadata else { return nil }
        let owner = username.isEmpty ? homeAccountID : username
        return owner.isEmpty ? "(applications)" : owner.displayable(limit: 200)
    }

    /// The type of the record, for people.
    var what: String {
        switch kind {
        case .accessToken, .accessTokenWithScheme: "access token"
        case .refreshToken: "refresh token"
        case .idToken: "ID token"
        case .account: "account"
        case .appMetadata: "client"
        case .exchanged: "exchanged"
        }
    }

    /// Returns the facts as JSON, without those that don't apply.
    func json(now: Int) -> JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(kind.rawValue), "environment": .string(environment),
        ]
        let texts = [
            "homeAccountId": homeAccountID, "username": username, "clientId": clientID, "tenant": tenant,
            "family": family ?? "", "tokenType": tokenType ?? "", "audience": audience ?? "",
        ]
        for (name, text) in texts where !text.isEmpty { members[name] = .string(text) }
        if tokenType != nil || audience != nil { members["scopes"] = JSONValue(strings: scopes) }
        if let storedOn { members["storedOn"] = .integer(Int64(storedOn)) }
        if let expiresOn {
            members["expiresOn"] = .integer(Int64(expiresOn))
            members["expired"] = .bool(expiresOn <= now)
        }
        return .object(members)
    }
}
