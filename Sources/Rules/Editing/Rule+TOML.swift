import Addresses
import Claims

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
        if !authority.isEmpty { lines.append("authority = \(authority.inTOML)") }
        if let clientID { lines.append("client-id = \(clientID.inTOML)") }
        if !scopes.isEmpty { lines.append("scopes    = \(scopes.inTOML)") }
        if let exchange { lines.append("exchange  = \(exchange.inTOML)") }
        if !resourceIndicators.isEmpty { lines.append("resource-indicators = \(resourceIndicators.inTOML)") }
        if let account { lines.append("account   = \(account.inTOML)") }
        if let identity { lines.append("identity  = \(identity.inTOML)") }
        if let kind { lines.append("kind      = \(kind.inTOML)") }
        if !issuerHosts.isEmpty { lines.append("issuer-hosts = \(issuerHosts.inTOML)") }
        lines += signInLines
        return lines.joined(separator: "\n") + "\n"
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
        case .table(let values):
            let pairs = values.sorted { $0.key < $1.key }.map { "\($0.key.inTOML) = \($0.value.inTOML)" }
            return "{ \(pairs.joined(separator: ", ")) }"
        }
    }
}

extension [String] {
    /// The strings as a TOML array.
    var inTOML: String { "[\(map(\.inTOML).joined(separator: ", "))]" }
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
