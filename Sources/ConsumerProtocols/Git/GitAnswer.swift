import CredentialEngine
import Rules
import Secrets

extension GitRequest {
    /// A credential as the consumer can read it.
    ///
    /// `authtype` and `credential` are written only to a consumer that offered the capability, and after it: git takes
    /// the pair as a complete credential even if it can't use it. A token goes to any other consumer as the password
    /// of `username`; a stored authorization of another scheme doesn't go to it at all, nor one without a scheme to any: the
    /// answer is empty.
    ///
    /// A token as such is `ephemeral`: it is stored already, and no other helper is to keep it. If git carries state it is
    /// also told to `continue`: should the server refuse the token, git asks again in the same command, with the state,
    /// which is the token's fingerprint. What answers that is final. A token that servers take as a password only is one to
    /// every consumer; a name that they take it with counts for more than the URL's.
    func answer(_ credential: Credential) throws(ProtocolError) -> Attributes {
        var lines = Attributes()
        let takesAuthtype = capabilities.contains(.authtype)
        switch credential.kind {
        case .accessToken where takesAuthtype && credential.takesBearer:
            try lines.append(credential, authtype: "Bearer")
            try lines.append("ephemeral", "1")
            if mayContinue { try lines.append(state: credential.fingerprint) }
            if let name = username(for: credential) { try lines.append("username", name) }
        case .accessToken:
            if takesAuthtype { try lines.appendEphemeral() }
            let name = credential.basicUsername ?? username(for: credential) ?? credential.tokenUsername
            try lines.append("username", name)
            try lines.append("password", credential.secret.reveal())
        case .password:
            try lines.append("username", credential.username ?? "")
            try lines.append("password", credential.secret.reveal())
        case .authorization(let scheme):
            guard takesAuthtype, !scheme.isEmpty else { return lines }
            try lines.append(credential, authtype: scheme)
            if let username = credential.username { try lines.append("username", username) }
        }
        if let expiry = credential.expiresOn { try lines.append("password_expiry_utc", String(expiry)) }
        if case .password = credential.kind, let token = credential.oauthRefreshToken {
            try lines.append("oauth_refresh_token", token.reveal())
        }
        return lines
    }

    /// The user name that goes with a token, if the request says one.
    ///
    /// What is no address, such as an organisation, names no account, and stays as the URL has it.
    private func username(for token: Credential) -> String? {
        wanted.username?.isAddress == true ? token.tokenUsername : wanted.username
    }
}

extension Credential {
    /// git needs some name with a token, and a B2C account may have none.
    fileprivate var tokenUsername: String { username ?? "token" }
}

extension Attributes {
    fileprivate mutating func append(_ credential: Credential, authtype: String) throws(ProtocolError) {
        try append("capability[]", GitRequest.Capability.authtype.rawValue)
        try append("authtype", authtype)
        try append("credential", credential.secret.reveal())
    }

    fileprivate mutating func appendEphemeral() throws(ProtocolError) {
        try append("capability[]", GitRequest.Capability.authtype.rawValue)
        try append("ephemeral", "1")
    }

    fileprivate mutating func append(state fingerprint: String) throws(ProtocolError) {
        try append("capability[]", GitRequest.Capability.state.rawValue)
        try append("continue", "1")
        try append("state[]", GitRequest.statePrefix + fingerprint)
    }
}
