import Addresses
import Claims
import SettingsFile

extension SettingsTable {
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
                key, "`\(key)` is not a key of a \(table)",
                hint: "move it above the first [[\(table)]]; everything below that belongs to the \(table)")
        } + unknown(besides: known + misplaced)
    }

    /// Refuses such keys.
    func allow(only keys: [String], of table: String) throws(SettingsError) {
        if let fault = unknown(besides: keys, of: table).first { throw fault }
    }

    /// Returns a text that must be of some form, in words for the user; nil if the key is missing.
    func string(
        _ key: String, mustBe form: String, hint: String? = nil, _ isRight: (String) -> Bool
    ) throws(SettingsError) -> String? {
        guard let text = try string(key) else { return nil }
        guard isRight(text) else { throw error(key, "`\(key)` must be \(form)", hint: hint) }
        return text
    }

    /// Returns the table's `client-id`, validated.
    func clientID() throws(SettingsError) -> String? {
        try string("client-id", mustBe: "the application (client) id of an app registration, or a client's name") {
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
            do throws(SignInParameterError) { try signIn.set(parameter, to: value) } catch {
                throw self.error(parameter.setting, "`\(parameter.setting)`: \(error.reason)", hint: error.hint)
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
