import Addresses
import Claims
import CredentialEngine
public import Rules
public import Secrets

/// A request from git or a script on stdin (git-credential(1), INPUT/OUTPUT FORMAT).
public struct GitRequest: Sendable, Equatable {
    /// The credential that is asked for; lanyard's own keys, which git doesn't have, ask for a token by name.
    public var wanted = CredentialRequest()
    /// The password, for `store` and `erase`.
    public var password: Secret?
    /// The password's expiry, in seconds since 1970; nil for never, which 0 and values that overflow also mean.
    public var passwordExpiry: Int?
    /// A refresh token that another helper got; stored with the password and never interpreted.
    public var oauthRefreshToken: Secret?
    /// The consumer's capabilities beyond user names and passwords, as far as lanyard knows them.
    public var capabilities: Set<Capability> = []
    /// The scheme of `credential`, such as `Bearer`.
    public var authtype: String?
    /// The part of the `Authorization` header after `authtype`.
    public var credential: Secret?
    /// Whether the credential must not be stored.
    public var isEphemeral = false
    /// The state that helpers asked git to send back, each prefixed by its helper's name.
    public var state: [String] = []
    /// The prefix of lanyard's own state.
    static let statePrefix = "lanyard:"

    /// A capability of git's protocol (`capability[]`) that lanyard has, too.
    public enum Capability: String, Sendable, CaseIterable {
        /// Bearer and other schemes, and ephemeral credentials (git 2.46).
        case authtype
        /// State that git carries between calls (git 2.46).
        case state
    }

    /// Whether git asks again in the same exchange if the answer says `continue`.
    var mayContinue: Bool { capabilities.isSuperset(of: [.authtype, .state]) && wanted.refusedToken == nil }

    /// The credential to store; nil if a part is missing.
    var brought: Credential? {
        if let authtype, let credential {
            return Credential(
                .authorization(scheme: authtype), credential, username: wanted.username, expiresOn: passwordExpiry,
                oauthRefreshToken: oauthRefreshToken)
        }
        guard let username = wanted.username, let password else { return nil }
        return Credential(
            .password, password, username: username, expiresOn: passwordExpiry, oauthRefreshToken: oauthRefreshToken)
    }

    /// Creates an empty request.
    public init() {}

    /// Reads a request from its attributes.
    ///
    /// Unknown keys are ignored. As in git, `url` sets its parts and discards everything before it.
    ///
    /// - Throws: `RequestError` if a value is invalid for its key.
    public init(_ attributes: Attributes) throws(RequestError) {
        var current = attributes
        if let last = attributes.lines.lastIndex(where: { $0.key == "url" }) {
            let url = try RequestURL(attributes.lines[last].value)
            current = try url.attributes(followedBy: attributes.lines[(last + 1)...])
        }
        try readLocation(current)
        try readCredential(current)
        readWish(current)
    }

    private mutating func readWish(_ attributes: Attributes) {
        wanted.wish.authority = attributes["authority"]
        wanted.wish.clientID = attributes["client_id"]
        wanted.wish.scopes = attributes.list("scope[]")
        wanted.wish.account = attributes["account"]
        wanted.wish.identity = attributes["identity"].flatMap { $0.isEmpty ? nil : $0 }
        wanted.wish.claims = attributes["claims"]
        for parameter in SignInParameter.allCases {
            let texts = parameter.texts(in: attributes)
            if !texts.isEmpty { wanted.wish.signIn[parameter] = texts }
        }
    }

    private mutating func readLocation(_ attributes: Attributes) throws(RequestError) {
        if let text = attributes["protocol"], !text.isEmpty {
            guard StrictURL.isScheme(text[...]) else { throw .invalid("protocol") }
            wanted.scheme = text.lowercased()
        }
        if let text = attributes["host"], !text.isEmpty {
            guard let host = RequestHost(text) else { throw .invalid("host") }
            wanted.host = host
        }
        wanted.path = attributes["path"]
        wanted.username = attributes["username"]
        for (key, value) in [("path", wanted.path), ("username", wanted.username)]
        where value?.hasControlCharacter == true {
            throw .invalid(key)
        }
    }

    private mutating func readCredential(_ attributes: Attributes) throws(RequestError) {
        password = attributes["password"].map(Secret.init)
        passwordExpiry = attributes["password_expiry_utc"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        oauthRefreshToken = attributes["oauth_refresh_token"].map(Secret.init)
        capabilities = Set(attributes.list("capability[]").compactMap(Capability.init))
        authtype = attributes["authtype"]
        credential = attributes["credential"].map(Secret.init)
        isEphemeral = attributes["ephemeral"].flatMap(Bool.init(gitWord:)) == true
        state = attributes.list("state[]")
        if authtype?.hasControlCharacter == true { throw .invalid("authtype") }
        wanted.wwwAuthenticate = attributes.list("wwwauth[]")
        wanted.takesAuthorizations = capabilities.contains(.authtype)
        let own = state.last { $0.utf8.starts(with: Self.statePrefix.utf8) }?.utf8
        wanted.refusedToken = own.map { String(Substring($0.dropFirst(Self.statePrefix.utf8.count))) }
    }
}

extension RequestURL {
    /// Returns the URL's parts as git would send them, followed by more lines.
    fileprivate func attributes(followedBy lines: ArraySlice<Attributes.Line>) throws(RequestError) -> Attributes {
        var all = Attributes()
        let parts = [
            ("protocol", scheme), ("host", host.text), ("username", username), ("password", password?.reveal()),
            ("path", path),
        ]
        for case (let key, let value?) in parts {
            do { try all.append(key, value) } catch { throw .invalid("url") }
        }
        for line in lines {
            do { try all.append(line.key, line.value) } catch { throw .invalid(line.key) }
        }
        return all
    }
}
