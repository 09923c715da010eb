import Addresses
import Claims
public import Model
public import SettingsFile
import Terminal

extension Identity {
    /// What the name of an identity or a forward is, in words for the user.
    static let formOfNames: Message = "a short word of letters, digits, `.`, `_` and `-`"

    /// The keys of an identity.
    public static let keys = [
        "name", "authority", "kind", "client-id", "secret", "secret-variable", "certificate", "certificate-password",
        "certificate-password-variable", "assertion", "subject-token", "audience", "managed", "plugin",
    ]

    /// Parses an `[[identity]]` table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or invalid, or if there is more than one proof.
    public init(_ table: SettingsTable) throws(SettingsError) {
        try table.allow(only: Self.keys, of: "identity")
        let name = try table.string("name", mustBe: Self.formOfNames, hint: "such as \"release\"", Self.isName)
        guard let name else { throw table.error(nil, "an identity needs `name`") }
        guard !Self.builtIn.contains(where: { $0.name == name }) else {
            throw table.error("name", "`\(name)` is built in, and needs no table", hint: "choose another name")
        }
        self.init(name: name, source: try table.identitySource())
        file = table.file
        line = table.line
    }

    /// Returns the identity as parsed from its own table.
    ///
    /// - Throws: `SettingsError` if no file may have such a table.
    public func checked() throws(SettingsError) -> Identity {
        guard let identity = try Configuration("", toml).identities.first else { return self }
        return identity.anywhere
    }

    /// Whether a text can be a source of assertions: a short name, which may be followed by `:` and an argument.
    public static func isAssertionSource(_ text: String) -> Bool {
        guard text.utf8.count <= 4096, !text.hasControlCharacter else { return false }
        let name = text.cut(at: ":").map { String($0.0) } ?? text
        if ["file", "command"].contains(name) { return text.utf8.starts(with: "\(name):/".utf8) }
        if name.isSame(as: "variable") { return String(text.utf8.dropFirst(9))?.isVariableName ?? false }
        return isName(name)
    }

    /// Returns the variable with the assertion itself, if the source is one (`variable:NAME`); otherwise nil.
    public static func variable(ofAssertion source: String) -> String? {
        guard let (kind, name) = source.cut(at: ":"), kind.isSame(as: "variable") else { return nil }
        return String(name)
    }

    /// The variable with its secret, its certificate's password or the assertion itself; nil if there is none.
    public var secretVariable: String? {
        switch application?.proof {
        case .secret(.variable(let name)), .certificate(_, password: .variable(let name)),
            .subject(_, secret: .variable(let name)):
            name
        case .assertion(let source): Self.variable(ofAssertion: source)
        default: nil
        }
    }
}

extension SettingsTable {
    fileprivate func identitySource() throws(SettingsError) -> Identity.Source {
        let isKept = try boolean("secret") ?? false
        var ways = ["managed", "subject-token", "secret", "secret-variable", "certificate", "assertion"].filter { key in
            keys.contains(key) && (isKept || !key.isSame(as: "secret"))
        }
        // Whoever exchanges a token may have to say who asks for that.
        if ways.first == "subject-token", ways.count == 2, ways[1].utf8.starts(with: "secret".utf8) {
            ways.removeLast()
        }
        if !ways.contains("managed"), keys.contains("plugin") { ways.insert("plugin", at: 0) }
        guard let way = ways.first else {
            throw error(
                nil,
                "an identity needs a proof such as `certificate`, `secret` or `assertion`, or else `managed` or `plugin`",
                hint: "such as secret = true, then: lanyard identity secret NAME")
        }
        guard ways.count == 1 else {
            throw error(ways[1], "`\(way)` and `\(ways[1])` contradict each other", hint: "keep one of them")
        }
        guard ["managed", "plugin"].contains(way) else { return .application(try application(proving: way)) }
        let plugin = try string(
            "plugin", mustBe: "the name of a plugin: lower-case letters, digits and `-`", \.isPluginName)
        return .machine(try managedID() ?? "system", plugin: plugin ?? MachineIdentity.plugin)
    }

