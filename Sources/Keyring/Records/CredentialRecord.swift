import Addresses
package import JSON
package import Secrets

/// A record that can be read from and written to the JSON of the unified cache.
protocol MSALRecord: Sendable, Equatable {
    /// The authority's host that it is kept under.
    var environment: String { get set }
    /// Whose application's record it is; "" for an account.
    var clientID: String { get }
    /// The realm that it is for; "" if it is for all, as a refresh token is.
    var realm: String { get }
    /// The record among the others.
    var record: CredentialRecord { get }
    /// Unknown members, kept when the record is written back.
    var other: [String: JSONValue] { get set }

    /// Creates an empty record.
    init()

    /// Lists the fields and the members with MSAL's names that they stand for, to read or to write them.
    mutating func list(_ members: inout Members)
}

extension MSALRecord {
    /// Reads the members; nil if a required one is missing.
    ///
    /// Reading is lenient: a number may be a string and a string a number.
    init?(members: [String: JSONValue]) {
        self.init()
        var members = Members(of: members)
        list(&members)
        guard !members.isIncomplete else { return nil }
        other = members.rest
    }

    /// The members with MSAL's names.
    var members: [String: JSONValue] {
        var (record, members) = (self, Members(beside: other))
        record.list(&members)
        return members.rest
    }

    var clientID: String { "" }
    var realm: String { "" }
}

/// One stored item: a token, an account or a client's metadata.
public enum CredentialRecord: Sendable, Equatable {
    case accessToken(AccessTokenRecord)
    case refreshToken(RefreshTokenRecord)
    case idToken(IDTokenRecord)
    case account(AccountRecord)
    /// A client's metadata.
    case appMetadata(AppMetadataRecord)
    /// The result of exchanging a token.
    case exchanged(ExchangedRecord)

    /// Its texts, by what may stand in them: tokens, scopes and paths, names that programs compare, and names for users.
    package var texts: (tokens: [String], targets: [String], names: [String], titles: [String]) {
        let owner = [homeAccountID, environment, clientID, realm].compactMap(\.self)
        return switch self {
        case .accessToken(let token): ([token.secret.reveal()], [token.target], owner + [token.tokenType], [])
        case .refreshToken(let token): ([token.secret.reveal()], [token.target], owner + [token.familyID ?? ""], [])
        case .idToken(let token): ([token.secret.reveal()], [], owner, [])
        case .account(let account):
            (
                [], [], owner + [account.policy ?? "", account.authority ?? ""] + account.homeRealms,
                [account.username, account.name ?? "", account.kind ?? ""]
            )
        case .exchanged(let result):
            // The secret may be any text on one line, but the record must name a place.
            (
                [], [result.target, result.path], owner + [result.exchange, result.audience] + result.fields.keys,
                ([result.username, result.secret].compactMap(\.self) + result.fields.values).map { $0.reveal() }
            )
        case .appMetadata(let metadata): ([], [], owner + [metadata.familyID ?? ""], [])
        }
    }

    /// Whether its texts contain only the allowed characters, because tools and plugins receive them as lines.
    ///
    /// Tokens and names are visible ASCII (RFC 6749, appendix A), scopes may also contain spaces, and display names and
    /// user names must not contain control characters.
    package var isPlain: Bool {
        let texts = texts
        return texts.tokens.allSatisfy(Self.isVisible) && texts.targets.allSatisfy(Self.isSpaced)
            && texts.names.allSatisfy(Self.isVisible) && texts.titles.allSatisfy(Self.isDisplayName)
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy(\.isVisibleASCII) }

