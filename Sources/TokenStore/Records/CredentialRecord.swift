package import JSON
internal import Secrets

/// What every record does: it reads the members of the unified cache's JSON and writes them.
protocol MSALRecord: Sendable, Equatable {
    /// Reads the members; nil if one that the record can't do without is missing.
    ///
    /// Lenient: a number may be a string and a string a number. Members it does not know are kept.
    init?(members: [String: JSONValue])

    /// The members, as MSAL names them; times are decimal strings.
    var members: [String: JSONValue] { get }
}

/// One stored item: a token, an account or what is known of a client.
public enum CredentialRecord: Sendable, Equatable {
    case accessToken(AccessTokenRecord)
    case refreshToken(RefreshTokenRecord)
    case idToken(IDTokenRecord)
    case account(AccountRecord)
    /// A client's metadata.
    case appMetadata(AppMetadataRecord)
    /// What a token was exchanged for.
    case exchanged(ExchangedRecord)
}

extension CredentialRecord {
    /// Reads a record of the unified cache's JSON; nil if it is not one of that kind.
    ///
    /// - Parameters:
    ///   - kind: what it is meant to be.
    ///   - json: one JSON object.
    public init?(kind: CredentialKind, json: some Sequence<UInt8>) {
        guard let members = JSONValue(bytes: json)?.members else { return nil }
        self.init(kind: kind, members: members)
    }

    /// Reads a record of the unified cache's JSON that tells itself what it is; nil if it does not.
    init?(json: some Sequence<UInt8>) {
        guard let members = JSONValue(bytes: json)?.members, let kind = CredentialKind(of: members) else { return nil }
        self.init(kind: kind, members: members)
    }

    /// Reads a record of a decoded JSON object; nil if it is not one of that kind.
    package init?(kind: CredentialKind, members: [String: JSONValue]) {
        let record: CredentialRecord? =
            switch kind {
            case .accessToken, .accessTokenWithScheme: AccessTokenRecord(members: members).map(Self.accessToken)
            case .refreshToken: RefreshTokenRecord(members: members).map(Self.refreshToken)
            case .idToken: IDTokenRecord(members: members).map(Self.idToken)
            case .account: AccountRecord(members: members).map(Self.account)
            case .appMetadata: AppMetadataRecord(members: members).map(Self.appMetadata)
            case .exchanged: ExchangedRecord(members: members).map(Self.exchanged)
            }
        guard let record else { return nil }
        self = record
    }

    /// What the record is.
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

    /// The record as the unified cache's JSON, secrets included.
    public var json: [UInt8] { JSONValue.object(members).encoded() }

    /// The record's members as the unified cache names them, secrets included.
    package var members: [String: JSONValue] {
        switch self {
        case .accessToken(let record): record.members
        case .refreshToken(let record): record.members
        case .idToken(let record): record.members
        case .account(let record): record.members
        case .appMetadata(let record): record.members
        case .exchanged(let record): record.members
        }
    }
}

extension CredentialRecord {
    /// The authority's host that the record is kept under.
    package var environment: String {
        get {
            switch self {
            case .accessToken(let record): record.environment
            case .refreshToken(let record): record.environment
            case .idToken(let record): record.environment
            case .account(let record): record.environment
            case .appMetadata(let record): record.environment
            case .exchanged(let record): record.environment
            }
        }
        set {
            switch self {
            case .accessToken(var record):
                record.environment = newValue
                self = .accessToken(record)
            case .refreshToken(var record):
                record.environment = newValue
                self = .refreshToken(record)
            case .idToken(var record):
                record.environment = newValue
                self = .idToken(record)
            case .account(var record):
                record.environment = newValue
                self = .account(record)
            case .appMetadata(var record):
                record.environment = newValue
                self = .appMetadata(record)
            case .exchanged(var record):
                record.environment = newValue
                self = .exchanged(record)
            }
        }
    }

    /// Whose record it is; nil for an application's.
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

    /// What it is stored under: of two records with equal keys, one is stored in the other's place.
    package var itemKey: [String: String] { ItemAttributes(self, group: "").dictionary }

    /// Whether one would be stored in the other's place.
    package func isSameItem(as other: CredentialRecord) -> Bool { itemKey == other.itemKey }

    /// The token that the record keeps; nil for an account and an application's metadata.
    var token: Secret? {
        switch self {
        case .accessToken(let record): record.secret
        case .refreshToken(let record): record.secret
        case .idToken(let record): record.secret
        case .exchanged(let record): record.whole
        case .account, .appMetadata: nil
        }
    }

    /// Whose application's record it is; nil for an account.
    package var clientID: String? {
        switch self {
        case .accessToken(let record): record.clientID
        case .refreshToken(let record): record.clientID
        case .idToken(let record): record.clientID
        case .appMetadata(let record): record.clientID
        case .exchanged(let record): record.clientID
        case .account: nil
        }
    }
}

extension CredentialKind {
    /// What an object of the unified cache is; nil if it does not tell.
    ///
    /// Credentials name their type; accounts and clients' metadata have members that only they have.
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
