import Addresses
import Claims
import PluginWire
import Secrets
import SettingsFile
import Terminal

/// An identity that environment variables describe: an `[[identity]]` table.
///
/// Its texts are templates: `{NAME}` stands for a variable's value, and `{NAME:TEXT}` for the value or, if there is
/// none, the text.
public struct IdentityPattern: Sendable, Equatable {
    /// The variables that must be set and not empty.
    public var variables: [String] = []
    /// The values of the manifest's selecting variable with which the row applies, in lower case; empty for any.
    public var selectors: [String] = []
    /// The authority's URL; nil for a machine's own identity.
    public var authority: String?
    /// The application's client ID.
    public var clientID: String?
    /// The variable with the client secret.
    public var secretVariable: String?
    /// The file with the certificate and its key.
    public var certificate: String?
    /// The variable with the certificate's password, if it is set.
    public var certificatePasswordVariable: String?
    /// The source of assertions.
    public var assertion: String?
    /// The one of the machine's identities to use.
    public var managed: String?
    /// Why the identity that these variables describe isn't supported: a sentence without a full stop.
    public var refusal: String?
    /// Whether it is the machine's own identity only because the variables describe no application.
    public var isAssumed = false
}

/// The identity that the variables describe, according to the first manifest that knows them.
public enum IdentityFound: Sendable, Equatable {
    /// This identity, with its templates filled in.
    case identity(IdentityPattern)
    /// An invalid value in this variable, and what it must be.
    case wrong(variable: String, what: String)
    /// No identity; with the sets of variables that would describe one.
    case nothing([[String]])
}

extension PluginRegistry {
    /// Returns the identity that the variables describe, by the first row of a manifest whose variables are all set.
    public func identity(in environment: [String: String]) -> IdentityFound {
        for plugin in plugins where !plugin.identityPatterns.isEmpty {
            let selector = plugin.selector(in: environment)
            let selected = plugin.identityPatterns.filter { $0.isSelected(by: selector) }
            if let name = plugin.identitySelector, selector != nil, selected.isEmpty {
                let known = plugin.identityPatterns.flatMap(\.selectors)
                let names = known.enumerated().filter { !known[..<$0.offset].contains($0.element) }.map(\.element)
                return .wrong(variable: name, what: "one of \(names.joined(separator: ", "))")
            }
            if let pattern = selected.first(where: { $0.isDescribed(by: environment) }) {
                return pattern.filledIn(from: environment, isAssumed: selected.contains { $0.managed == nil })
            }
        }
        return .nothing(
            plugins.flatMap { plugin in
                let selector = plugin.selector(in: environment)
                return plugin.identityPatterns.filter { $0.refusal == nil && $0.isSelected(by: selector) }
            }.map(\.variables).filter { !$0.isEmpty })
    }

    /// Returns the match of a placeholder authority, which stands for identities that a plugin finds on this machine; nil
    /// for any other URL, or if the plugin isn't there or finds none.
    ///
    /// Its host and realm are those that their tokens are stored under, such as `localhost` and `managed_identity`.
    public func machine(authority text: String) -> AuthorityMatch? {
        guard let name = MachineIdentity.plugin(ofAuthority: text), let url = AuthorityURL(text),
            let plugin = claimants.first(where: { $0.name == name && $0.identities.contains(.managed) })
        else { return nil }
        return AuthorityMatch(
            plugin: plugin, authority: url, environment: url.host, environmentHosts: [url.host], realm: url.path[0],
            sharedRealm: nil, policy: nil)
    }

    /// The names of all variables that may describe identities.
    public var identityVariables: Set<String> {
        Set(
            plugins.flatMap { plugin in
                plugin.variables + plugin.identityPatterns.flatMap(\.variablesRead)
                    + [plugin.identitySelector].compactMap(\.self)
            })
    }
}

