import Claims
public import PluginHost
public import PluginWire
public import Rules

extension TokenAcquirer {
    /// Has a new rule's authority register lanyard as an application of its own; each success makes another one.
    public func registerClient(
        for rule: Rule, at match: AuthorityMatch, named name: String
    ) async throws(PluginError) -> PluginRegistration {
        var ask = pluginRequest(.register, at: rule.authority, match)
        ask.clientName = name
        ask.redirectURI =
            match.plugin.redirect(of: nil, port: rule.signIn.redirectPort)
            ?? match.issuer?.registration.redirectURI ?? match.plugin.redirectURI
        ask.scopes = rule.scopes.isEmpty ? match.issuer?.scopes ?? [] : rule.scopes
        return try await host.register(ask, on: match)
    }
}
