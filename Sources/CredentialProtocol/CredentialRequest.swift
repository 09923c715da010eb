public import Addresses
public import Secrets

/// One request of a consumer: what git, or a script, wrote on stdin (git-credential(1), INPUT/OUTPUT FORMAT).
public struct CredentialRequest: Sendable, Equatable {
    /// The URL's scheme, lower-cased; nil where none was given.
    public var scheme: String?
    /// The URL's host and port; nil if none was given, or it is empty.
    public var host: RequestHost?
    /// The URL's path without its leading slash, with the query if there was one; nil unless git sends it.
    public var path: String?
    /// Who to be.
    public var username: String?
    /// The password, on `store` and `erase`.
    public var password: Secret?
    /// When the password ends, in seconds since 1970; nil for never, which 0 and what overflows mean too.
    public var passwordExpiry: Int64?
    /// A refresh token that another helper got; kept with the password and never looked into.
    public var oauthRefreshToken: Secret?
    /// The values of the server's `WWW-Authenticate` headers, in order.
    public var wwwAuthenticate: [String] = []
    /// What the consumer understands beyond a user name and a password.
    public var capabilities: Set<Capability> = []
    /// The scheme of `credential`, such as `Bearer`.
    public var authtype: String?
    /// What follows `authtype` in the `Authorization` header.
    public var credential: Secret?
    /// Whether the credential must not be kept.
    public var isEphemeral = false
    /// What helpers asked git to send back to them, each prefixed by its helper's name.
    public var state: [String] = []
    /// Whether git is in the middle of a several-stage exchange.
    public var isContinued = false
    /// What lanyard's own state begins with.
    static let statePrefix = "lanyard:"
    /// What lanyard understands beyond git's keys.
    public var wish = TokenWish()

    /// A capability of git's protocol (`capability[]`).
    public struct Capability: RawRepresentable, Sendable, Hashable {
        /// The name on the wire.
        public let rawValue: String
        /// Makes a capability of any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Bearer and other schemes, and ephemeral credentials (git 2.46).
        public static let authtype = Capability(rawValue: "authtype")
        /// State that git carries between calls (git 2.46).
        public static let state = Capability(rawValue: "state")
    }

    /// The extension keys: a token asked for by name.
    public struct TokenWish: Sendable, Equatable {
        /// `authority`: the authority's URL.
        public var authority: String?
        /// `client_id`.
        public var clientID: String?
        /// `scope[]`.
        public var scopes: [String] = []
        /// `account`: a user name or a home account id.
        public var account: String?
        /// `claims`: an OpenID Connect claims request.
        public var claims: String?
        /// `prompt`: OpenID Connect's.
        public var prompt: String?

        /// `login_hint`: who is likely to sign in.
        public var loginHint: String?
        /// `domain_hint`: the domain of who is likely to sign in.
        public var domainHint: String?
        /// `query_parameter[]`: further parameters of the sign-in page, each `NAME=VALUE`.
        public var queryParameters: [String] = []
        /// `redirect_port`: the loopback port that the sign-in comes back to.
        public var redirectPort: String?
        /// `reset_policy`: the B2C policy that resets a forgotten password.
        public var resetPolicy: String?

        /// Whether nothing was asked for by name.
        public var isEmpty: Bool { self == Self() }

        /// Makes an empty wish.
        public init() {}
    }

    /// The fingerprint of the token that was handed out in this exchange and that the server refused; nil for none.
    public var refusedToken: String? {
        let own = state.last { $0.utf8.starts(with: Self.statePrefix.utf8) }
        return own.map { String($0.dropFirst(Self.statePrefix.count)) }
    }

    /// Whether git asks again, in the same exchange, if it is told to.
    public var mayContinue: Bool { capabilities.isSuperset(of: [.authtype, .state]) && refusedToken == nil }

    /// Whether git asks for the passphrase of a client certificate's key: it names the file as `path`, and no host.
    public var isCertificate: Bool { scheme == "cert" && host == nil && path?.isEmpty == false }

    /// Makes an empty request.
    public init() {}

    /// Reads a request from its attributes.
    ///
    /// Unknown keys are ignored; of `url` the parts are taken and all that came before it is forgotten, as git does.
    ///
    /// - Throws: `RequestError` where a value cannot be what its key says.
    public init(_ attributes: Attributes) throws(RequestError) {
        var current = attributes
        if let last = attributes.lines.lastIndex(where: { $0.key == "url" }) {
            current = try URLParts(attributes.lines[last].value).attributes(followedBy: attributes.lines[(last + 1)...])
        }
        try readLocation(current)
        try readCredential(current)
        wish.authority = current["authority"]
        wish.clientID = current["client_id"]
        wish.scopes = current.list("scope[]")
        wish.account = current["account"]
        wish.claims = current["claims"]
        readSignIn(current)
    }

    private mutating func readSignIn(_ attributes: Attributes) {
        func value(_ key: String) -> String? { attributes[key].flatMap { $0.isEmpty ? nil : $0 } }
        wish.prompt = value("prompt")
        wish.loginHint = value("login_hint")
        wish.domainHint = value("domain_hint")
        wish.queryParameters = attributes.list("query_parameter[]")
        wish.redirectPort = value("redirect_port")
        wish.resetPolicy = value("reset_policy")
    }

    private mutating func readLocation(_ attributes: Attributes) throws(RequestError) {
        if let text = attributes["protocol"], !text.isEmpty {
            guard StrictURL.isScheme(text) else { throw .invalid("protocol") }
            scheme = text.lowercased()
        }
        if let text = attributes["host"], !text.isEmpty {
            guard let host = RequestHost(text) else { throw .invalid("host") }
            self.host = host
        }
        path = attributes["path"]
        username = attributes["username"]
        for (key, value) in [("path", path), ("username", username)] where value?.hasControlCharacter == true {
            throw .invalid(key)
        }
    }

    private mutating func readCredential(_ attributes: Attributes) throws(RequestError) {
        password = attributes["password"].map(Secret.init)
        passwordExpiry = attributes["password_expiry_utc"].flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
        oauthRefreshToken = attributes["oauth_refresh_token"].map(Secret.init)
        wwwAuthenticate = attributes.list("wwwauth[]")
        capabilities = Set(attributes.list("capability[]").map(Capability.init))
        authtype = attributes["authtype"]
        credential = attributes["credential"].map(Secret.init)
        isEphemeral = attributes["ephemeral"].isTrue
        state = attributes.list("state[]")
        isContinued = attributes["continue"].isTrue
        if authtype?.hasControlCharacter == true { throw .invalid("authtype") }
    }
}

/// What makes a request unusable.
public enum RequestError: Error, Sendable, Equatable {
    /// The value of this key cannot be what the key says: control characters, or no host, scheme or URL.
    case invalid(String)
}

extension String {
    /// Whether a C0 control or DEL occurs, which no URL that git can parse holds.
    var hasControlCharacter: Bool {
        utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }
}

extension String? {
    /// How git reads booleans of the protocol.
    fileprivate var isTrue: Bool { self == "1" || self == "true" }
}
