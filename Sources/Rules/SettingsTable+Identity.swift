import Addresses
import SettingsFile

extension SettingsTable {
    /// Checks an authority's URL: https, with a host and a path.
    func authority(_ url: String) throws(SettingsError) -> String {
        let text = url.withoutTrailingSlashes
        guard let place = StrictURL(text), place.scheme == "https", place.user == nil, !place.hasQueryOrFragment else {
            throw error(
                "authority", "`authority` must be an https URL",
                hint: "such as \"https://login.microsoftonline.com/organizations\"")
        }
        return text
    }

    /// The table's `client-id`, checked.
    func clientID() throws(SettingsError) -> String? {
        guard let id = try string("client-id") else { return nil }
        guard id.isScopeToken, id.utf8.count <= 256 else {
            throw error("client-id", "`client-id` must be the application (client) id of an app registration")
        }
        return id
    }

    /// A key that is for the person's sign-in, checked.
    func signIn<Value, Checked>(
        _ key: String, _ value: Value?, _ check: (Value) throws(SignInParameterError) -> Checked
    ) throws(SettingsError) -> Checked? {
        guard let value else { return nil }
        do throws(SignInParameterError) { return try check(value) } catch {
            throw self.error(key, "`\(key)`: \(error.reason)", hint: error.hint)
        }
    }

    /// The table `query-parameters`, checked; empty where there is none.
    func queryParameters() throws(SettingsError) -> [String: String] {
        guard let table = try table("query-parameters") else { return [:] }
        var parameters: [String: String] = [:]
        for key in table.keys { parameters[key] = try table.string(key) }
        return try signIn("query-parameters", parameters, SignInParameters.checked) ?? [:]
    }
}
