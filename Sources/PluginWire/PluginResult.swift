public import Secrets

/// The result of `authorize`, `renew`, `silent` or `authenticate` (docs/plugin-protocol.md, RESULT).
public struct PluginResult: Sendable, Equatable {
    /// The access token.
    public var accessToken: Secret
    /// The token's type (RFC 6749, 7.1).
    public var tokenType = "Bearer"
    /// The access token's lifetime from now on, in seconds; nil if it is valid until it is revoked.
    public var expiresIn: Int?
    /// Seconds from now on for which it may be used while the authority is down.
    public var extendedExpiresIn: Int?
    /// Seconds from now on after which it should be renewed, although it is still valid.
    public var refreshIn: Int?
    /// A new refresh token, if the authority returned one.
    public var refreshToken: Secret?
    /// The family of clients that may share the refresh token (`foci`).
    public var familyID: String?
    /// The OpenID Connect ID token; nil if the authority returned none.
    public var idToken: Secret?
    /// The claims of the UserInfo endpoint, as JSON, if the claims request names any (OpenID Connect Core 1.0, 5.5).
    public var userInfo: String?
    /// Why there are none although the request names some: a sentence without a full stop.
    public var userInfoError: String?
    /// The granted scopes.
    public var scopes: [String]
    /// The scopes that were requested but not granted.
    public var declinedScopes: [String] = []
    /// The authority's host that the tokens are stored under, the same for all aliases.
    public var environment: String
    /// The realm that the tokens are for: its ID if the authority returns it, otherwise the requested name.
    public var realm: String
    /// The account that signed in; nil for an application or a machine, which have none.
    public var account: PluginAccount?
    /// The user name that servers require if the token is sent as a password; nil if any will do.
    public var basicUsername: String?
    /// Of `authorize`: the secret that the client has from now on; nil if that stays as it is.
    public var clientSecret: Secret?
    /// A memo for the host to pass with the next request to this authority.
    public var memo: PluginMemo?

    /// Creates a result with its required fields, and the account if there is one.
    public init(
        accessToken: Secret, expiresIn: Int?, scopes: [String], environment: String, realm: String,
        account: PluginAccount?
    ) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.scopes = scopes
        self.environment = environment
        self.realm = realm
        self.account = account
    }
}

/// An account that signed in, in the terms of MSAL's unified cache.
public struct PluginAccount: Sendable, Equatable {
    /// The identifier of the account, the same in every realm.
    public var homeAccountID: String
    /// The names of its home realm, the ID first; empty if it has none.
    public var homeRealms: [String] = []
    /// The kind of account, in a word or two for the user.
    public var kind: String?
    /// The account's user name; may be empty.
    public var username: String
    /// The user's display name.
    public var name: String?
    /// The account's ID in this realm.
    public var localAccountID: String?
    /// `MSSTS`, `MSA`, `ADFS` or `Other`.
    public var authorityType = "Other"
    /// The authority's `client_info` as received, in base64url.
    public var clientInfo: String?

    /// Creates an account with its required fields.
    public init(homeAccountID: String, username: String) {
        self.homeAccountID = homeAccountID
        self.username = username
    }

    fileprivate func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("home_account_id", homeAccountID)
        try writer.put("home_realm[]", list: homeRealms)
        try writer.put("account_kind", kind)
        try writer.put("username", username)
        try writer.put("name", name)
        try writer.put("local_account_id", localAccountID)
        try writer.put("authority_type", authorityType)
        try writer.put("client_info", clientInfo)
    }

    fileprivate init(_ reader: WireReader) throws(ProtocolError) {
        self.init(
            homeAccountID: try reader.required("home_account_id", .token(512)),
            username: try reader.optional("username", .text(1024)) ?? "")
        homeRealms = try reader.list("home_realm[]", .token(256), limit: 16)
        kind = try reader.optional("account_kind", .text(64))
        name = try reader.optional("name", .text(1024))
        localAccountID = try reader.optional("local_account_id", .token(256))
        authorityType = try reader.optional("authority_type", .token(32)) ?? "Other"
        clientInfo = try reader.optional("client_info", .base64URL)
    }
}

/// The result of `exchange`: a credential that a resource accepts in place of a token; all of it is secret.
public struct PluginCredential: Sendable, Equatable {
    /// The user name, if the resource requires one.
    public var username: Secret?
    /// The password or token.
    public var secret: Secret?
    /// The lifetime from now on, in seconds; nil if it is valid until it is revoked.
    public var expiresIn: Int?
    /// Seconds from now on after which it should be renewed, although it is still valid.
    public var refreshIn: Int?
    /// Of `lookup`: seconds for which the host may hand it out again without asking; nil to keep nothing.
    public var keepFor: Int?
    /// The named parts of a credential that has more than these.
    public var fields: [PluginField] = []
    /// A memo for the host to pass with the next request to this authority.
    public var memo: PluginMemo?