extension PluginManifest {
    /// The value of the variable that selects among the identities; nil if there is none.
    fileprivate func selector(in environment: [String: String]) -> String? {
        identitySelector.flatMap { environment[$0] }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension IdentityPattern {
    /// All variables that the row depends on: the required ones, and those in its templates.
    var variablesRead: [String] {
        let texts = [authority, clientID, certificate, assertion, managed].compactMap(\.self)
        return variables + texts.flatMap { Template($0).variables }
            + [secretVariable, certificatePasswordVariable].compactMap(\.self)
    }

    /// Whether a value of the selecting variable means the row; nil if the variable isn't set.
    func isSelected(by selector: String?) -> Bool {
        guard let selector, !selectors.isEmpty else { return true }
        return selectors.contains { $0.isSame(as: selector.lowercased()) }
    }

    fileprivate func isDescribed(by environment: [String: String]) -> Bool {
        variables.allSatisfy { environment[$0]?.isEmpty == false }
    }

    fileprivate func filledIn(from environment: [String: String], isAssumed: Bool) -> IdentityFound {
        var filled = self
        filled.isAssumed = managed != nil && isAssumed
        func fill(_ text: String?, isURL: Bool = false) throws(SettingsError) -> String? {
            try text.map { text throws(SettingsError) in try Template(text).filledIn(environment, isURL: isURL) }
        }
        do throws(SettingsError) {
            filled.authority = try fill(authority, isURL: true)
            filled.clientID = try fill(clientID)
            filled.certificate = try fill(certificate)
            filled.assertion = try fill(assertion)
            filled.managed = try fill(managed)
        } catch {
            return .wrong(variable: error.file, what: error.message.text)
        }
        if environment[certificatePasswordVariable ?? ""]?.isEmpty ?? true { filled.certificatePasswordVariable = nil }
        return .identity(filled)
    }
}

/// A text with `{NAME}` and `{NAME:TEXT}` placeholders.
private struct Template {
    private enum Part {
        case text(Substring)
        case variable(String, fallback: String?)
    }

    private let parts: [Part]

    init(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].utf8.firstIndex(of: UInt8(ascii: "}"))
        {
            parts.append(.text(rest[..<open]))
            let inside = String(rest[rest.utf8.index(after: open)..<close])
            let pair = inside.cut(at: ":")
            parts.append(.variable(pair.map { String($0.0) } ?? inside, fallback: pair.map { String($0.1) }))
            rest = rest[rest.utf8.index(after: close)...]
        }
        self.parts = parts + [.text(rest)]
    }

    var variables: [String] {
        parts.compactMap { part in
            if case .variable(let name, _) = part { name } else { nil }
        }
    }

    /// Inserts the values; in a URL, a value at the start must be a host or an https URL, and any other a single
    /// segment of the path.
    ///
    /// - Throws: An error whose file is the variable, and whose message is what it must be.
    func filledIn(_ environment: [String: String], isURL: Bool) throws(SettingsError) -> String {
        var filled = ""
        for part in parts {
            switch part {
            case .text(let text): filled += text
            case .variable(let name, let fallback):
                let value = environment[name].flatMap { $0.isEmpty ? nil : $0 }
                guard let text = value ?? fallback else { throw SettingsError(file: name, message: "set") }
                guard text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                    throw SettingsError(file: name, message: "a short text without control characters")
                }
                filled += isURL ? try Self.urlPart(text, of: name, isFirst: filled.isEmpty) : text
            }
        }
        return filled
    }

    private static func urlPart(_ text: String, of name: String, isFirst: Bool) throws(SettingsError) -> String {
        guard isFirst else {
            guard text.isPathName else {
                throw SettingsError(file: name, message: "letters, digits, dots and hyphens")
            }
            return text
        }
        guard let authority = AuthorityURL(text.withHTTPS) else {
            throw SettingsError(file: name, message: "an https URL of a host")
        }
        return authority.description
    }
}

extension SettingsTable {
    /// Parses an `[[identity]]` table of a manifest.
    func identityPattern() throws(SettingsError) -> IdentityPattern {
        var pattern = IdentityPattern()
        pattern.variables = try list("variables", .fieldName)
        pattern.selectors = try list("selectors", .token(64)).map { $0.lowercased() }
        pattern.authority = try text("authority", .text(2048))
        pattern.clientID = try text("client-id", .text(512))
        for proof in try requiredList("proof", .text(512)) { try read(proof, into: &pattern) }
        let ways = [
            pattern.secretVariable, pattern.certificate, pattern.assertion, pattern.managed, pattern.refusal,
        ]
        guard ways.count(where: { $0 != nil }) == 1,
            pattern.certificatePasswordVariable == nil || pattern.certificate != nil
        else {
            throw error(
                "proof", "`proof` is not one proof",
                hint: "only certificate: may have another beside it, password-variable:")
        }
        let needsAuthority = pattern.managed == nil && pattern.refusal == nil
        guard !needsAuthority || (pattern.authority != nil && pattern.clientID != nil) else {
            throw error(nil, "an [[identity]] of an application needs `authority` and `client-id`")
        }
        return pattern
    }

    /// Reads one proof, `WAY:VALUE`.
    private func read(_ proof: String, into pattern: inout IdentityPattern) throws(SettingsError) {
        let pair = proof.cut(at: ":")
        let value = pair.map { String($0.1) } ?? ""
        switch pair?.0 {
        case "secret-variable" where WireForm.fieldName.accepts(value): pattern.secretVariable = value
        case "certificate" where !value.isEmpty: pattern.certificate = value
        case "password-variable" where WireForm.fieldName.accepts(value): pattern.certificatePasswordVariable = value
        case "assertion" where !value.isEmpty: pattern.assertion = value
        case "managed" where !value.isEmpty: pattern.managed = value
        case "refusal" where !value.isEmpty: pattern.refusal = value
        default:
            throw error(
                "proof", "`proof` holds \"\(proof)\", which can't be used",
                hint: "write secret-variable:NAME, certificate:FILE, assertion:SOURCE, managed:IDENTITY or refusal:WHY")
        }
    }
}

/// Values in a manifest become part of messages or paths, so each must have the form of its kind.
extension SettingsTable {
    /// The highest number of values in a list, and of tables of one kind.
    private static let mostValues = 256

