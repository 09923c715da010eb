/// A rule to be written.
public struct NewRule: Sendable, Equatable {
    /// The URLs.
    public var pattern: URLPattern
    /// The authority's URL.
    public var authority: String
    /// The application's client id; nil for the configuration's.
    public var clientID: String?
    /// The scopes of the token.
    public var scopes: [String]
    /// The account, where the rule is one account's.
    public var account: String?
    /// The kind of authority, where its URL doesn't tell.
    public var kind: String?
    /// The domain of who signs in.
    public var domainHint: String?
    /// Further parameters of the sign-in page, checked.
    public var queryParameters: [String: String] = [:]
    /// The loopback port that the sign-in comes back to, where it is fixed.
    public var redirectPort: Int?
    /// The B2C policy that resets a forgotten password.
    public var resetPolicy: String?

    /// Makes a rule of what every rule has.
    public init(pattern: URLPattern, authority: String, scopes: [String]) {
        self.pattern = pattern
        self.authority = authority
        self.scopes = scopes
    }

    /// The rule as a `[[rule]]` table, to be shown or written.
    public var text: String {
        var lines = ["[[rule]]", "url       = \(pattern.text.inTOML)", "authority = \(authority.inTOML)"]
        if let clientID { lines.append("client-id = \(clientID.inTOML)") }
        lines.append("scopes    = [\(scopes.map(\.inTOML).joined(separator: ", "))]")
        if let account { lines.append("account   = \(account.inTOML)") }
        if let kind { lines.append("kind      = \(kind.inTOML)") }
        lines += signInLines
        return lines.joined(separator: "\n") + "\n"
    }

    private var signInLines: [String] {
        var lines: [String] = []
        if let domainHint { lines.append("domain-hint = \(domainHint.inTOML)") }
        if !queryParameters.isEmpty {
            let parameters = queryParameters.sorted { $0.key < $1.key }.map { "\($0.key.inTOML) = \($0.value.inTOML)" }
            lines.append("query-parameters = { \(parameters.joined(separator: ", ")) }")
        }
        if let redirectPort { lines.append("redirect-port = \(redirectPort)") }
        if let resetPolicy { lines.append("reset-policy = \(resetPolicy.inTOML)") }
        return lines
    }

    /// Whether a rule that was read is this one.
    func isMeant(by rule: Rule) -> Bool {
        rule.pattern == pattern && rule.authority == authority && rule.clientID == clientID && rule.scopes == scopes
            && rule.account == account && rule.kind == kind && rule.domainHint == domainHint
            && rule.queryParameters == queryParameters && rule.redirectPort == redirectPort
            && rule.resetPolicy == resetPolicy
    }
}

extension String {
    /// The text as a TOML string on one line.
    fileprivate var inTOML: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\u{0}"..."\u{1F}", "\u{7F}":
                text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