    /// Creates a credential, which needs a secret or fields.
    public init(username: Secret? = nil, secret: Secret? = nil, fields: [PluginField] = [], expiresIn: Int?) {
        self.username = username
        self.secret = secret
        self.fields = fields
        self.expiresIn = expiresIn
    }
}

/// A note that the host stores for a plugin: it isn't secret, and the plugin could obtain it again.
public struct PluginMemo: Sendable, Equatable {
    /// The text, on one line; only the plugin interprets it.
    public var text: String
    /// Seconds for which it is worth storing.
    public var expiresIn: Int

    /// Creates a memo.
    public init(_ text: String, expiresIn: Int) {
        self.text = text
        self.expiresIn = expiresIn
    }

    fileprivate func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("memo", text)
        try writer.put("memo_expires_in", expiresIn)
    }

    /// Parses a memo; nil if the result has none.
    fileprivate init?(_ reader: WireReader) throws(ProtocolError) {
        guard let text = try reader.optional("memo", .memo) else { return nil }
        guard let lifetime = try reader.number("memo_expires_in", in: Lifetime.ofMemo) else {
            throw .missing("memo_expires_in")
        }
        self.init(text, expiresIn: lifetime)
    }
}

/// The findings of a successful `probe`; a failure is an error.
public struct PluginProbe: Sendable, Equatable {
    /// A check that passed.
    public struct Check: RawRepresentable, Sendable, Hashable {
        /// The name in the protocol.
        public let rawValue: String
        /// Creates a check with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The authority answers, and its metadata is correct.
        public static let authority = Check(rawValue: "authority")
        /// The authority knows the client and accepts the scopes for it.
        public static let client = Check(rawValue: "client")
    }

    /// The checks that passed; the host ignores unknown ones.
    public var checks: [Check]
    /// The authority's time, in seconds since 1970; nil if it doesn't provide one.
    public var time: Int?
    /// The proxy that the authority was reached through, as `HOST:PORT`; nil for none.
    public var proxy: String?
    /// Further information for the user, in a few words; nil for none.
    public var summary: String?
    /// The user names of the accounts that another program of the machine is signed in to; only a broker's plugin knows
    /// any.
    public var accounts: [String] = []

    /// Creates the findings.
    public init(_ checks: [Check], time: Int? = nil, proxy: String? = nil) {
        self.checks = checks
        self.time = time
        self.proxy = proxy
    }
}

/// The result of `describe`.
public struct PluginDescription: Sendable, Equatable {
    /// The plugin's name, the same as in the manifest.
    public var name: String
    /// The plugin's own version.
    public var version: String
    /// The protocol versions that it supports, such as `v1`.
    public var protocols: [String]
    /// The flows that it supports.
    public var flows: [PluginRequest.Flow]
    /// The kinds of identity that it supports.
    public var identities: [PluginIdentity.Kind]
    /// The exchanges that it supports.
    public var exchanges: [String]

    /// Creates a description.
    public init(
        name: String, version: String, protocols: [String], flows: [PluginRequest.Flow],
        identities: [PluginIdentity.Kind] = [], exchanges: [String] = []
    ) {
        self.name = name
        self.version = version
        self.protocols = protocols
        self.flows = flows
        self.identities = identities
        self.exchanges = exchanges
    }
}