    /// Returns a text of this form; nil if the key is missing.
    func text(_ key: String, _ form: WireForm) throws(SettingsError) -> String? {
        guard let text = try string(key) else { return nil }
        guard !text.isEmpty else { throw error(key, "`\(key)` is empty") }
        guard form.accepts(text) else {
            throw error(key, "`\(key)` is \"\(text)\", which can't be used", hint: Self.rule(of: key))
        }
        return text
    }

    func requiredText(_ key: String, _ form: WireForm) throws(SettingsError) -> String {
        guard let text = try text(key, form) else { throw error(nil, "`\(key)` is missing") }
        return text
    }

    /// Returns texts of this form; none if the key is missing.
    func list(_ key: String, _ form: WireForm) throws(SettingsError) -> [String] {
        let texts = try strings(key) ?? []
        guard texts.count <= Self.mostValues else { throw error(key, "`\(key)` holds more than \(Self.mostValues)") }
        if let wrong = texts.firstIndex(where: { !form.accepts($0) }) {
            throw error(
                key, element: wrong, "`\(key)` holds \"\(texts[wrong])\", which can't be used",
                hint: Self.rule(of: key))
        }
        return texts
    }

    /// What the values of a key that authors get wrong must be.
    private static func rule(of key: String) -> Message? {
        switch key {
        case "hosts", "git-hosts", "other-hosts":
            "write a host such as id.example.com or *.example.com, without https://, a path or :443"
        case "name", "kind", "kinds", "options", "parameters", "clients", "broker-of":
            "use 1 to 64 of a to z, 0 to 9 and -"
        case "path": "write segments after slashes, without blanks: /{realm}"
        case "scopes", "other-scopes", "repository-scopes": "write one scope in each text, without blanks"
        case "redirect-uri": "write an https URL, or one of http on localhost or 127.0.0.1"
        default: nil
        }
    }

    /// Returns texts of this form, at least one.
    func requiredList(_ key: String, _ form: WireForm) throws(SettingsError) -> [String] {
        let texts = try list(key, form)
        guard !texts.isEmpty else { throw error(key, "`\(key)` must hold at least one string") }
        return texts
    }

    /// Returns the groups of hosts that are one environment each, the host for requests first.
    func environments() throws(SettingsError) -> [[String]] {
        let key = "environments"
        return try list(key, .text(2048)).map { text throws(SettingsError) in
            let hosts = text.lowercased().pieces(between: " ").map(String.init)
            guard hosts.count > 1, hosts.allSatisfy(WireForm.host.accepts) else {
                throw error(
                    key, "`\(key)` holds \"\(text)\", which can't be used",
                    hint: "write the hosts of one environment, with blanks between them")
            }
            return hosts
        }
    }

    /// Returns the tables `[[key]]`.
    func each(_ key: String) throws(SettingsError) -> [SettingsTable] {
        let tables = try tables(key)
        guard tables.count <= Self.mostValues else {
            throw error(key, "there are more than \(Self.mostValues) tables [[\(key)]]")
        }
        return tables
    }
}

extension PluginManifest {
    /// Whether a text can be a plugin's name: 1 to 64 of a to z, 0 to 9 and `-`.
    package static func isName(_ text: String) -> Bool { WireForm.pluginName.accepts(text) }
}

extension WireForm {
    /// A variable's name, or the beginning of names before a `*`, or a file's path below the folder that a variable names.
    static let variableOrFile = WireForm(limit: 256) { text in
        let (name, path) = text.cut(at: "/") ?? (text.hasSuffix("*") ? text.dropLast() : text[...], nil)
        return String(name).isVariableName && path.map { !$0.isEmpty && $0.utf8.allSatisfy(\.isVisibleASCII) } ?? true
    }
    /// A plugin's name, which becomes part of paths and messages.
    static let pluginName = WireForm(limit: 64, allows: \.isPluginName)
    /// A host, which may begin with one or more `*.`.
    static let hostPattern = WireForm(limit: 261) { pattern in
        var name = pattern.lowercased()[...]
        while name.utf8.starts(with: "*.".utf8) { name = Substring(name.utf8.dropFirst(2)) }
        return HostName.isCanonical(String(name)) && !name.hasSuffix(":443")
    }
    /// A host with `*` for any labels except the last two, such as `sts.*.amazonaws.com`.
    static let exchangeHost = WireForm(limit: 261) { pattern in
        let labels = pattern.lowercased().pieces(between: ".", omittingEmpty: false)
        return HostName.isCanonical(labels.map { $0.isSame(as: "*") ? "x" : String($0) }.joined(separator: "."))
            && (labels.count == 1 || !labels.suffix(2).contains { $0.isSame(as: "*") })
            && !labels.allSatisfy { $0.isSame(as: "*") }
    }
    /// An endpoint: an https URL, or a path below an authority's URL.
    static let endpoint = WireForm(limit: 2048) { text in
        text.utf8.first == UInt8(ascii: "/") ? token(2048).accepts(text) : securePage.accepts(text)
    }
    /// A host pattern, or `*` for any host that the configuration names.
    static let anyHostPattern = WireForm(limit: 261) { $0 == "*" || hostPattern.accepts($0) }
}