    private func managedID() throws(SettingsError) -> String? {
        if let wrong = ["authority", "client-id", "kind", "audience"].first(where: keys.contains) {
            throw error(
                wrong, "a managed identity has no `\(wrong)`: its platform or plugin knows it",
                hint: "for a user-assigned one, write managed = \"client-id:ID\"")
        }
        return try string(
            "managed", mustBe: "\"system\", or one of client-id:, object-id: and resource-id: with an id",
            hint: "such as managed = \"client-id:\(Example.clientID)\"", \.isManagedIdentity)
    }

    private func application(proving way: String) throws(SettingsError) -> Identity.Application {
        guard let url = try string("authority") else {
            throw error(nil, "an identity needs `authority`", hint: "such as authority = \"\(Example.authority)\"")
        }
        guard let clientID = try clientID() else {
            throw error(nil, "an identity needs `client-id`", hint: "the ID of its app registration")
        }
        return Identity.Application(
            authority: try authority(url), kind: try string("kind"), clientID: clientID, proof: try proof(way),
            audience: try string("audience", mustBe: "up to 1024 characters without spaces") {
                $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (1...1024).contains($0.utf8.count)
            })
    }

    private func proof(_ way: String) throws(SettingsError) -> Identity.Proof {
        let password = try certificatePassword(isAllowed: way.isSame(as: "certificate"))
        switch way {
        case "secret": return .secret(.keyring)
        case "secret-variable": return .secret(.variable(try variable(way)))
        case "certificate":
            let path = try string(way, mustBe: "an absolute path", hint: "such as \"/etc/contoso/release.pem\"") {
                $0.hasPrefix("/") && $0.utf8.count <= 4096 && !$0.hasControlCharacter
            }
            return .certificate(path: path ?? "", password: password)
        default:
            let source = try string(way) ?? ""
            guard Identity.isAssertionSource(source) else {
                throw error(
                    way, "`\(way)` must name where the token comes from",
                    hint: "such as \"github-actions\", \"kubernetes\" or \"file:/path\"")
            }
            guard way.isSame(as: "subject-token") else { return .assertion(source) }
            let isKept = try boolean("secret") ?? false
            let variable = try keys.contains("secret-variable") ? variable("secret-variable") : nil
            return .subject(source, secret: isKept ? .keyring : variable.map(Identity.Keeper.variable))
        }
    }

    private func certificatePassword(isAllowed: Bool) throws(SettingsError) -> Identity.Keeper? {
        let (asked, named) = ("certificate-password", "certificate-password-variable")
        if !isAllowed, let wrong = [asked, named].first(where: keys.contains) {
            throw error(wrong, "`\(wrong)` goes with `certificate` only")
        }
        let isKept = try boolean(asked) ?? false
        guard keys.contains(named) else { return isKept ? .keyring : nil }
        guard !isKept else { throw error(named, "`\(asked)` and `\(named)` contradict each other") }
        return .variable(try variable(named))
    }

    private func variable(_ key: String) throws(SettingsError) -> String {
        try string(
            key, mustBe: "the name of a variable, not a secret", hint: "such as \"RELEASE_SECRET\"", \.isVariableName)
            ?? ""
    }

    /// Returns an authority's URL if it is valid: https, with a host and a path.
    func authority(_ url: String, key: String = "authority") throws(SettingsError) -> String {
        let text = url.withoutTrailingSlashes
        guard AuthorityURL(text) != nil else {
            throw error(
                key, "`\(key)` must be an https URL without a user name, a query, a fragment, escapes, `//` or `..`",
                hint: "such as \"\(Example.wideAuthority)\"")
        }
        return text
    }

    /// Returns an error for each key that a `[[rule]]` or the like can't have; a top-level key may have been put below
    /// the table's header.
    func unknown(besides known: [String], of table: String) -> [SettingsError] {
        let misplaced = keys.filter { !known.contains($0) && Configuration.keys.contains($0) }
        return misplaced.map { key in
            error(
                key, "`\(key)` is not a key of [[\(table)]]",
                hint: "move it above the first [[\(table)]]; everything below that belongs to the \(table)")
        } + unknown(besides: known + misplaced)
    }

    /// Refuses such keys.
    func allow(only keys: [String], of table: String) throws(SettingsError) {
        if let fault = unknown(besides: keys, of: table).first { throw fault }
    }

