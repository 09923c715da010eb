import Addresses
public import PluginHost
public import Rules
internal import Secrets
public import TokenAcquisition
package import TokenStore

extension Credential {
    /// A digest that identifies the secret without revealing it.
    public var fingerprint: String { secret.fingerprint }

    /// A digest that identifies the secret and its fields without revealing them.
    public var mark: String {
        guard !fields.isEmpty else { return fingerprint }
        let parts = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.reveal())" }
        return ([secret.reveal()] + parts).joined(separator: "\0").shortDigest
    }

    /// Creates a credential from a token, or from what it was exchanged for; `issuer` is the issuer's entry in a plugin
    /// manifest.
    public init(_ token: AcquiredToken, at issuer: PluginIssuer?) {
        let username = token.account?.username ?? ""
        self.init(
            .accessToken, token.accessToken, username: username.isEmpty ? nil : username, expiresOn: token.expiresOn)
        dueOn = token.dueOn
        realm = token.realm.isEmpty ? nil : token.realm
        // An exchanged token is no longer the issuer's.
        let issuer = token.isExchanged ? nil : issuer
        basicUsername = token.basicUsername ?? issuer?.username
        takesBearer = token.basicUsername == nil && issuer?.takesBearer ?? true
        fields = token.fields
    }

    /// Creates a credential from a stored password or authorization.
    package init(_ stored: StoredPassword) {
        switch stored.proof {
        case .password(let password): self.init(.password, password, username: stored.username)
        case .authorization(let scheme, let credential):
            self.init(.authorization(scheme: scheme), credential, username: stored.username)
        }
        expiresOn = stored.expiresOn
        oauthRefreshToken = stored.oauthRefreshToken
    }

    /// The value of `expires_on` for a token without a known expiry.
    private static let never = "never"

    /// Encodes an access token and the variables that it depends on for the answer cache; nil if that isn't possible.
    func remembered(by variables: DecisiveVariables) -> [UInt8]? {
        guard kind == .accessToken else { return nil }
        var lines = Attributes()
        do throws(ProtocolError) {
            try lines.append("token", secret.reveal())
            if let username { try lines.append("username", username) }
            try lines.append("expires_on", expiresOn.map { String($0) } ?? Self.never)
            if let dueOn { try lines.append("due_on", String(dueOn)) }
            if let realm { try lines.append("realm", realm) }
            if let basicUsername { try lines.append("basic_username", basicUsername) }
            if !takesBearer { try lines.append("bearer", "0") }
            if !variables.names.isEmpty {
                for name in variables.names { try lines.append("variable[]", name) }
                try lines.append("variables", variables.digest)
            }
            try lines.append(fields: fields)
        } catch {
            return nil
        }
        return lines.encoded
    }

    /// Decodes a remembered token; nil if the bytes are something else, or a variable that it depends on has changed.
    init?(remembered bytes: [UInt8], in environment: [String: String]) {
        var parser = AttributeParser(longestInput: bytes.count)
        guard (try? parser.consume(bytes).isEmpty) == true, let lines = try? parser.finish(),
            let token = lines["token"], let end = lines["expires_on"], let fields = lines.fields
        else { return nil }
        let expiresOn = Int(end)
        guard expiresOn != nil || end == Self.never else { return nil }
        if let digest = lines["variables"] {
            let variables = DecisiveVariables(Set(lines.list("variable[]")), in: environment)
            guard variables.digest.isSame(as: digest) else { return nil }
        }
        self.init(.accessToken, Secret(token), username: lines["username"], expiresOn: expiresOn)
        dueOn = lines["due_on"].flatMap { Int($0) }
        realm = lines["realm"]
        basicUsername = lines["basic_username"]
        takesBearer = lines["bearer"] == nil
        self.fields = fields
    }
}

extension StoredPassword {
    /// Converts a consumer's credential for storing; nil for an access token, which the engine stores itself.
    init?(_ credential: Credential) {
        switch credential.kind {
        case .accessToken: return nil
        case .password: self.init(username: credential.username, proof: .password(credential.secret))
        case .authorization(let scheme):
            self.init(
                username: credential.username, proof: .authorization(type: scheme, credential: credential.secret))
        }
        expiresOn = credential.expiresOn
        oauthRefreshToken = credential.oauthRefreshToken
    }
}
