public import Secrets
public import TokenStore

/// A token fit to be handed out.
public struct AcquiredToken: Sendable, Equatable {
    /// Where the token came from.
    public enum Source: String, Sendable {
        /// It was stored.
        case cache
        /// A refresh token was redeemed.
        case renewed
        /// Another program of the machine gave it, by the sign-in that it holds.
        case broker
        /// An application or a machine signed in by itself.
        case authenticated
        /// The person signed in.
        case signedIn = "signed-in"
    }

    /// What the resource takes.
    public var accessToken: Secret
    /// RFC 6749, 7.1.
    public var tokenType: String
    /// When it ends, in seconds since 1970; nil if it lives until it is revoked.
    public var expiresOn: Int?
    /// When the authority wants it renewed though it still lives, in seconds since 1970.
    public var refreshOn: Int?
    /// From when on it is renewed ahead of time though it is handed out, in seconds since 1970; nil for never.
    public var dueOn: Int?
    /// The scopes it is good for.
    public var scopes: [String]
    /// The tenant it is for.
    public var realm: String
    /// Whose it is; nil for an application's.
    public var account: AccountRecord?
    /// The user name that it goes with as a password; nil if any will do.
    public var basicUsername: String?
    /// The parts of a credential that has several; only what a token was exchanged for has them.
    public var fields: [String: Secret] = [:]
    /// Whether it is what a token was exchanged for, and no token itself.
    public var isExchanged = false
    /// Where it came from.
    public var source: Source

    init(_ record: AccessTokenRecord, account: AccountRecord?, source: Source) {
        accessToken = record.secret
        tokenType = record.tokenType
        expiresOn = record.expiresOn
        refreshOn = record.refreshOn
        scopes = record.scopes
        realm = record.realm
        basicUsername = record.basicUsername
        self.account = account
        self.source = source
    }
}

extension AcquiredToken {
    /// A token that an agent elsewhere gave, or what it exchanged one for if that goes with a user name as a password.
    public init(forwarded token: Secret, expiresOn: Int?, realm: String, basicUsername: String?) {
        accessToken = token
        tokenType = "Bearer"
        self.expiresOn = expiresOn
        scopes = []
        self.realm = realm
        self.basicUsername = basicUsername
        isExchanged = basicUsername != nil
        source = .cache
    }

    /// What a token was exchanged for; one that consists of fields alone has an empty token.
    init(_ record: ExchangedRecord, account: AccountRecord?, source: Source) {
        accessToken = record.secret ?? Secret("")
        tokenType = "Basic"
        expiresOn = record.expiresOn
        refreshOn = record.refreshOn
        scopes = record.scopes
        realm = record.realm
        basicUsername = record.username?.reveal()
        fields = record.fields
        isExchanged = true
        self.account = account
        self.source = source
    }
}

extension AcquiredToken {
    /// Until when it may be handed out without another look at the store, in seconds since 1970.
    ///
    /// A token without a known end is looked up again each day, so that what became of it elsewhere is noticed.
    public func freshUntil(now: Int) -> Int {
        let end = expiresOn.map { $0 - SilentSelection.expiryBuffer } ?? now + Self.longestTrust
        return dueOn == nil ? min(end, refreshOn ?? .max) : end
    }

    /// Seconds for which an answer with a token that has no known end is given without looking.
    private static let longestTrust = 86_400
}
