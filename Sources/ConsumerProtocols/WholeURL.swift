import Addresses
import CredentialEngine
import Rules
import Secrets

extension CredentialRequest {
    /// The request of a tool that sends the whole URL of what it wants, and can't wait for a person.
    ///
    /// Query and fragment are left out: no rule or password is for one.
    init(wholeURL text: String, takesAuthorizations: Bool = false) throws(RequestError) {
        guard !text.hasControlCharacter else { throw .invalid("url") }
        self.init(try RequestURL(String(text.beforeQuery)))
        reach = .above
        isUnattended = true
        self.takesAuthorizations = takesAuthorizations
    }

    /// Hears what a server said in a header, if it is a challenge.
    mutating func hear(header: some StringProtocol) {
        guard let (name, value) = header.cut(at: ":"), name.lowercased() == "www-authenticate" else { return }
        wwwAuthenticate.append(String(value.trimmed(of: " \t\r")))
    }
}

extension String {
    /// A tool's URL in a message, which may end in a log: without the user name and password that may stand in it.
    var displayableURL: String {
        guard let (before, place) = cut(atLast: "@") else { return displayable(limit: 200) }
        let scheme = before.hasBytes("://") ? before.cut(at: ":").map { "\($0.0)://" } ?? "" : ""
        return "\(scheme)…@\(place)".displayable(limit: 200)
    }
}

extension Credential {
    /// When it ends, in seconds since 1970; nil for never, or if that isn't known.
    ///
    /// Every tool can read it: none knows a year before 1970, or of more than four digits.
    package var end: Int? { expiresOn.map { min(max($0, 0), 253_402_300_799) } }

    /// When it ends, as RFC 3339 writes it; nil for never, or if that isn't known.
    package var expiry: String? { end.map { Moment.utc($0) } }
}
