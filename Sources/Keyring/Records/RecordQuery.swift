internal import AnswerCache

/// A query for records to read or to delete.
///
/// A field that isn't set matches anything. Strings are compared like MSAL's keys, ignoring case, but for IDs of clients
/// that aren't UUIDs.
public struct RecordQuery: Sendable, Equatable {
    /// The kinds to match.
    public var kinds: Set<CredentialKind>
    /// The account to match; clients' metadata, which has no account, matches, too.
    public var homeAccountID: String?
    /// The environments to match, the aliases of one authority; empty for any.
    public var environments: [String]
    /// The client to match.
    public var clientID: String?
    /// Whether a query with a client also matches records that no single client owns: accounts and family refresh
    /// tokens.
    public var includesShared: Bool
    /// The realm to match; records without a realm (refresh tokens, metadata) match, too.
    public var realm: String?
    /// Whose client secret the same search is to find; nil if none is needed.
    public var secretOwner: ClientSecretStore.Owner?

    /// Creates a query that matches everything, unless it is restricted.
    public init(
        kinds: Set<CredentialKind> = Set(CredentialKind.allCases), homeAccountID: String? = nil,
        environments: [String] = [], clientID: String? = nil, includesShared: Bool = true, realm: String? = nil
    ) {
        self.kinds = kinds
        self.homeAccountID = homeAccountID
        self.environments = environments
        self.clientID = clientID
        self.includesShared = includesShared
        self.realm = realm
    }

    /// The query that matches every record of the group.
    public static var all: RecordQuery { RecordQuery() }

    /// The query that matches every token that tools may have been given, and every result of an exchange.
    static let tokens = RecordQuery(kinds: [.accessToken, .accessTokenWithScheme, .exchanged])
}

/// The records that a search found, by kind.
public struct StoredRecords: Sendable, Equatable {
    /// The access tokens, including those of other schemes than `Bearer`.
    public var accessTokens: [AccessTokenRecord] = []
    /// The refresh tokens.
    public var refreshTokens: [RefreshTokenRecord] = []
    /// The ID tokens.
    public var idTokens: [IDTokenRecord] = []
    /// The accounts.
    public var accounts: [AccountRecord] = []
    /// The metadata of clients.
    public var appMetadata: [AppMetadataRecord] = []
    /// The results of exchanges.
    public var exchanged: [ExchangedRecord] = []
    /// The secret of the query's client; nil if it has none, or none was asked for.
    public var clientSecret: ClientSecret?
    /// The reasons why matching items were skipped: one short text each, without secrets.
    public var unreadable: [String] = []
    /// Whether some of the skipped items hold no usable record; `deleteDamaged` removes these.
    public var hasDamaged = false
    /// The paths of the items that the records were read from.
    var paths: [String] = []

    /// Creates an empty result.
    public init() {}

    /// Whether nothing was found, readable or not.
    public var isEmpty: Bool { all.isEmpty && clientSecret == nil && unreadable.isEmpty }

    /// Every record, by kind.
    public var all: [CredentialRecord] {
        accessTokens.map(CredentialRecord.accessToken) + refreshTokens.map(CredentialRecord.refreshToken)
            + idTokens.map(CredentialRecord.idToken) + accounts.map(CredentialRecord.account)
            + appMetadata.map(CredentialRecord.appMetadata) + exchanged.map(CredentialRecord.exchanged)
    }

    /// Whether an access token, or the result of an exchange, has one of these fingerprints.
    package func hasToken(_ fingerprints: Set<String>) -> Bool {
        accessTokens.contains { fingerprints.contains($0.secret.fingerprint) }
            || exchanged.contains { !fingerprints.isDisjoint(with: $0.fingerprints) }
    }

    /// Adds a record that was read from an item.
    mutating func append(_ record: CredentialRecord, at path: String) {
        append(record)
        paths.append(path)
    }

    /// Adds a record to those of its kind.
    public mutating func append(_ record: CredentialRecord) {
        switch record {
        case .accessToken(let record): accessTokens.append(record)
        case .refreshToken(let record): refreshTokens.append(record)
        case .idToken(let record): idTokens.append(record)
        case .account(let record): accounts.append(record)
        case .appMetadata(let record): appMetadata.append(record)
        case .exchanged(let record): exchanged.append(record)
        }
    }
}
