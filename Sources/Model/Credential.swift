internal import Addresses
public import Secrets

/// What there is for a request.
public struct Credential: Sendable, Equatable {
    /// The kind of secret.
    public enum Kind: Sendable, Equatable {
        /// An access token, or what one was exchanged for, which the engine keeps itself (RFC 6750).
        case accessToken
        /// A user's password, or a certificate's passphrase.
        case password
        /// The part of an `Authorization` header after the scheme; the whole header if the scheme is empty.
        case authorization(scheme: String)
    }

    /// The kind of secret.
    public var kind: Kind
    /// The token, password or authorization.
    public var secret: Secret
    /// The user name that goes with the secret; nil if there is none.
    public var username: String?
    /// The expiry, in seconds since 1970; nil if it never expires or the expiry isn't known.
    public var expiresOn: Int?
    /// The time from which it is renewed ahead of time, while it is still handed out, in seconds since 1970; nil for
    /// never.
    public var dueOn: Int?
    /// The user name that servers require if the token is sent as a password; nil if any will do.
    public var basicUsername: String?
    /// Whether servers also accept a bearer token (RFC 6750).
    public var takesBearer = true
    /// The tenant that a token is for; nil if it isn't for one.
    public var realm: String?
    /// The named parts of a credential that has several; if the secret is empty, only requests that accept parts get
    /// it.
    public var fields: [String: Secret] = [:]
    /// Another helper's refresh token, which is stored and returned along with the password.
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
