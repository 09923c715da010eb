import Addresses
public import Secrets

/// A parameter that shapes a user's sign-in, by its key in rules.
///
/// Most of its other names follow from that one, and its `row` has the rest.
public enum SignInParameter: String, Sendable, CaseIterable {
    /// OpenID Connect's `prompt`.
    case prompt
    /// The user who will probably sign in.
    case loginHint = "login-hint"
    /// The domain of the user who will probably sign in.
    case domainHint = "domain-hint"
    /// Additional parameters of the sign-in page.
    case queryParameters = "query-parameters"
    /// The port of the loopback redirect.
    case redirectPort = "redirect-port"
    /// The B2C policy that resets a forgotten password.
    case resetPolicy = "reset-policy"
    /// Scopes of other APIs, between spaces, that the user consents to at the same sign-in.
    case alsoConsent = "also-consent"

    /// The types of values.
    public enum Value: Sendable, Equatable {
        case text(String)
        /// A whole number.
        case number(Int)
        /// Texts by name; never empty.
        case table([String: String])
    }

    /// The type of a parameter's value, and which values are right.
    public enum Form: Sendable {
        case text(@Sendable (String) -> Bool)
        case number(ClosedRange<Int>)
        case table
    }

    /// What sets it apart.
    ///
    /// In `wrong`, `%` stands for what isn't right.
    private var row: (form: Form, label: String, isOfRules: Bool, wrong: String, hint: String) {
        switch self {
        case .prompt:
            (
                .text { SignInPrompt(rawValue: $0) != nil }, "prompt", false, "`%` is not a prompt",
                SignInPrompt.hint
            )
        case .loginHint:
            (
                .text(\.isUserName), "hint", false, "a login hint is a user name on one line",
                "write it like alice@contoso.com"
            )
        case .domainHint:
            (
                .text(\.isDomainHint), "domain", true, "`%` is not a domain",
                "write it like contoso.com, or as the authority names a kind of account"
            )
        case .queryParameters:
            (
                .table, "parameter", true, "`%` is not NAME=VALUE in plain characters",
                "write it like ui_locales=de"
            )
        case .redirectPort:
            (
                .number(1024...65_535), "port", true, "a redirect port is a number from 1024 to 65535",
                "register http://localhost with the application, and choose a free port such as 8400"
            )
        case .resetPolicy:
            (
                .text { $0.isParameterName && $0 != "." && $0 != ".." }, "reset", true,
                "`%` is not the name of a policy", "write it like B2C_1_password_reset"
            )
        case .alsoConsent:
            (
                .text(\.isScopeList), "consent", false, "`%` is no scope",
                "write it like api://contoso/Files.Read"
            )
        }
    }

    /// The parameters that rules may have; the others are only in requests.
    public static let ofRules = allCases.filter(\.row.isOfRules)

    /// What it may hold.
    public var form: Form { row.form }
    /// The display name.
    public var label: String { row.label }
    /// The key of a rule.
    public var setting: String { rawValue }
    /// The key in tools' requests and in plugins'; it is a list if it ends in `[]`.
    ///
    /// Every request from git looks all of them up, so they aren't derived.
    public var wireKey: String {
        switch self {
        case .prompt: "prompt"
        case .loginHint: "login_hint"
        case .domainHint: "domain_hint"
        case .queryParameters: "query_parameter[]"
        case .redirectPort: "redirect_port"
        case .resetPolicy: "reset_policy"
        case .alsoConsent: "also_consent"
        }
    }
    /// The option on the command line; the option of a table can be repeated.
    public var option: String { "--\(single)" }
    /// The member in JSON documents.
    public var member: String {
        let words = rawValue.pieces(between: "-").map(String.init)
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private var isTable: Bool { if case .queryParameters = self { true } else { false } }
    /// The name of one value: a table's has several.
    private var single: String { isTable ? String(rawValue.dropLast()) : rawValue }

    /// What a block has of it, such as `SignInParameters.take` reads.
    public func texts(in block: Attributes) -> [String] {
        guard !isTable else { return block.list(wireKey) }
        guard let text = block[wireKey], !text.isEmpty else { return [] }
        return [text]
    }

    /// What is to be said of a text that isn't right.
    func error(_ text: String) -> ParameterError {
        .invalid(row.wrong.replacing(bytes: "%", with: text.displayable(limit: 80)), hint: row.hint)
    }
}

extension SignInParameter.Value {
    /// The same as texts; a table's sorted by name.
    var texts: [String] {
        switch self {
        case .text(let text): [text]
        case .number(let number): [String(number)]
        case .table(let values): values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        }
    }
}

extension ParameterError {
    fileprivate static let tooMany = invalid(
        "there are more than \(SignInParameters.mostParameters) extra parameters",
        hint: "remove some; the rule's and the request's are added up")

    /// The error for a parameter that only the protocol, or the authority's plugin, may set.
    public static func reserved(_ name: String) -> Self {
        invalid(
            "the parameter `\(name.displayable(limit: 40))` can only be set by lanyard",
            hint: "remove it: lanyard sets it if it is needed")
    }
}

extension String {
    /// Whether it consists of letters, digits and other characters that a URL never has to escape.
    var isParameterName: Bool {
        (1...128).contains(utf8.count)
            && utf8.allSatisfy(\.isUnreserved)
    }

    var hasControl: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

    /// Whether it is a list of scopes between spaces (RFC 6749, 3.3).
    fileprivate var isScopeList: Bool {
        (1...8192).contains(utf8.count) && utf8.first != UInt8(ascii: " ")
            && utf8.allSatisfy { (0x20...0x7E).contains($0) && !Array("\"\\".utf8).contains($0) }
    }

    fileprivate var isUserName: Bool { !isEmpty && utf8.count <= 1024 && !hasControl }

