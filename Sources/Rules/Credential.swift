internal import Addresses
public import Secrets

/// What there is for a request.
public struct Credential: Sendable, Equatable {
    /// What sort of secret it is.
    public enum Kind: Sendable, Equatable {
        /// An access token, or what one was exchanged for, which the engine keeps itself (RFC 6750).
        case accessToken
        /// A user's password, or a certificate's passphrase.
        case password
        /// What follows the scheme in an `Authorization` header; all of it if the scheme is empty.
        case authorization(scheme: String)
    }

    /// What sort of secret it is.
    public var kind: Kind
    /// The token, password or authorization.
    public var secret: Secret
    /// Whose it is; nil if it has no user name.
    public var username: String?
    /// When it ends, in seconds since 1970; nil for never, or if that isn't known.
    public var expiresOn: Int?
    /// From when on it is renewed ahead of time though it is handed out, in seconds since 1970; nil for never.
    public var dueOn: Int?
    /// The only user name that servers take a token with as a password; nil if any will do.
    public var basicUsername: String?
    /// Whether servers take a token as such, too (RFC 6750).
    public var takesBearer = true
    /// The tenant that a token is for; nil if it is for none.
    public var realm: String?
    /// The parts of a credential that has several, by name; only requests that take them get one with an empty secret.
    public var fields: [String: Secret] = [:]
    /// A refresh token of another helper's, which is carried with a password.
    public var oauthRefreshToken: Secret?

    /// Makes a credential.
    public init(
        _ kind: Kind, _ secret: Secret, username: String?, expiresOn: Int? = nil, oauthRefreshToken: Secret? = nil
    ) {
        self.kind = kind
        self.secret = secret
        self.username = username
        self.expiresOn = expiresOn
        self.oauthRefreshToken = oauthRefreshToken
    }
}

extension Attributes {
    /// Adds the parts of a credential that has several, a line each.
    package mutating func append(fields: [String: Secret]) throws(ProtocolError) {
        for (name, value) in fields { try append("field[]", "\(name)=\(value.reveal())") }
    }

    /// The parts of a credential that has several; nil if one has no name.
    package var fields: [String: Secret]? {
        var fields: [String: Secret] = [:]
        for line in list("field[]") {
            guard let (name, value) = line.cut(at: "=") else { return nil }
            fields[String(name)] = Secret(String(value))
        }
        return fields
    }
}
