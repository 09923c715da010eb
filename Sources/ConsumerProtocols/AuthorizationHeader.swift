import FoundationEssentials
public import Rules
import Secrets

extension Credential {
    /// The value of an HTTP `Authorization` header with this credential (RFC 7617; RFC 6750, 2.1).
    ///
    /// A token that servers only accept as a password is sent as one, with the user name that they require.
    public var authorizationHeader: String {
        switch kind {
        case .accessToken where takesBearer: "Bearer \(secret.reveal())"
        case .accessToken, .password:
            "Basic \(Data("\(passwordUsername):\(secret.reveal())".utf8).base64EncodedString())"
        case .authorization(""): secret.reveal()
        case .authorization(let scheme): "\(scheme) \(secret.reveal())"
        }
    }

    /// The user name for servers that only accept user names and passwords.
    ///
    /// Such servers ignore the name that comes with a token, unless the issuer requires one.
    public var passwordUsername: String {
        guard case .accessToken = kind else { return username ?? "" }
        return basicUsername ?? username ?? "token"
    }

    /// Whether it is a bearer token (RFC 6750).
    var isBearer: Bool {
        switch kind {
        case .accessToken: true
        case .password: false
        case .authorization(let scheme): scheme.lowercased() == "bearer"
        }
    }
}
