public import Keyring
import PluginWire
public import Secrets

/// A token that can be handed out.
public struct AcquiredToken: Sendable, Equatable {
    /// The origins of a token.
    public enum Source: String, Sendable {
        /// The store.
        case cache
        /// A refresh token, which was redeemed.
        case renewed
        /// Another program on this machine, which holds the sign-in.
        case broker
        /// A source outside lanyard, where it was looked up.
        case source
        /// A sign-in of an application or a machine.
        case authenticated
        /// A sign-in of the user.
        case signedIn = "signed-in"
    }

    /// The token that the resource accepts.
    public var accessToken: Secret
    /// The token's type (RFC 6749, 7.1).
    public var tokenType: String
    /// The expiry, in seconds since 1970; nil if it is valid until it is revoked.
    public var expiresOn: Int?
    /// The time from which the authority wants it renewed although it is still valid, in seconds since 1970.
    public var refreshOn: Int?
    /// The time from which it is renewed ahead of time, while it is still handed out, in seconds since 1970; nil for
    /// never.
    public var dueOn: Int?
    /// The scopes that it grants.
    public var scopes: [String]
    /// The tenant that it is for.
    public var realm: String
    /// The account that it belongs to; nil if it is an application's.
    public var account: AccountRecord?
    /// The user name that servers require if the token is sent as a password; nil if any will do.
    public var basicUsername: String?
    /// The named parts of a credential that has several; only the result of an exchange has them.
    public var fields: [String: Secret] = [:]
    /// Whether it is the result of an exchange rather than a token.
    public var isExchanged = false
    /// Seconds for which what was looked up may be handed out again; nil to keep nothing.
    public var keepFor: Int?
    /// The token's origin.
    public var source: Source
    /// The plugin that it came from, which alone may exchange it; nil for one that ships with lanyard.
    var plugin: String?

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
        plugin = record.plugin
    }
}

extension AcquiredToken {
    /// Creates a token that a remote agent returned, or the result of its exchange if that is a password with a user
    /// name.
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

    /// Creates the token from the result of an exchange; a result that has only fields gets an empty token.
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

    /// Creates the token, or password, that was looked up.
    init(_ credential: PluginCredential, now: Int) {
        accessToken = credential.secret ?? Secret("")
        tokenType = credential.username == nil ? "Bearer" : "Basic"
        expiresOn = credential.expiresIn.map { now + $0 }
        scopes = []
        realm = ""
        basicUsername = credential.username?.reveal()
        fields = Dictionary(credential.fields.map { ($0.name, $0.value) }) { $1 }
        isExchanged = true
        keepFor = credential.keepFor
        source = .source
    }

    /// Returns the time until which it may be handed out without reading the store again, in seconds since 1970.
    ///
    /// A token without a known expiry is looked up again every day, so that changes elsewhere are noticed.
    public func freshUntil(now: Int) -> Int {
        if source == .source { return min(now + (keepFor ?? 0), expiresOn ?? .max) }
        let end = expiresOn.map { $0 - SilentSelection.expiryBuffer } ?? now + Self.longestTrust
        return dueOn == nil ? min(end, refreshOn ?? .max) : end
    }

    /// Seconds after which a token without a known expiry is looked up in the store again.
    private static let longestTrust = 86_400
}