extension PluginResult: PluginAnswer {
    /// Writes the result.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("access_token", accessToken)
        try writer.put("token_type", tokenType)
        try writer.put("expires_in", expiresIn)
        try writer.put("ext_expires_in", extendedExpiresIn)
        try writer.put("refresh_in", refreshIn)
        try writer.put("refresh_token", refreshToken)
        try writer.put("family_id", familyID)
        try writer.put("id_token", idToken)
        try writer.put("userinfo", userInfo)
        try writer.put("userinfo_error", message: userInfoError)
        try writer.put("scope[]", list: scopes)
        try writer.put("declined_scope[]", list: declinedScopes)
        try writer.put("environment", environment)
        try writer.put("realm", realm)
        try account?.write(to: &writer)
        try writer.put("basic_username", basicUsername)
        try writer.put("client_secret", clientSecret)
        try memo?.write(to: &writer)
    }

    /// Parses the result of an operation that returns tokens.
    ///
    /// Every operation except `authenticate` has an account. `authenticate` and `silent` return no refresh token.
    package init(_ reader: WireReader, of operation: PluginRequest.Operation) throws(ProtocolError) {
        let token = try reader.required("access_token", .secret)
        let isSomebodys = operation != .authenticate
        let strange =
            isSomebodys ? operation == .silent ? ["refresh_token"] : [] : ["home_account_id", "refresh_token"]
        for key in strange where reader.block[key]?.isEmpty == false { throw .unexpected(key) }
        self.init(
            accessToken: Secret(token), expiresIn: try reader.number("expires_in", in: Lifetime.range),
            scopes: try reader.list("scope[]", .scope), environment: try reader.required("environment", .host),
            realm: try reader.required("realm", .token(256)),
            account: isSomebodys ? try PluginAccount(reader) : nil)
        tokenType = try reader.optional("token_type", .token(64)) ?? "Bearer"
        extendedExpiresIn = try reader.number("ext_expires_in", in: Lifetime.range)
        refreshIn = try reader.number("refresh_in", in: Lifetime.range)
        refreshToken = try reader.secret("refresh_token")
        familyID = try reader.optional("family_id", .token(64))
        idToken = try reader.secret("id_token")
        userInfo = try reader.optional("userinfo", .text(32_768))
        userInfoError = try reader.message("userinfo_error")
        declinedScopes = try reader.list("declined_scope[]", .scope)
        basicUsername = try reader.optional("basic_username", .basicUsername)
        if operation == .authorize {
            clientSecret = try reader.optional("client_secret", .text(4096)).map { Secret($0) }
        }
        memo = try PluginMemo(reader)
    }
}

extension PluginCredential: PluginAnswer {
    /// Writes the credential.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("username", username)
        try writer.put("secret", secret)
        try writer.put("expires_in", expiresIn)
        try writer.put("refresh_in", refreshIn)
        try writer.put("keep_for", keepFor)
        try writer.put("field[]", fields: fields)
        try memo?.write(to: &writer)
    }

    /// Parses a credential.
    package init(_ reader: WireReader) throws(ProtocolError) {
        self.init(
            username: try reader.optional("username", .basicUsername).map { Secret($0) },
            secret: try reader.optional("secret", .text(65_535)).map { Secret($0) },
            fields: try reader.fields("field[]"), expiresIn: try reader.number("expires_in", in: Lifetime.range))
        guard secret != nil || !fields.isEmpty else { throw .missing("secret` or `field[]") }
        refreshIn = try reader.number("refresh_in", in: Lifetime.range)
        keepFor = try reader.number("keep_for", in: 0...86_400)
        memo = try PluginMemo(reader)
    }
}

extension WireForm {
    /// A user name for HTTP's Basic scheme (RFC 7617, 2): any text without a colon.
    package static let basicUsername = WireForm(limit: 1024) { name in
        text(1024).accepts(name) && !name.utf8.contains(UInt8(ascii: ":"))
    }
}

extension PluginProbe: PluginAnswer {
    /// Writes the findings.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("checked[]", list: checks.map(\.rawValue))
        try writer.put("time", time)
        try writer.put("proxy", proxy)
        try writer.put("summary", message: summary)
        try writer.put("account[]", list: accounts)
    }

    /// Parses the findings.
    package init(_ reader: WireReader) throws(ProtocolError) {
        self.init(
            try reader.list("checked[]", .token(64)).map(Check.init(rawValue:)),
            time: try reader.number("time", in: Lifetime.ofClocks),
            proxy: try reader.optional("proxy", .token(271)))
        summary = try reader.message("summary")
        accounts = try reader.list("account[]", .text(1024))
    }
}

extension PluginDescription: PluginAnswer {
    /// Writes the description.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("name", name)
        try writer.put("version", version)
        try writer.put("protocol[]", list: protocols)
        try writer.put("flow[]", list: flows.map(\.rawValue))
        try writer.put("identity[]", list: identities.map(\.rawValue))
        try writer.put("exchange[]", list: exchanges)
    }

    /// Parses a description.
    package init(_ reader: WireReader) throws(ProtocolError) {
        self.init(
            name: try reader.required("name", .token(64)), version: try reader.required("version", .token(64)),
            protocols: try reader.list("protocol[]", .token(64)),
            flows: try reader.list("flow[]", .token(64)).map(PluginRequest.Flow.init(rawValue:)),
            identities: try reader.list("identity[]", .token(64)).map(PluginIdentity.Kind.init(rawValue:)),
            exchanges: try reader.list("exchange[]", .token(64)))
    }
}
