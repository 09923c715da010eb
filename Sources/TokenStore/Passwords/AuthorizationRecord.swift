import Addresses
import JSON
internal import Secrets

// An HTTP authorization that git asked to store (`authtype` and `credential`), as an item of lanyard's own schema. In
// git's schema, git-credential-libsecret would return it as an empty password.

extension ItemAttributes {
    /// Creates the key of an authorization, in which the address takes the place of the environment and the target.
    ///
    /// It contains only a digest of the user name, because attributes aren't secret.
    init(ofAuthorizationAt address: PasswordAddress, username: String?, group: String) {
        let port = address.port.map { ":\($0)" } ?? ""
        self.init(
            group: group, kind: "authorization", homeAccount: username?.digest ?? "",
            environment: "\(address.scheme)://\(address.server)\(port)", target: address.path)
    }
}

extension StoredPassword {
    /// The secret of an authorization's item; nil if this isn't an authorization.
    var authorizationSecret: [UInt8]? {
        guard case .authorization(let type, let credential) = proof else { return nil }
        let members = [
            "authtype": type, "credential": credential.reveal(), "username": username,
            "expires_on": expiresOn.map { String($0) }, "oauth_refresh_token": oauthRefreshToken?.reveal(),
        ]
        return JSONValue.object(members.compactMapValues { $0.map(JSONValue.string) }).encodedWithLongEscapes()
    }

    /// Parses the secret of an authorization's item; nil if it isn't one.
    init?(authorizationSecret json: [UInt8]) {
        guard let members = JSONValue(bytes: json), let type = members["authtype"]?.text,
            let credential = members["credential"]?.text
        else { return nil }
        let refreshToken = members["oauth_refresh_token"]?.text ?? ""
        self.init(
            username: members["username"]?.text, proof: .authorization(type: type, credential: Secret(credential)),
            expiresOn: members["expires_on"]?.time,
            oauthRefreshToken: refreshToken.isEmpty ? nil : Secret(refreshToken))
    }
}
