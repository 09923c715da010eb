import CredentialEngine
import Rules
import Secrets

extension GitRequest {
    /// Returns a credential in git's format.
    ///
    /// `authtype` and `credential` are written only to a consumer that offered the capability, and after it: git
    /// accepts the pair as a complete credential even if it can't use it. Any other consumer gets a token as the
    /// password of `username`, and an empty answer instead of a stored authorization of another scheme. An
    /// authorization without a scheme goes to no consumer.
    ///
    /// A bearer token is `ephemeral`: it is stored already, and no other helper should store it. If git carries state,
    /// the answer also says `continue`: if the server refuses the token, git asks again in the same command and returns
    /// the state, which is the token's fingerprint. The second answer is final. A token that servers only accept as a
    /// password is written as one to every consumer, with the user name that they require rather than the URL's.
    func answer(_ credential: Credential) throws(ProtocolError) -> Attributes {
        var lines = Attributes()
        let takesAuthtype = capabilities.contains(.authtype)
        switch credential.kind {
        case .accessToken where takesAuthtype && credential.takesBearer:
            try lines.append(
                .authtype, ["authtype": "Bearer", "credential": credential.secret.reveal(), "ephemeral": "1"])
            if mayContinue {
                try lines.append(.state, ["continue": "1", "state[]": Self.statePrefix + credential.fingerprint])
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
