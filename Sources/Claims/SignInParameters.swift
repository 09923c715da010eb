import Addresses
import Secrets

/// The parameters of a user's sign-in besides authority, client and scopes, validated before anything is sent.
///
/// They are passed as one value from rules and requests to the plugin.
public struct SignInParameters: Sendable, Equatable {
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
    public mutating func take(_ texts: [SignInParameter: [String]]) throws(SignInParameterError) {
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
    ) throws(SignInParameterError) {
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
                guard !AuthorizationParameters.reserved.contains(name.lowercased()) else { throw .reserved(name) }
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
    ) throws(SignInParameterError) -> [String: String] {
        var pairs: [String: String] = [:]
        for text in texts {
            guard let (name, value) = text.cut(at: "=") else { throw parameter.error(text) }
            pairs[String(name)] = String(value)
        }
        return pairs
    }
}

extension SignInParameterError {
    fileprivate static let tooMany = Self(
        reason: "there are more than \(SignInParameters.mostParameters) extra parameters",
        hint: "remove some; the rule's and the request's are added up")

    /// The error for a parameter that only the protocol, or the authority's plugin, may set.
    public static func reserved(_ name: String) -> Self {
        Self(
            reason: "the parameter `\(name.displayable(limit: 40))` can only be set by lanyard",
            hint: "remove it: lanyard sets it if it is needed")
    }
}
