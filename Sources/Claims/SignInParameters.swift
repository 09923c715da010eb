import Addresses
import Secrets

/// What a person's sign-in is given besides authority, client and scopes, checked before anything is sent.
///
/// It goes as one value from rules and requests to the plugin.
public struct SignInParameters: Sendable, Equatable {
    /// OpenID Connect's `prompt`.
    public var prompt: String?
    /// Who is likely to sign in, if that is no wish for one account.
    public var loginHint: String?
    /// The domain of who is likely to sign in.
    public var domainHint: String?
    /// Further parameters of the sign-in page, checked.
    public var queryParameters: [String: String] = [:]
    /// The loopback port that the sign-in comes back to, if it is fixed.
    public var redirectPort: Int?
    /// The B2C policy that resets a forgotten password.
    public var resetPolicy: String?

    /// Makes parameters of which none is given.
    public init() {}

    /// Reads texts as they come over a wire or from a command line; those given take the place of what is there.
    ///
    /// Of a table each text adds a `NAME=VALUE`.
    public mutating func take(_ texts: [SignInParameter: [String]]) throws(SignInParameterError) {
        for parameter in SignInParameter.allCases {
            guard let texts = texts[parameter], let text = texts.last else { continue }
            switch parameter {
            case .queryParameters: try set(parameter, to: .table(Self.pairs(texts)))
            case .redirectPort:
                guard let port = Int(text) else { throw .badPort }
                try set(parameter, to: .number(port))
            default: try set(parameter, to: .text(text))
            }
        }
    }

    /// Sets a parameter; a table's values add to those that are there.
    public mutating func set(
        _ parameter: SignInParameter, to value: SignInParameter.Value
    ) throws(SignInParameterError) {
        switch (parameter, value) {
        case (.prompt, .text(let text)): prompt = try Self.prompt(text)
        case (.loginHint, .text(let text)): loginHint = try Self.loginHint(text)
        case (.domainHint, .text(let text)): domainHint = try Self.domain(text)
        case (.resetPolicy, .text(let text)): resetPolicy = try Self.policy(text)
        case (.redirectPort, .number(let number)): redirectPort = try Self.port(number)
        case (.queryParameters, .table(let values)):
            queryParameters.merge(try Self.checked(values)) { $1 }
            try Self.bound(queryParameters)
        default: preconditionFailure("a sign-in parameter of another form")
        }
    }

    /// What a parameter holds; nil if it isn't given.
    public subscript(parameter: SignInParameter) -> SignInParameter.Value? {
        switch parameter {
        case .prompt: prompt.map { .text($0) }
        case .loginHint: loginHint.map { .text($0) }
        case .domainHint: domainHint.map { .text($0) }
        case .queryParameters: queryParameters.isEmpty ? nil : .table(queryParameters)
        case .redirectPort: redirectPort.map { .number($0) }
        case .resetPolicy: resetPolicy.map { .text($0) }
        }
    }

    /// What a parameter holds as texts, such as `take` reads; a table's sorted by name.
    public func texts(of parameter: SignInParameter) -> [String] {
        switch self[parameter] {
        case nil: []
        case .text(let text)?: [text]
        case .number(let number)?: [String(number)]
        case .table(let values)?: values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        }
    }
}

extension SignInParameters {
    /// The most further parameters that a request may have.
    static let mostParameters = 32

    /// Reads `NAME=VALUE` texts; of one name the last counts.
    private static func pairs(_ texts: [String]) throws(SignInParameterError) -> [String: String] {
        var parameters: [String: String] = [:]
        for text in texts {
            guard let (name, value) = text.cut(at: "=") else { throw .malformedParameter(text) }
            parameters[String(name)] = String(value)
        }
        return parameters
    }

