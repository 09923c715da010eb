import Addresses
import PluginHost
import Rules

extension PluginRegistry {
    /// Returns a rule's authority, with the plugin that serves it; nil if there is none.
    func match(_ rule: Rule) -> AuthorityMatch? {
        match(authority: rule.authority, kind: rule.kind, isConfigured: true)
    }
}

extension AuthorityMatch {
    /// Returns the scopes of the token for an exchange, if the manifest has any.
    func scopes(ofExchange name: String, for pattern: URLPattern) -> [String]? {
        let scopes = plugin.exchange(named: name, forHost: pattern.host.text)?.scopes
        return scopes?.isEmpty == false ? scopes : nil
    }
}
