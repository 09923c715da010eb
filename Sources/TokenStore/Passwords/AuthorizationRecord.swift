import Addresses
import JSON
internal import Secrets

// What git's schema can't hold, as an item of lanyard's own: an HTTP authorization that git asked to store (`authtype` and
// `credential`), which git-credential-libsecret would return as an empty password, and a password of several lines, such
// as a key of Google's for docker, of which it would return the first.

extension ItemAttributes {
    /// Creates the key of an authorization, or of a password of several lines, in which the address takes the place of the
    /// environment and the target.
    ///
    /// It contains only a digest of the user name, because attributes aren't secret.
    init(of kind: OwnPassword, at address: PasswordAddress, username: String?, group: String) {
        let port = address.port.map { ":\($0)" } ?? ""
        self.init(
            group: group, kind: kind.rawValue, homeAccount: username?.digest ?? "",
            environment: "\(address.scheme)://\(address.server)\(port)", target: address.path)
    }
}

/// The kinds of items with a password in lanyard's own schema.
enum OwnPassword: String {
    case authorization
    /// A password of several lines.
    case lines
}

extension StoredPassword {
    /// The secret of an item in lanyard's own schema.
    var ownSecret: [UInt8] {
        var members = [
            "username": username, "expires_on": expiresOn.map { String($0) },
            "oauth_refresh_token": oauthRefreshToken?.reveal(),
        ]
        switch proof {
        case .authorization(let type, let credential):
            (members["authtype"], members["credential"]) = (type, credential.reveal())
        case .password(let secret): members["password"] = secret.reveal()
        }
        return JSONValue.object(members.compactMapValues { $0.map(JSONValue.string) }).encodedWithLongEscapes()
    }

    /// Parses the secret of an item in lanyard's own schema; nil if it isn't one.
    init?(ownSecret json: [UInt8]) {
        guard let members = JSONValue(bytes: json) else { return nil }
        let proof: Proof
        if let type = members["authtype"]?.text, let credential = members["credential"]?.text {
            proof = .authorization(type: type, credential: Secret(credential))
        } else if let password = members["password"]?.string {
            proof = .password(Secret(password))
        } else {
            return nil
        }
        let refreshToken = members["oauth_refresh_token"]?.text ?? ""
        self.init(
            username: members["username"]?.text, proof: proof,
            expiresOn: members["expires_on"]?.time,
            oauthRefreshToken: refreshToken.isEmpty ? nil : Secret(refreshToken))
    }
}