    /// Whether it is a domain, or may be a word that stands for a kind of account.
    fileprivate var isDomainHint: Bool {
        (1...253).contains(utf8.count)
            && utf8.allSatisfy { $0.isVisibleASCII && !Array("\"\\<>/?#@&=".utf8).contains($0) }
    }
}

/// The values of `prompt` (OpenID Connect Core 1.0, 3.1.2.1), with `create` of Initiating User Registration via OpenID
/// Connect 1.0.
package enum SignInPrompt: String, Sendable, CaseIterable {
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create

    fileprivate static let hint = "use one of \(allCases.map(\.rawValue).joined(separator: ", "))"
}

/// The parameters of a user's sign-in besides authority, client and scopes, validated before anything is sent.
///
/// They are passed as one value from rules and requests to the plugin.
public struct SignInParameters: Sendable, Equatable {
    /// The protocol's own parameters, which must never be set from outside, whether or not a request has them; a plugin's
    /// manifest has those of its authorities.
    private static let reserved = Set(SignInParameter.allCases.map(\.wireKey)).union([
        "claims", "client_assertion", "client_assertion_type", "client_id", "client_secret", "code",
        "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "id_token_hint", "nonce",
        "redirect_uri", "refresh_token", "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ])

    /// The highest number of additional parameters in a request.
    static let mostParameters = 32

    private var values: [SignInParameter: SignInParameter.Value] = [:]

    /// Creates a value without any parameters.
    public init() {}

    /// OpenID Connect's `prompt`.
    public var prompt: String? {
        get { text(.prompt) }
        set { values[.prompt] = newValue.map { .text($0) } }
    }

    /// The user who will probably sign in; it doesn't require that account.
    public var loginHint: String? {
        get { text(.loginHint) }
        set { values[.loginHint] = newValue.map { .text($0) } }
    }

    /// The domain of the user who will probably sign in.
    public var domainHint: String? {
        get { text(.domainHint) }
        set { values[.domainHint] = newValue.map { .text($0) } }
    }

    /// Additional parameters of the sign-in page.
    public var queryParameters: [String: String] {
        get { if case .table(let table)? = values[.queryParameters] { table } else { [:] } }
        set { values[.queryParameters] = newValue.isEmpty ? nil : .table(newValue) }
    }

    /// The port of the loopback redirect, if it is fixed.
    public var redirectPort: Int? {
        get { if case .number(let port)? = values[.redirectPort] { port } else { nil } }
        set { values[.redirectPort] = newValue.map { .number($0) } }
    }

    /// The B2C policy that resets a forgotten password.
    public var resetPolicy: String? {
        get { text(.resetPolicy) }
        set { values[.resetPolicy] = newValue.map { .text($0) } }
    }

    /// Scopes of other APIs, between spaces, that the user consents to at the same sign-in.
    public var alsoConsent: String? {
        get { text(.alsoConsent) }
        set { values[.alsoConsent] = newValue.map { .text($0) } }
    }

    /// Returns the value of a parameter; nil if it isn't set.
    public subscript(parameter: SignInParameter) -> SignInParameter.Value? { values[parameter] }

    /// What a parameter holds as texts, such as `take` reads.
    public func texts(of parameter: SignInParameter) -> [String] { values[parameter]?.texts ?? [] }

    private func text(_ parameter: SignInParameter) -> String? {
        if case .text(let text)? = values[parameter] { text } else { nil }
    }

    /// Parses texts from a protocol or the command line; they replace existing values.
    ///
    /// For a table, each text adds a `NAME=VALUE`.
    public mutating func apply(_ texts: [SignInParameter: [String]]) throws(ParameterError) {
        for parameter in SignInParameter.allCases {
            guard let texts = texts[parameter], let text = texts.last else { continue }
            let value: SignInParameter.Value =
                switch parameter.form {
                case .text: .text(text)
                case .number: Int(text).map { .number($0) } ?? .text(text)
                case .table: .table(try Self.pairs(texts, of: parameter))
                }
            try set(parameter, to: value)
        }
    }

    /// Sets a parameter; the values of a table are added to the existing ones.
    public mutating func set(
        _ parameter: SignInParameter, to value: SignInParameter.Value
    ) throws(ParameterError) {
        switch (parameter.form, value) {
        case (.text(let isRight), .text(let text)) where isRight(text): values[parameter] = value
        case (.number(let range), .number(let number)) where range.contains(number): values[parameter] = value
        case (.table, .table(let further)):
            let all = queryParameters.merging(further) { $1 }
            guard all.count <= Self.mostParameters else { throw .tooMany }
            for (name, value) in further.sorted(by: { $0.key < $1.key }) {
                guard name.isParameterName, value.utf8.count <= 2048, !value.hasControl else {
                    throw parameter.error("\(name)=\(value)")
                }
                // A plugin refuses these, too, but here the error can point to the line of the rule.
                guard !Self.reserved.contains(name.lowercased()) else { throw .reserved(name) }
            }
            queryParameters = all
        default: throw parameter.error(value.texts.joined(separator: ", "))
        }
    }

    /// Returns the first further parameter among these names in lower case, whatever its own case; nil if there is none.
    public func first(of names: Set<String>) -> String? {
        queryParameters.keys.sorted().first { names.contains($0.lowercased()) }
    }

    /// Parses `NAME=VALUE` texts; if a name occurs several times, the last one counts.
    private static func pairs(
        _ texts: [String], of parameter: SignInParameter
    ) throws(ParameterError) -> [String: String] {
        var pairs: [String: String] = [:]
        for text in texts {
            guard let (name, value) = text.cut(at: "=") else { throw parameter.error(text) }
            pairs[String(name)] = String(value)
        }
        return pairs
    }
}
