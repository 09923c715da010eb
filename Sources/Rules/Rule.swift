import Addresses
public import Claims
public import Model
import Secrets
public import SettingsFile
import Terminal

/// A rule that maps URLs to a token: its authority, application, scopes and account.
public struct Rule: Sendable, Equatable {
    /// The URLs that the rule is for.
    public var pattern: URLPattern
    /// The authority's URL; empty for that of the identity.
    public var authority: String
    /// The application's client ID, or a well-known client's name; nil for the configuration's `client-id`.
    public var clientID: String?
    /// The scopes of the token; empty for those that a manifest specifies for the authority's issuers.
    public var scopes: [String]
    /// Which token of the sign-in it gives.
    public var token = TokenRequest.Kind.access
    /// The resource indicators of the token, each an absolute URI (RFC 8707).
    public var resourceIndicators: [String] = []
    /// The plugin's name of an exchange for the token; nil for what a manifest specifies for the host, usually the
    /// token itself.
    public var exchange: String?
    /// The parameters of the exchange, which only its plugin understands.
    public var exchangeParameters: [String: String] = [:]
    /// The account, by user name or home account ID; nil for the selected or only one.
    public var account: String?
    /// The name of the identity that signs in without a user; nil for the configuration's default, or a user.
    public var identity: String?
    /// The kind of authority, if the URL's form doesn't show it: `aad` or `b2c`.
    public var kind: String?
    /// The hosts of the authority's pages and endpoints, besides that of its URL.
    public var issuerHosts: [String] = []
    /// Where the credential is looked up, as `NAME` or `NAME:REFERENCE`; nil if it is a token of an authority.
    public var source: String?
    /// The parameters of a sign-in.
    public var signIn = SignInParameters()
    /// A key that isn't known here, and may restrict the rule, so that it gives nothing; nil if all are known.
    public var unknownKey: String?
    /// The file with the rule; empty if it hasn't been written yet.
    public var file = ""
    /// The line at which the rule begins, from 1.
    public var line: Int?

    /// The keys of a rule.
    public static let keys =
        [
            "url", "authority", "client-id", "scopes", "token", "resource-indicators", "exchange",
            "exchange-parameters", "account", "identity", "kind", "issuer-hosts", "source",
        ]
        + SignInParameter.ofRules.map(\.setting)

    /// Creates a rule with its required fields, to be written.
    public init(pattern: URLPattern, authority: String, scopes: [String]) {
        self.pattern = pattern
        self.authority = authority
        self.scopes = scopes
    }

    /// Parses a `[[rule]]` table.
    ///
    /// If a key is unknown, only the URL is read.
    ///
    /// - Throws: `SettingsError` if a key is missing or invalid.
    public init(_ table: SettingsTable) throws(SettingsError) {
        guard let url = try table.string("url") else { throw table.error(nil, "a rule needs `url`") }
        guard let pattern = URLPattern(url) else {
            throw table.error(
                "url", "`url` is not a URL: \(url)",
                hint: "write it like \"\(Example.url)\"")
        }
        self.pattern = pattern
        (authority, scopes) = ("", [])
        (file, line) = (table.file, table.line)
        unknownKey = table.keys.first { !Self.keys.contains($0) }
        guard unknownKey == nil else { return }
        if let text = try table.source() {
            source = text
            return
        }
        identity = try table.identityName("identity")
        guard let authority = try table.string("authority") ?? identity.map({ _ in "" }) else {
            throw table.error(
                nil, "a rule needs `authority`, or `source`",
                hint: "such as authority = \"\(Example.authority)\"")
        }
        let scopes = try table.strings("scopes")
        guard scopes?.isEmpty != true else {
            throw table.error(
                "scopes", "`scopes` must hold at least one string",
                hint: "such as \(Example.scopes)")
        }
        if let wrong = scopes?.firstIndex(where: { !$0.isScopeToken }) {
            throw table.error(
                "scopes", element: wrong, "a scope cannot contain spaces, quotes or control characters",
                hint: "one string per scope")
        }
        let indicators = try table.strings("resource-indicators") ?? []
        if let wrong = indicators.firstIndex(where: { !StrictURL.isResourceIndicator($0) }) {
            throw table.error(
                "resource-indicators", element: wrong, "a resource indicator is an absolute URI without a fragment",
                hint: "such as resource-indicators = [\"https://api.contoso.com\"]")
        }
        resourceIndicators = indicators
        self.authority = table.keys.contains("authority") ? try table.authority(authority) : ""
        self.scopes = scopes ?? []
        if let name = try table.string("token") {
            guard let kind = TokenRequest.Kind(rawValue: name) else {
                throw table.error("token", "`token` is access or id", hint: "such as token = \"id\"")
            }
            token = kind
        }
        clientID = try table.clientID()
        exchange = try table.exchange()
        if let parameters = try table.table("exchange-parameters") {
            for name in parameters.keys { exchangeParameters[name] = try parameters.string(name) }
        }
        account = try table.string("account")
        if identity != nil, account != nil {
            throw table.error("account", "`account` and `identity` contradict each other", hint: "keep one of them")
        }
        kind = try table.string("kind")
        let hosts = try table.strings("issuer-hosts") ?? []
        issuerHosts = hosts.compactMap { RequestHost($0)?.withoutOwnPort(of: "https").text }
        if let wrong = hosts.firstIndex(where: { RequestHost($0) == nil }) {
            throw table.error(
                "issuer-hosts", element: wrong, "`issuer-hosts` holds hosts, and no URLs",
                hint: "such as issuer-hosts = [\"login.contoso.com\"]")
        }
        signIn = try table.signIn()
    }
}

