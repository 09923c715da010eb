import FoundationEssentials
import Glibc
public import Model
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

/// Formats seconds since 1970 with the C library; loading Foundation's calendars takes a tenth of a remembered answer's
/// time.
package enum Moment {
    /// Returns date and time in UTC, as in RFC 3339.
    package static func utc(_ seconds: Int) -> String { text(seconds, "%Y-%m-%dT%H:%M:%SZ", gmtime_r) }

    /// Returns date and time in this computer's time zone, in a format of strftime(3).
    package static func local(_ seconds: Int, _ format: String) -> String { text(seconds, format, localtime_r) }

    private static func text(
        _ seconds: Int, _ format: String,
        _ cut: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        guard cut(&moment, &parts) != nil else { return String(seconds) }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
