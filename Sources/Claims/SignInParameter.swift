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
    /// The key in consumers' requests and in plugins'; it is a list if it ends in `[]`.
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
    func error(_ text: String) -> SignInParameterError {
        SignInParameterError(
            reason: row.wrong.replacing(bytes: "%", with: text.displayable(limit: 80)), hint: row.hint)
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

extension SignInPrompt {
    fileprivate static let hint = "use one of \(allCases.map(\.rawValue).joined(separator: ", "))"
}

/// The reason why a parameter is invalid.
public struct SignInParameterError: Error, Sendable, Equatable {
    /// The reason, in words for the user.
    public let reason: String
    /// What to do about it.
    public let hint: String
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

    fileprivate var isUserName: Bool { !isEmpty && utf8.count <= 1024 && !hasControl }

    /// Whether it is a domain, or may be a word that stands for a kind of account.
    fileprivate var isDomainHint: Bool {
        (1...253).contains(utf8.count)
            && utf8.allSatisfy { $0.isVisibleASCII && !Array("\"\\<>/?#@&=".utf8).contains($0) }
    }
}
