/// The keys MSAL files a record under: in the unified JSON cache and in a keychain.
///
/// Keys are lower-case, values are not. A record is found by its fields, never by its key: caches in the wild hold
/// entries under keys that other versions composed differently.
public struct CredentialKey: Sendable, Equatable {
    /// The key in the unified JSON, as MSAL for Python composes it; of a family's refresh token as .NET and Go do.
    ///
    /// They put the family in the client's place, so that a client's own token and its family's are two entries.
    public var unified: String
    /// The keychain's `kSecAttrAccount`.
    public var account: String
    /// The keychain's `kSecAttrService`.
    public var service: String
    /// The keychain's `kSecAttrGeneric`; nil if MSAL sets none.
    public var generic: String?
    /// The keychain's `kSecAttrType`.
    public var type: Int?
}

extension CredentialKey {
    /// Composes the keys of a record.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - appID: the app that MSAL binds an access token to in a keychain; never set for records of this store.
    public init(_ record: CredentialRecord, appID: String? = nil) {
        switch record {
        case .accessToken(let token): self.init(accessToken: token, kind: record.kind, appID: appID)
        case .refreshToken(let token): self.init(refreshToken: token)
        case .idToken(let token): self.init(idToken: token)
        case .account(let account): self.init(account: account)
        case .appMetadata(let metadata): self.init(appMetadata: metadata)
        case .exchanged(let result): self.init(exchanged: result)
        }
    }

    private init(accessToken token: AccessTokenRecord, kind: CredentialKind, appID: String?) {
        let scheme = token.isBearer ? [] : [token.tokenType]
        let generic = [kind.rawValue, token.clientID, token.realm] + (appID.map { [$0] } ?? [])
        self.init(
            unified: Self.key(
                [token.homeAccountID, token.environment, "accesstoken", token.clientID, token.realm, token.target]
                    + scheme),
            account: Self.key([token.homeAccountID, token.environment]),
            service: Self.key(generic + [token.target] + scheme), generic: Self.key(generic),
            type: token.isBearer ? 2001 : 2007)
    }

    private init(refreshToken token: RefreshTokenRecord) {
        let owner = token.familyID ?? token.clientID
        self.init(
            unified: Self.key(
                [token.homeAccountID, token.environment, "refreshtoken", owner, "", token.target]),
            account: Self.key([token.homeAccountID, token.environment]),
            service: Self.key(["refreshtoken", owner, "", ""]), generic: Self.key(["refreshtoken", owner, ""]),
            type: 2002)
    }

    private init(idToken token: IDTokenRecord) {
        let generic = ["idtoken", token.clientID, token.realm]
        self.init(
            unified: Self.key([token.homeAccountID, token.environment] + generic + [""]),
            account: Self.key([token.homeAccountID, token.environment]), service: Self.key(generic + [""]),
            generic: Self.key(generic), type: 2003)
    }

    private init(account: AccountRecord) {
        let types = ["aad": 1001, "msa": 1002, "mssts": 1003, "adfs": 1004]
        self.init(
            unified: Self.key([account.homeAccountID, account.environment, account.realm]),
            account: Self.key([account.homeAccountID, account.environment]), service: account.realm.lowercased(),
            generic: account.username.lowercased(), type: types[account.authorityType.lowercased()])
    }

    private init(appMetadata metadata: AppMetadataRecord) {
        self.init(
            unified: Self.key(["appmetadata", metadata.environment, metadata.clientID]),
            account: metadata.environment.lowercased(), service: Self.key(["appmetadata", metadata.clientID]),
            generic: metadata.familyID?.lowercased(), type: 3001)
    }

    /// Keys in MSAL's manner, for what it doesn't have.
    private init(exchanged result: ExchangedRecord) {
        let generic = ["exchanged", result.clientID, result.realm]
        self.init(
            unified: Self.key(
                [result.homeAccountID, result.environment] + generic + [result.exchange, result.audience, result.path]),
            account: Self.key([result.homeAccountID, result.environment]),
            service: Self.key(generic + [result.exchange, result.audience]), generic: Self.key(generic))
    }

    private static func key(_ parts: [String]) -> String {
        parts.joined(separator: "-").lowercased()
    }
}
