import Addresses
import AnswerCache
import Claims
public import Model
import Rules
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
    /// The tool's capabilities beyond user names and passwords, as far as lanyard knows them.
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
    /// - Throws: `ProtocolError` if a value is invalid for its key.
    public init(_ attributes: Attributes) throws(ProtocolError) {
        var current = attributes
        if let last = attributes.lines.lastIndex(where: { $0.key == "url" }) {
            let url = try RequestURL(attributes.lines[last].value)
            current = try url.attributes(followedBy: attributes.lines[(last + 1)...])
        }
        try readLocation(current)
        try readCredential(current)
        try readRequest(current)
    }

    private mutating func readRequest(_ attributes: Attributes) throws(ProtocolError) {
        wanted.explicit.authority = attributes["authority"]
        wanted.explicit.clientID = attributes["client_id"]
        wanted.explicit.scopes = attributes.list("scope[]")
        wanted.explicit.account = attributes["account"]
        wanted.explicit.identity = attributes["identity"].flatMap { $0.isEmpty ? nil : $0 }
        wanted.explicit.claims = attributes["claims"]
        wanted.explicit.tokenName = attributes["token"]
        if attributes["token"] != wanted.explicit.tokenName { throw .invalid("token") }
        for parameter in SignInParameter.allCases {
            let texts = parameter.texts(in: attributes)
            if !texts.isEmpty { wanted.explicit.signIn[parameter] = texts }
        }
    }

    private mutating func readLocation(_ attributes: Attributes) throws(ProtocolError) {
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

    private mutating func readCredential(_ attributes: Attributes) throws(ProtocolError) {
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
    fileprivate func attributes(followedBy lines: ArraySlice<Attributes.Line>) throws(ProtocolError) -> Attributes {
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

extension GitRequest {
    /// Returns a credential in git's format.
    ///
    /// `authtype` and `credential` are written only to a tool that offered the capability, and after it: git
    /// accepts the pair as a complete credential even if it can't use it. Any other tool gets a token as the
    /// password of `username`, and an empty answer instead of a stored authorization of another scheme. An
    /// authorization without a scheme goes to no tool.
    ///
    /// A bearer token is `ephemeral`: it is stored already, and no other helper should store it. If git carries state,
    /// the answer also says `continue`: if the server refuses the token, git asks again in the same command and returns
    /// the state, which is the token's fingerprint. The second answer is final. A token that servers only accept as a
    /// password is written as one to every tool, with the user name that they require rather than the URL's.
    func answer(_ credential: Credential) throws(ProtocolError) -> Attributes {
        var lines = Attributes()
        let takesAuthtype = capabilities.contains(.authtype)
        switch credential.kind {
        case .accessToken where takesAuthtype && credential.takesBearer:
            try lines.append(
                .authtype, ["authtype": "Bearer", "credential": credential.secret.reveal(), "ephemeral": "1"])
            if mayContinue {
                let state = Self.statePrefix + credential.secret.fingerprint
                try lines.append(.state, ["continue": "1", "state[]": state])
            }
            if let name = username(for: credential) { try lines.append("username", name) }
        case .accessToken:
            if takesAuthtype { try lines.append(.authtype, ["ephemeral": "1"]) }
            let name = credential.basicUsername ?? username(for: credential) ?? credential.tokenUsername
            try lines.append("username", name)
            try lines.append("password", credential.secret.reveal())
        case .password:
            try lines.append("username", credential.username ?? "")
            try lines.append("password", credential.secret.reveal())
        case .authorization(let scheme):
            guard takesAuthtype, !scheme.isEmpty else { return lines }
            try lines.append(.authtype, ["authtype": scheme, "credential": credential.secret.reveal()])
            if let username = credential.username { try lines.append("username", username) }
        }
        if let expiry = credential.expiresOn { try lines.append("password_expiry_utc", String(expiry)) }
        if case .password = credential.kind, let token = credential.oauthRefreshToken {
            try lines.append("oauth_refresh_token", token.reveal())
        }
        return lines
    }

    /// Returns the user name that goes with a token; nil if the request has none.
    ///
    /// A name that isn't an address, such as an organisation, isn't an account's, and stays as it is in the URL.
    private func username(for token: Credential) -> String? {
        wanted.username?.isAddress == true ? token.tokenUsername : wanted.username
    }
}

extension Credential {
    /// git requires a user name with a token, and a B2C account may have none.
    fileprivate var tokenUsername: String { username ?? "token" }
}

extension Attributes {
    /// Appends values that git reads only after the capability that they need.
    fileprivate mutating func append(
        _ capability: GitRequest.Capability, _ values: KeyValuePairs<String, String>
    ) throws(ProtocolError) {
        try append("capability[]", capability.rawValue)
        for (key, value) in values { try append(key, value) }
    }
}
