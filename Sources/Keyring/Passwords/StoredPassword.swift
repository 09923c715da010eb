public import Addresses
internal import AnswerCache
public import Secrets

/// The place and user of a password that git requests, stores or erases (git-credential(1)).
public struct PasswordQuery: Sendable, Equatable {
    /// The URL's scheme.
    public var scheme: String
    /// The URL's host, with `:port` if git sends one; an IPv6 address is in brackets.
    ///
    /// It is empty only for a certificate's passphrase, which is found by its path.
    public var host: String
    /// The URL's path without its first `/`; nil if git doesn't send it.
    public var path: String?
    /// The user name; nil for any user, "" for the empty name.
    public var username: String?
    /// For erasing only: the password that an item must hold.
    public var password: Secret?
    /// For erasing only: the credential that an item must hold.
    public var credential: Secret?
    /// Whether the caller understands `authtype` and `credential`; if not, only passwords are found.
    public var acceptsAuthtype = false
    /// Whether the caller understands passwords with a line feed; if not, only others are found, stored and erased.
    public var acceptsLines = false
    /// The label of a new item when storing, nil for git's own; the prefix of the items' labels when erasing.
    public var label: String?
    /// For reading only: the other places that may have the password.
    public var reach = PathReach.place

    /// Creates a query.
    public init(scheme: String, host: String, path: String? = nil, username: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.path = path
        self.username = username
    }
}

/// A stored password of a user at a host, or a credential of another HTTP scheme.
public struct StoredPassword: Sendable, Equatable {
    /// The secret that git presents.
    public enum Proof: Sendable, Equatable {
        /// A user's password; both may be empty.
        case password(Secret)
        /// The value of an `Authorization` header, as git's `authtype` and `credential` (2.46).
        case authorization(type: String, credential: Secret)
    }

    /// The user name; nil if an authorization was stored without one.
    public var username: String?
    /// The password or authorization.
    public var proof: Proof
    /// The expiry, in seconds since 1970 (`password_expiry_utc`).
    public var expiresOn: Int?
    /// git's `oauth_refresh_token`, which git only passes along.
    public var oauthRefreshToken: Secret?
    /// The path of the place that it was found at; empty for the host itself.
    public internal(set) var path = ""

    /// Creates a stored password.
    public init(username: String?, proof: Proof, expiresOn: Int? = nil, oauthRefreshToken: Secret? = nil) {
        self.username = username
        self.proof = proof
        self.expiresOn = expiresOn
        self.oauthRefreshToken = oauthRefreshToken
    }

    /// Whether it can't be in git's schema, where each line has a meaning.
    var hasLines: Bool {
        guard case .password(let secret) = proof else { return false }
        return secret.reveal().utf8.contains(UInt8(ascii: "\n"))
    }

    /// The fingerprints of everything in it that may be a token; some servers take one as the user name.
    public var fingerprints: Set<String> {
        switch proof {
        case .password(let secret), .authorization(_, let secret):
            secret.fingerprints.union([username].compactMap { $0.map { Secret($0).fingerprint } })
        }
    }

    /// Compares what is stored, by bytes: to git, names that Unicode considers equivalent are different users.
    public static func == (one: StoredPassword, other: StoredPassword) -> Bool {
        one.username.map { Array($0.utf8) } == other.username.map { Array($0.utf8) } && one.proof == other.proof
            && one.expiresOn == other.expiresOn && one.oauthRefreshToken == other.oauthRefreshToken
    }

    /// Parses the secret of a user's item; nil if it isn't UTF-8.
    ///
    /// Unknown lines are ignored.
    init?(itemSecret bytes: [UInt8], username: String?) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.pieces(between: "\n", omittingEmpty: false).map(String.init)
        self.init(username: username, proof: .password(Secret(lines[0])))
        for line in lines.dropFirst() {
            if let value = line.value(of: "password_expiry_utc=") { expiresOn = Int(value) }
            if let value = line.value(of: "oauth_refresh_token=") { oauthRefreshToken = Secret(value) }
        }
        // git writes 0 for never.
        if expiresOn == 0 { expiresOn = nil }
    }

    /// The secret of an item with this password; nil if a line feed in a part would make it read as several lines.
    func itemSecret(_ password: Secret) -> [UInt8]? {
        var lines = [password.reveal()]
        if let expiresOn { lines.append("password_expiry_utc=\(expiresOn)") }
        if let oauthRefreshToken { lines.append("oauth_refresh_token=\(oauthRefreshToken.reveal())") }
        guard !lines.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) else { return nil }
        return Array(lines.joined(separator: "\n").utf8)
    }
}

// The secret of a password item: the password, then `key=value` lines, as git-credential-libsecret writes it. The lines
// aren't attributes because attributes are neither secret nor meant to change.

extension String {
    fileprivate func value(of prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
