/// A parameter that shapes a person's sign-in, and what it is called where.
public enum SignInParameter: Sendable, CaseIterable {
    /// OpenID Connect's `prompt`.
    case prompt
    /// Who is likely to sign in.
    case loginHint
    /// The domain of who is likely to sign in.
    case domainHint
    /// Further parameters of the sign-in page.
    case queryParameters
    /// The loopback port that the sign-in comes back to.
    case redirectPort
    /// The B2C policy that resets a forgotten password.
    case resetPolicy

    /// What a parameter holds.
    public enum Value: Sendable, Equatable {
        case text(String)
        /// A whole number.
        case number(Int)
        /// Texts by name.
        case table([String: String])
    }

    /// Those that rules may have; the others are a request's.
    public static let ofRules: [Self] = [.domainHint, .queryParameters, .redirectPort, .resetPolicy]

    // Each name in one place: in settings and options, on the wire, in JSON, and for people.
    private var names: (setting: String, wire: String, json: String, label: String) {
        switch self {
        case .prompt: ("prompt", "prompt", "prompt", "prompt")
        case .loginHint: ("login-hint", "login_hint", "loginHint", "hint")
        case .domainHint: ("domain-hint", "domain_hint", "domainHint", "domain")
        case .queryParameters: ("query-parameters", "query_parameter[]", "queryParameters", "parameter")
        case .redirectPort: ("redirect-port", "redirect_port", "redirectPort", "port")
        case .resetPolicy: ("reset-policy", "reset_policy", "resetPolicy", "reset")
        }
    }

    /// The key of a rule.
    public var setting: String { names.setting }
    /// The key of consumers' requests and of plugins'; a list if it ends in `[]`.
    public var wireKey: String { names.wire }
    /// The member of JSON documents.
    public var member: String { names.json }
    /// What people are shown.
    public var label: String { names.label }
    /// The option on the command line; one of a table is given several times.
    public var option: String { self == .queryParameters ? "--query-parameter" : "--\(names.setting)" }
}
