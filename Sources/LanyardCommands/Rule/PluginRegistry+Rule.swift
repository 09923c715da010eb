import Addresses
import PluginHost
import Rules

extension PluginRegistry {
    /// A rule's authority, as the plugin that serves it has it; nil if none does.
    func match(_ rule: Rule) -> AuthorityMatch? {
        match(authority: rule.authority, kind: rule.kind, isConfigured: true)
    }
}

extension AuthorityMatch {
    /// The scopes that the token for an exchange has, if the manifest says so.
    func scopes(ofExchange name: String, for pattern: URLPattern) -> [String]? {
        let scopes = plugin.exchange(named: name, forHost: pattern.host.text)?.scopes
        return scopes?.isEmpty == false ? scopes : nil
    }
}
