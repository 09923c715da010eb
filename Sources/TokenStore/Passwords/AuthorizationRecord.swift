import Addresses
import JSON
internal import Secrets

/// An HTTP authorization that git asked to store (`authtype` and `credential`), as an item of lanyard's own schema.
///
/// In git's schema, git-credential-libsecret would return it as an empty password. The key contains only a digest of
/// the user name, because attributes aren't secret.
struct AuthorizationRecord {
    static let kind = "authorization"

    var address: PasswordAddress
    var password: StoredPassword

    /// Returns the eight attributes; the address takes the place of the environment and the target.
    static func attributes(of address: PasswordAddress, username: String?, group: String) -> ItemAttributes {
        let port = address.port.map { ":\($0)" } ?? ""
        return ItemAttributes(
            group: group, kind: kind, homeAccount: username?.digest ?? "",
            environment: "\(address.scheme)://\(address.server)\(port)", target: address.path)
    }

    /// Returns the full key of the item.
    func attributes(group: String) -> ItemAttributes {
        Self.attributes(of: address, username: password.username, group: group)
    }

    /// The secret; nil if the password isn't an authorization.
    var json: [UInt8]? {
        guard case .authorization(let type, let credential) = password.proof else { return nil }
        var members: [String: JSONValue] = [:]
        members.put("authtype", type)
        members.put("credential", credential.reveal())
        members.put("username", password.username)
        members.put("expires_on", seconds: password.expiresOn)
        members.put("oauth_refresh_token", password.oauthRefreshToken?.reveal())
        return JSONValue.object(members).encoded()
    }

    /// Parses a secret; nil if it isn't an authorization.
    static func password(json: [UInt8]) -> StoredPassword? {
        guard let object = JSONValue(bytes: json)?.members else { return nil }
        var members = Members(object)
        guard let type = members.optionalText("authtype"), let credential = members.optionalText("credential") else {
            return nil
        }
        return StoredPassword(
            username: members.optionalText("username"),
            proof: .authorization(type: type, credential: Secret(credential)), expiresOn: members.number("expires_on"),
            oauthRefreshToken: members.secret("oauth_refresh_token"))
    }
}
