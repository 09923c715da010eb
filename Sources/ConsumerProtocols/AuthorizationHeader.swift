import FoundationEssentials
public import Rules
import Secrets

extension Credential {
    /// The value of an HTTP `Authorization` header that presents it (RFC 7617; RFC 6750, 2.1).
    ///
    /// A token that servers take as a password only goes as one, with the user name that they take it with.
    public var authorizationHeader: String {
        switch kind {
        case .accessToken where takesBearer: "Bearer \(secret.reveal())"
        case .accessToken, .password:
            "Basic \(Data("\(passwordUsername):\(secret.reveal())".utf8).base64EncodedString())"
        case .authorization(""): secret.reveal()
        case .authorization(let scheme): "\(scheme) \(secret.reveal())"
        }
    }

    /// The user name that goes with it if a server takes names and passwords only.
    ///
    /// Servers that take a token there look at no name, unless the issuer says which.
    public var passwordUsername: String {
        guard case .accessToken = kind else { return username ?? "" }
        return basicUsername ?? username ?? "token"
    }

    /// Whether it is a token that goes as such (RFC 6750).
    var isBearer: Bool {
        switch kind {
        case .accessToken: true
        case .password: false
        case .authorization(let scheme): scheme.lowercased() == "bearer"
        }
    }
}
