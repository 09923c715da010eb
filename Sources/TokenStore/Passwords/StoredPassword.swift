public import Addresses
public import Secrets

/// Whose password git asks for, stores or erases (git-credential(1)).
public struct PasswordQuery: Sendable, Equatable {
    /// The URL's scheme.
    public var scheme: String
    /// The URL's host, with `:port` if git gives one; `[…]` around an IPv6 address.
    ///
    /// It is empty for a certificate's passphrase only, which is found by the path.
    public var host: String
    /// The URL's path without its first `/`; nil if git does not say it.
    public var path: String?
    /// The user name; nil for anyone's, "" for the empty name.
    public var username: String?
    /// Erase only: only the item whose password this is.
    public var password: Secret?
    /// Erase only: only the item whose credential this is.
    public var credential: Secret?
    /// Whether the caller understands `authtype` and `credential`; without, only passwords are found.
    public var acceptsAuthtype = false
    /// Store only: what a new item is called, nil for git's way; erase only: what the items' labels begin with.
    public var label: String?
    /// Read only: where else a password may be.
    public var reach = PathReach.place

    /// Makes a query.
    public init(scheme: String, host: String, path: String? = nil, username: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.path = path
        self.username = username
    }
}

/// What is kept for a user of a host: a password, or the credential of another HTTP scheme.
public struct StoredPassword: Sendable, Equatable {
    /// What git proves itself with.
    public enum Proof: Sendable, Equatable {
        /// A user's password; both may be empty.
        case password(Secret)
        /// What follows `Authorization:`, as git's `authtype` and `credential` (2.46).
        case authorization(type: String, credential: Secret)
    }

    /// The user name; nil if an authorization was stored without.
    public var username: String?
    /// The password or authorization.
    public var proof: Proof
    /// When it stops being valid, in seconds since 1970 (`password_expiry_utc`).
    public var expiresOn: Int?
    /// git's `oauth_refresh_token`, which git only carries.
    public var oauthRefreshToken: Secret?

    /// Makes a stored password.
    public init(username: String?, proof: Proof, expiresOn: Int? = nil, oauthRefreshToken: Secret? = nil) {
        self.username = username
        self.proof = proof
        self.expiresOn = expiresOn
        self.oauthRefreshToken = oauthRefreshToken
    }

    /// By bytes: names that Unicode calls equivalent are different users' to git.
    public static func == (one: StoredPassword, other: StoredPassword) -> Bool {
        one.username.map { Array($0.utf8) } == other.username.map { Array($0.utf8) } && one.proof == other.proof
            && one.expiresOn == other.expiresOn && one.oauthRefreshToken == other.oauthRefreshToken
    }
}
