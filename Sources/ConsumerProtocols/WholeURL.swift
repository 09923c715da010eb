import Addresses
import CredentialEngine
import Rules
import Secrets

extension CredentialRequest {
    /// Creates the request of a tool that sends the whole URL and can't wait for a user.
    ///
    /// The query and fragment are dropped: no rule or password applies to them.
    init(wholeURL text: String, takesAuthorizations: Bool = false) throws(RequestError) {
        guard !text.hasControlCharacter else { throw .invalid("url") }
        self.init(try RequestURL(String(text[...].beforeQuery)))
        reach = .above
        isUnattended = true
        self.takesAuthorizations = takesAuthorizations
    }

    /// Records a server's header if it is an authentication challenge.
    mutating func hear(header: some StringProtocol) {
        guard let (name, value) = header.cut(at: ":"), name.lowercased() == "www-authenticate" else { return }
        wwwAuthenticate.append(String(value.trimmed(of: " \t\r")))
    }
}

extension String {
    /// A tool's URL for a message, which may end up in a log: without its user name and password.
    var displayableURL: String {
        guard let (before, place) = cut(atLast: "@") else { return displayable(limit: 200) }
        let scheme = before.hasBytes("://") ? before.cut(at: ":").map { "\($0.0)://" } ?? "" : ""
        return "\(scheme)…@\(place)".displayable(limit: 200)
    }
}

extension Credential {
    /// The expiry, in seconds since 1970; nil for never, or if it isn't known.
    ///
    /// It is limited to what all tools can read: years from 1970 to 9999.
    package var end: Int? { expiresOn.map { min(max($0, 0), 253_402_300_799) } }

    /// The expiry in RFC 3339 format; nil for never, or if it isn't known.
    package var expiry: String? { end.map { Moment.utc($0) } }
}
