import Addresses
import CredentialEngine
import Rules
import Secrets

extension CredentialRequest {
    /// The request of a tool that sends the whole URL of what it wants, and puts any authorization in its header.
    ///
    /// Query and fragment are left out: no rule or password is for one.
    init(wholeURL text: String) throws(RequestError) {
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        self.init(try RequestURL(String(text[..<(end ?? text.endIndex)])))
        reach = .above
        takesAuthorizations = true
    }

    /// Hears what a server said in a header, if it is a challenge.
    mutating func hear(header: some StringProtocol) {
        guard let (name, value) = header.cut(at: ":"), name.lowercased() == "www-authenticate" else { return }
        wwwAuthenticate.append(String(value.trimmed(of: " \t\r")))
    }
}

extension Credential {
    /// The last second that has a date of four digits in a year.
    private static let lastSecond = 253_402_300_799

    /// When it ends, as RFC 3339 writes it; nil for never, or if that isn't known.
    var expiry: String? {
        expiresOn.map { Moment.utc(min($0, Self.lastSecond)) }
    }
}
