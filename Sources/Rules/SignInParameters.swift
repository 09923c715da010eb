import Addresses
import Claims
import Secrets

/// What a person's sign-in may be given besides authority, client and scopes, checked before anything is sent.
public enum SignInParameters {
    /// The most further parameters that a request may have.
    static let mostParameters = 32

    /// Reads `NAME=VALUE` texts.
    ///
    /// - Throws: `SignInParameterError` where one has another form or is the protocol's.
    public static func parameters(_ texts: [String]) throws(SignInParameterError) -> [String: String] {
        var parameters: [String: String] = [:]
        for text in texts {
            guard let (name, value) = text.cut(at: "=") else { throw .malformedParameter(text) }
            parameters[String(name)] = String(value)
        }
        return try checked(parameters)
    }

    /// The same parameters, once every name and value is known to be one.
    static func checked(_ parameters: [String: String]) throws(SignInParameterError) -> [String: String] {
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
    static func bound(_ parameters: [String: String]) throws(SignInParameterError) {
        guard parameters.count <= mostParameters else { throw .tooManyParameters }
    }

    /// A port that a listener of one's own may have.
    public static func port(_ text: String) throws(SignInParameterError) -> Int {
        guard let port = Int(text) else { throw .badPort }
        return try self.port(port)
    }

    static func port(_ port: Int) throws(SignInParameterError) -> Int {
        guard (1024...65_535).contains(port) else { throw .badPort }
        return port
    }

    static func prompt(_ text: String) throws(SignInParameterError) -> String {
        guard AuthorizationParameters.prompts.contains(text) else { throw .unknownPrompt(text) }
        return text
    }

    /// A domain, or a word that stands for a kind of account.
    public static func domain(_ text: String) throws(SignInParameterError) -> String {
        let isName = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !Array("\"\\<>/?#@&=".utf8).contains($0) }
        guard !text.isEmpty, text.utf8.count <= 253, isName else { throw .badDomain(text) }
        return text
    }

    /// A user name on one line.
    public static func loginHint(_ text: String) throws(SignInParameterError) -> String {
        guard !text.isEmpty, text.utf8.count <= 512, !text.hasControl else { throw .badLoginHint }
        return text
    }

    /// The name of a B2C policy, a single segment of a path.
    public static func policy(_ text: String) throws(SignInParameterError) -> String {
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
        case .malformedParameter(let text): "`\(text.displayable(limit: 80))` is no NAME=VALUE of plain characters"
        case .reservedParameter(let name): "the parameter `\(name.displayable(limit: 40))` is the protocol's own"
        case .tooManyParameters: "there are more than \(SignInParameters.mostParameters) further parameters"
        case .badPort: "a redirect port is a number from 1024 to 65535"
        case .unknownPrompt(let text): "`\(text.displayable(limit: 40))` is no prompt"
        case .badDomain(let text): "`\(text.displayable(limit: 80))` is no domain"
        case .badLoginHint: "a login hint is a user name on one line"
        case .badPolicy(let text): "`\(text.displayable(limit: 80))` is no name of a policy"
        }
    }

    /// What to do about it.
    public var hint: String {
        switch self {
        case .malformedParameter: "write it like dc=ESTS-PUB-WEULR1"
        case .tooManyParameters: "take some out; those of the rule and those of the request count together"
        case .reservedParameter: "take it out: lanyard sets it where it is needed"
        case .badPort: "register http://localhost with the application, and choose a free port such as 8400"
        case .unknownPrompt: "use one of \(AuthorizationParameters.prompts.joined(separator: ", "))"
        case .badDomain: "write it like contoso.com, or consumers or organizations"
        case .badLoginHint: "write it like alice@contoso.com"
        case .badPolicy: "write it like B2C_1_password_reset"
        }
    }
}

extension String {
    /// Letters, digits and what a URL never has to escape.
    fileprivate var isParameterName: Bool {
        (1...128).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
                default: false
                }
            }
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