extension SettingsTable {
    /// Returns a rule's `source`; nil if it has none.
    fileprivate func source() throws(SettingsError) -> String? {
        guard let text = try string("source") else { return nil }
        let name = text.cut(at: ":")?.0 ?? text[...]
        guard !name.isEmpty, name.utf8.allSatisfy(\.isLowerCaseNameByte),
            !text.utf8.contains(where: { $0 < 0x20 })
        else {
            throw error(
                "source", "`source` must be NAME or NAME:REFERENCE", hint: "such as source = \"pass:git/contoso.com\"")
        }
        if let other = keys.first(where: { !["url", "source"].contains($0) }) {
            throw error(other, "`\(other)` and `source` contradict each other", hint: "keep one of them")
        }
        return text
    }
}

extension String {
    /// The string in TOML syntax, on one line.
    var inTOML: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\u{0}"..."\u{1F}", "\u{7F}":
                text += "\\u00" + [UInt8(ascii: scalar)].hexadecimal
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension Rule: ConfigurationTable {
    /// `rule`.
    public static var key: String { "rule" }
    /// `rules`.
    public static var plural: String { "rules" }
    /// The rules.
    public static var member: WritableKeyPath<Configuration, [Rule]> { \.rules }
    /// Nil: rules have no names.
    public var uniqueName: String? { nil }

    /// The rule as a `[[rule]]` table, to be shown or written.
    public var toml: String {
        var lines = ["[[rule]]", "url       = \(pattern.text.inTOML)"]
        if let source { lines.append("source    = \(source.inTOML)") }
        if !authority.isEmpty { lines.append("authority = \(authority.inTOML)") }
        if let clientID { lines.append("client-id = \(clientID.inTOML)") }
        if !scopes.isEmpty { lines.append("scopes    = \(scopes.inTOML)") }
        if token != .access { lines.append("token     = \(token.rawValue.inTOML)") }
        if let exchange { lines.append("exchange  = \(exchange.inTOML)") }
        if !exchangeParameters.isEmpty { lines.append("exchange-parameters = \(exchangeParameters.inTOML)") }
        if !resourceIndicators.isEmpty { lines.append("resource-indicators = \(resourceIndicators.inTOML)") }
        if let account { lines.append("account   = \(account.inTOML)") }
        if let identity { lines.append("identity  = \(identity.inTOML)") }
        if let kind { lines.append("kind      = \(kind.inTOML)") }
        if !issuerHosts.isEmpty { lines.append("issuer-hosts = \(issuerHosts.inTOML)") }
        lines += signInLines
        return lines.joined(separator: "\n") + "\n"
    }

    /// Whether both say the same, however their URLs are written.
    public func isLike(_ other: Rule) -> Bool {
        var own = self
        own.pattern = other.pattern
        return pattern.means(other.pattern) && own.toml == other.toml
    }

    private var signInLines: [String] {
        SignInParameter.ofRules.compactMap { parameter in
            signIn[parameter].map { "\(parameter.setting) = \($0.inTOML)" }
        }
    }
}

extension SignInParameter.Value {
    fileprivate var inTOML: String {
        switch self {
        case .text(let text): return text.inTOML
        case .number(let number): return String(number)
        case .table(let values): return values.inTOML
        }
    }
}

extension [String: String] {
    /// The texts as an inline table of TOML.
    fileprivate var inTOML: String {
        let pairs = sorted { $0.key < $1.key }.map { "\($0.key.inTOML) = \($0.value.inTOML)" }
        return "{ \(pairs.joined(separator: ", ")) }"
    }
}

extension [String] {
    /// The strings as a TOML array.
    var inTOML: String { "[\(map(\.inTOML).joined(separator: ", "))]" }
}