    /// Returns a text that must be of some form, in words for the user; nil if the key is missing.
    func string(
        _ key: String, mustBe form: Message, hint: Message? = nil, _ isRight: (String) -> Bool
    ) throws(SettingsError) -> String? {
        guard let text = try string(key) else { return nil }
        guard isRight(text) else { throw error(key, "`\(key)` must be \(form)", hint: hint) }
        return text
    }

    /// Returns the table's `client-id`, validated.
    func clientID() throws(SettingsError) -> String? {
        try string("client-id", mustBe: "the application (client) id of an app registration, or an app's name") {
            $0.isScopeToken && $0.utf8.count <= 256
        }
    }

    /// Returns the name of an identity, validated; its table may be in another file.
    func identityName(_ key: String) throws(SettingsError) -> String? {
        try string(
            key, mustBe: "the name of an identity", hint: "such as \(key) = \"environment\"", Identity.isName)
    }

    /// Returns the table's `exchange`, validated.
    func exchange() throws(SettingsError) -> String? {
        try string("exchange", mustBe: "the name of a plugin's [[exchange]]", hint: "such as exchange = \"acr\"") {
            $0.isScopeToken && $0.utf8.count <= 64
        }
    }

    /// Returns the parameters of a sign-in, validated.
    func signIn() throws(SettingsError) -> SignInParameters {
        var signIn = SignInParameters()
        for parameter in SignInParameter.ofRules {
            guard let value = try value(of: parameter) else { continue }
            do throws(ParameterError) { try signIn.set(parameter, to: value) } catch {
                throw self.error(parameter.setting, "`\(parameter.setting)`: \(error.reason)", hint: "\(error.hint)")
            }
        }
        return signIn
    }

    private func value(of parameter: SignInParameter) throws(SettingsError) -> SignInParameter.Value? {
        switch parameter.form {
        case .text: return try string(parameter.setting).map { .text($0) }
        case .number: return try integer(parameter.setting).map { .number($0) }
        case .table:
            guard let table = try table(parameter.setting) else { return nil }
            var values: [String: String] = [:]
            for key in table.keys { values[key] = try table.string(key) }
            return .table(values)
        }
    }
}

extension Identity: ConfigurationTable {
    /// `identity`.
    public static var key: String { "identity" }
    /// `identities`.
    public static var plural: String { "identities" }
    /// The identities.
    public static var member: WritableKeyPath<Configuration, [Identity]> { \.identities }
    /// Its name.
    public var uniqueName: String? { name }

    /// The identity as an `[[identity]]` table, to be shown or written; a built-in one has none.
    public var toml: String {
        var lines = ["[[identity]]", "name      = \(name.inTOML)"]
        switch source {
        case .application(let application): lines += application.lines
        case .machine(let id, MachineIdentity.plugin): lines.append("managed   = \(id.inTOML)")
        case .machine(let id, let plugin):
            lines.append("plugin    = \(plugin.inTOML)")
            if !id.isSame(as: "system") { lines.append("managed   = \(id.inTOML)") }
        case .environment: break
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Identity.Application {
    fileprivate var lines: [String] {
        var lines = ["authority = \(authority.inTOML)", "client-id = \(clientID.inTOML)"]
        if let kind { lines.append("kind      = \(kind.inTOML)") }
        if let audience { lines.append("audience  = \(audience.inTOML)") }
        return lines + proof.lines
    }
}

extension Identity.Proof {
    fileprivate var lines: [String] {
        switch self {
        case .secret(.keyring): ["secret    = true"]
        case .secret(.variable(let name)): ["secret-variable = \(name.inTOML)"]
        case .certificate(let path, nil): ["certificate = \(path.inTOML)"]
        case .certificate(let path, .keyring): ["certificate = \(path.inTOML)", "certificate-password = true"]
        case .certificate(let path, .variable(let name)):
            ["certificate = \(path.inTOML)", "certificate-password-variable = \(name.inTOML)"]
        case .assertion(let source): ["assertion = \(source.inTOML)"]
        case .subject(let source, let keeper):
            ["subject-token = \(source.inTOML)"] + (keeper.map { Identity.Proof.secret($0).lines } ?? [])
        }
    }
}
