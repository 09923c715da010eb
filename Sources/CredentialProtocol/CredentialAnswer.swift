public import Secrets

/// What a consumer is told on `get`.
public enum CredentialAnswer: Sendable, Equatable {
    /// An access token, for the account of that name, until `expiry` (seconds since 1970).
    ///
    /// The fingerprint tells the token from others without giving it away.
    case token(Secret, username: String, expiry: Int64, fingerprint: String? = nil)
    /// A user name and a password.
    case password(Secret, username: String, expiry: Int64?, oauthRefreshToken: Secret?)
    /// A credential of another scheme that was stored so.
    case credential(Secret, authtype: String, username: String?, expiry: Int64?)

    /// The answer as the consumer can read it.
    ///
    /// `authtype` and `credential` are written only to a consumer that offered the capability, and after it: git takes
    /// the pair as a complete credential even where it can't use it. A token goes to any other consumer as the password
    /// of `username`; a stored credential of another scheme doesn't go to it at all, and the answer is empty.
    ///
    /// A token as such is `ephemeral`: it is stored already, and no other helper is to keep it. Where git carries state it is
    /// also told to `continue`: should the server refuse the token, git asks again in the same command, with the state,
    /// which is the token's fingerprint. What answers that is final.
    public func attributes(for request: CredentialRequest) throws(ProtocolError) -> Attributes {
        let takesAuthtype = request.capabilities.contains(.authtype)
        var lines = Attributes()
        switch self {
        case .token(let token, let username, let expiry, let fingerprint):
            // What is no address, such as an organisation, names no account, and stays as the URL has it.
            let isAddress = request.username?.utf8.contains(UInt8(ascii: "@")) == true
            let name = isAddress ? username : request.username
            if takesAuthtype {
                try lines.appendCredential(token, authtype: "Bearer")
                try lines.append("ephemeral", "1")
                if let fingerprint, request.mayContinue { try lines.appendState(fingerprint) }
                if let name { try lines.append("username", name) }
            } else {
                try lines.append("username", name ?? username)
                try lines.append("password", token.reveal())
            }
            try lines.append("password_expiry_utc", String(expiry))
        case .password(let password, let username, let expiry, let refreshToken):
            try lines.append("username", username)
            try lines.append("password", password.reveal())
            if let expiry { try lines.append("password_expiry_utc", String(expiry)) }
            if let refreshToken { try lines.append("oauth_refresh_token", refreshToken.reveal()) }
        case .credential(let credential, let authtype, let username, let expiry):
            guard takesAuthtype else { break }
            try lines.appendCredential(credential, authtype: authtype)
            if let username { try lines.append("username", username) }
            if let expiry { try lines.append("password_expiry_utc", String(expiry)) }
        }
        return lines
    }
}

extension Attributes {
    fileprivate mutating func appendCredential(_ credential: Secret, authtype: String) throws(ProtocolError) {
        try append("capability[]", CredentialRequest.Capability.authtype.rawValue)
        try append("authtype", authtype)
        try append("credential", credential.reveal())
    }

    fileprivate mutating func appendState(_ fingerprint: String) throws(ProtocolError) {
        try append("capability[]", CredentialRequest.Capability.state.rawValue)
        try append("continue", "1")
        try append("state[]", CredentialRequest.statePrefix + fingerprint)
    }
}