    /// The same parameters, once every name and value is known to be one.
    private static func checked(_ parameters: [String: String]) throws(SignInParameterError) -> [String: String] {
        try bound(parameters)
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            guard name.isParameterName, value.utf8.count <= 2048, !value.hasControl else {
                throw .malformedParameter("\(name)=\(value)")
            }
            // A plugin refuses them too; here the error can name the line of the rule.
            guard !AuthorizationParameters.reserved.contains(name.lowercased()) else { throw .reservedParameter(name) }
        }
        return parameters
    }

    /// Refuses more parameters than a request may have, wherever they come from.
    private static func bound(_ parameters: [String: String]) throws(SignInParameterError) {
        guard parameters.count <= mostParameters else { throw .tooManyParameters }
    }

    /// A port that a listener of one's own may have.
    private static func port(_ port: Int) throws(SignInParameterError) -> Int {
        guard (1024...65_535).contains(port) else { throw .badPort }
        return port
    }

    private static func prompt(_ text: String) throws(SignInParameterError) -> String {
        guard AuthorizationParameters.prompts.contains(text) else { throw .unknownPrompt(text) }
        return text
    }

    /// A domain, or a word that stands for a kind of account.
    private static func domain(_ text: String) throws(SignInParameterError) -> String {
        let isName = text.utf8.allSatisfy { $0.isVisibleASCII && !Array("\"\\<>/?#@&=".utf8).contains($0) }
        guard !text.isEmpty, text.utf8.count <= 253, isName else { throw .badDomain(text) }
        return text
    }

    /// A user name on one line.
    private static func loginHint(_ text: String) throws(SignInParameterError) -> String {
        guard !text.isEmpty, text.utf8.count <= 1024, !text.hasControl else { throw .badLoginHint }
        return text
    }

    /// The name of a B2C policy, a single segment of a path.
    private static func policy(_ text: String) throws(SignInParameterError) -> String {
        guard text.isParameterName, text != ".", text != ".." else { throw .badPolicy(text) }
        return text
    }
}

/// Why a sign-in can't be given a parameter.
public enum SignInParameterError: Error, Sendable, Equatable {
    /// Not of the form `NAME=VALUE`, or too long.
    case malformedParameter(String)
    /// The protocol's own.
    case reservedParameter(String)
    /// More than `mostParameters`.
    case tooManyParameters
    /// No port from 1024 on.
    case badPort
    /// No prompt of OpenID Connect's.
    case unknownPrompt(String)
    /// No domain.
    case badDomain(String)
    /// Empty, too long or with control characters.
    case badLoginHint
    /// No name of a policy.
    case badPolicy(String)

    /// What is wrong, for a person.
    public var reason: String {
        switch self {
        case .malformedParameter(let text): "`\(text.displayable(limit: 80))` is not NAME=VALUE in plain characters"
        case .reservedParameter(let name):
            "the parameter `\(name.displayable(limit: 40))` is set by the protocol itself"
        case .tooManyParameters: "there are more than \(SignInParameters.mostParameters) extra parameters"
        case .badPort: "a redirect port is a number from 1024 to 65535"
        case .unknownPrompt(let text): "`\(text.displayable(limit: 40))` is not a prompt"
        case .badDomain(let text): "`\(text.displayable(limit: 80))` is not a domain"
        case .badLoginHint: "a login hint is a user name on one line"
        case .badPolicy(let text): "`\(text.displayable(limit: 80))` is not the name of a policy"
        }
    }

    /// What to do about it.
    public var hint: String {
        switch self {
        case .malformedParameter: "write it like ui_locales=de"
        case .tooManyParameters: "remove some; the rule's and the request's are added up"
        case .reservedParameter: "remove it: lanyard sets it when needed"
        case .badPort: "register http://localhost with the application, and choose a free port such as 8400"
        case .unknownPrompt: "use one of \(AuthorizationParameters.prompts.joined(separator: ", "))"
        case .badDomain: "write it like contoso.com, or as the authority names a kind of account"
        case .badLoginHint: "write it like alice@contoso.com"
        case .badPolicy: "write it like B2C_1_password_reset"
        }
    }
}

extension String {
    /// Letters, digits and what a URL never has to escape.
    fileprivate var isParameterName: Bool {
        (1...128).contains(utf8.count) && utf8.allSatisfy(\.isUnreserved)
    }

    fileprivate var hasControl: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }
}
