import Addresses
import Model
import Secrets
import Terminal

/// A tool's input so far, up to a maximum size.
struct ToolInput: Sendable {
    /// The maximum size of the input, or of one line, in bytes.
    static let longest = 1 << 20

    /// The input, without lines that were returned.
    private(set) var all: [UInt8] = []
    /// Whether the maximum was exceeded.
    private(set) var isTooLong = false

    /// Appends bytes; past the maximum, discards everything.
    mutating func append(_ more: [UInt8]) {
        all += more
        isTooLong = all.count > Self.longest
        if isTooLong { all = [] }
    }

    /// Appends bytes and goes on reading; past the maximum, ends with this turn.
    mutating func read(_ more: [UInt8], orEnd failure: Turn) -> Turn {
        append(more)
        return isTooLong ? failure : Turn(.read)
    }

    /// The input as text; nil if it isn't UTF-8.
    var text: String? { String(validating: all, as: UTF8.self) }

    /// Removes and returns the next line, without its line feed; nil if there is no complete line.
    mutating func line() -> [UInt8]? {
        guard let end = all.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { all.removeSubrange(...end) }
        return Array(all[..<end])
    }
}

/// What a tool has stored; once it is stored, the engine is asked whether that is what tools get from now on.
struct StoredSecret {
    var secret: Secret?
    /// Whether the engine has been asked.
    private(set) var isCompared = false

    /// Asks the engine what tools get.
    mutating func compare(at request: CredentialRequest) -> Turn {
        isCompared = true
        return Turn(.ask(.get(request)))
    }

    /// Ends, and tells the user if tools get something else: the tool itself says that the login succeeded.
    func end(with credential: Credential?, orTell note: Message) -> Turn {
        credential?.secret == secret ? Turn(.end(0)) : Turn(note: note, .end(0))
    }
}

extension CredentialRequest {
    /// Creates the request of a tool that sends the whole URL and can't wait for a user.
    ///
    /// The query and fragment are dropped: no rule or password applies to them.
    init(wholeURL text: String, takesAuthorizations: Bool = false) throws(ProtocolError) {
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
