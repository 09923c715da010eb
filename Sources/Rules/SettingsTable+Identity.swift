import CredentialProtocol
import SettingsFile

extension SettingsTable {
    /// Checks an authority's URL: https, with a host and a path.
    func authority(_ url: String) throws(SettingsError) -> String {
        var text = url
        while text.hasSuffix("/") { text.removeLast() }
        guard let pattern = URLPattern(text), pattern.scheme == "https" else {
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
}