    private static func isSpaced(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    private static func isDisplayName(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// The key it is filed under in the unified JSON, as MSAL for Python composes it; a family's refresh token as .NET and Go do.
    ///
    /// They put the family in the client's place, so that a client's own token and its family's are two entries. A record is found
    /// by its fields, never by its key: caches in the wild hold entries under keys that other versions composed differently.
    package var unifiedKey: String {
        let owner = [homeAccountID ?? "", environment]
        let parts: [String] =
            switch self {
            case .accessToken(let token):
                owner + ["accesstoken", token.clientID, token.realm, token.target]
                    + (token.isBearer ? [] : [token.tokenType])
            case .refreshToken(let token):
                owner + ["refreshtoken", token.familyID ?? token.clientID, "", token.target]
            case .idToken(let token): owner + ["idtoken", token.clientID, token.realm, ""]
            case .account(let account): owner + [account.realm]
            case .appMetadata(let metadata): ["appmetadata", metadata.environment, metadata.clientID]
            // MSAL has no such thing.
            case .exchanged(let result):
                owner + ["exchanged", result.clientID, result.realm, result.exchange, result.audience, result.path]
            }
        return parts.joined(separator: "-").lowercased()
    }
}

extension CredentialRecord {
    /// Parses a record of the unified cache's JSON; nil if it isn't one of this kind.
    ///
    /// - Parameters:
    ///   - kind: The expected kind.
    ///   - json: One JSON object.
    public init?(kind: CredentialKind, json: some Sequence<UInt8>) {
        guard let members = JSONValue(bytes: json)?.members else { return nil }
        self.init(kind: kind, members: members)
    }

    /// Parses a record of the unified cache's JSON that states its own kind; nil if it doesn't.
    init?(json: some Sequence<UInt8>) {
        guard let members = JSONValue(bytes: json)?.members, let kind = CredentialKind(of: members) else { return nil }
        self.init(kind: kind, members: members)
    }

    /// Reads a record from a decoded JSON object; nil if it isn't one of this kind.
    package init?(kind: CredentialKind, members: [String: JSONValue]) {
        let type: any MSALRecord.Type =
            switch kind {
            case .accessToken, .accessTokenWithScheme: AccessTokenRecord.self
            case .refreshToken: RefreshTokenRecord.self
            case .idToken: IDTokenRecord.self
            case .account: AccountRecord.self
            case .appMetadata: AppMetadataRecord.self
            case .exchanged: ExchangedRecord.self
            }
        guard let record = type.init(members: members)?.record else { return nil }
        self = record
    }

    /// The plugin that it came from; nil for one that ships with lanyard, and of kinds that no plugin ever gets.
    public var plugin: String? {
        get {
            switch self {
            case .accessToken(let token): token.plugin
            case .refreshToken(let token): token.plugin
            case .idToken(let token): token.plugin
            case .account(let account): account.plugin
            case .appMetadata, .exchanged: nil
            }
        }
        set {
            switch self {
            case .accessToken(var token):
                token.plugin = newValue
                self = .accessToken(token)
            case .refreshToken(var token):
                token.plugin = newValue
                self = .refreshToken(token)
            case .idToken(var token):
                token.plugin = newValue
                self = .idToken(token)
            case .account(var account):
                account.plugin = newValue
                self = .account(account)
            case .appMetadata, .exchanged: break
            }
        }
    }

    /// The kind of the record.
    public var kind: CredentialKind {
        switch self {
        case .accessToken(let token): token.isBearer ? .accessToken : .accessTokenWithScheme
        case .refreshToken: .refreshToken
        case .idToken: .idToken
        case .account: .account
        case .appMetadata: .appMetadata
        case .exchanged: .exchanged
        }
    }

    /// The record as the unified cache's JSON, including secrets.
    public var json: [UInt8] { JSONValue.object(members).encodedWithLongEscapes() }

    /// The record's members with the unified cache's names, including secrets.
    package var members: [String: JSONValue] { fields.members }

    private var fields: any MSALRecord {
        switch self {
        case .accessToken(let record): record
        case .refreshToken(let record): record
        case .idToken(let record): record
        case .account(let record): record
        case .appMetadata(let record): record
        case .exchanged(let record): record
        }
    }

    /// The authority's host that the record is stored under.
    package var environment: String {
        get { fields.environment }
        set {
            var moved = fields
            moved.environment = newValue
            self = moved.record
        }
    }

    /// The account that the record belongs to; nil for an application's token and a client's metadata.
    package var homeAccountID: String? {
        switch self {
        case .accessToken(let record): record.homeAccountID
        case .refreshToken(let record): record.homeAccountID
        case .idToken(let record): record.homeAccountID
        case .account(let record): record.homeAccountID
        case .exchanged(let record): record.homeAccountID
        case .appMetadata: nil
        }
    }

    /// The client that the record belongs to; nil for an account.
    package var clientID: String? { if case .account = self { nil } else { fields.clientID } }

    /// The realm that the record is for; nil if it is for all, like a refresh token.
    package var realm: String? { fields.realm.isEmpty ? nil : fields.realm }

    /// What it is stored under: of two records with equal keys, one is stored in the other's place.
    package var itemKey: [String: String] { ItemAttributes(self, group: "").dictionary }

    /// Whether one would replace the other in the store.
    package func isSameItem(as other: CredentialRecord) -> Bool { itemKey == other.itemKey }

    /// The token in the record; nil for an account and for a client's metadata.
    package var token: Secret? {
        switch self {
        case .accessToken(let record): record.secret
        case .refreshToken(let record): record.secret
        case .idToken(let record): record.secret
        case .exchanged(let record): record.whole
        case .account, .appMetadata: nil
        }
    }
}

/// The kind of a stored item; the raw value is the item's `kind` attribute, and MSAL's word in its keys.
public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
    /// A bearer access token.
    case accessToken = "accesstoken"
    /// An access token bound to another scheme, such as `pop`.
    case accessTokenWithScheme = "accesstoken_with_authscheme"
    /// A refresh token, of one client or of a family of clients.
    case refreshToken = "refreshtoken"
    /// An OpenID Connect ID token.
    case idToken = "idtoken"
    /// An account that signed in.
    case account = "account"
    /// The metadata of a client at an authority: its family.
    case appMetadata = "appmetadata"
    /// The result of exchanging a token, which MSAL doesn't have.
    case exchanged = "exchanged"

    /// Determines the kind of an object in the unified cache; nil if the object doesn't show it.
    ///
    /// Credentials state their type; accounts and clients' metadata have members that no other kind has.
    fileprivate init?(of members: [String: JSONValue]) {
        if let type = members["credential_type"]?.text {
            self.init(rawValue: type.lowercased())
        } else if members["secret"] != nil {
            return nil
        } else if members["home_account_id"] != nil, members["username"] != nil {
            self = .account
        } else if members["client_id"] != nil {
            self = .appMetadata
        } else {
            return nil
        }
    }
}
