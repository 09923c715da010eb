import Claims
public import PluginHost
public import PluginWire
public import Rules

extension TokenAcquirer {
    /// Has a new rule's authority register lanyard as a separate application; each success creates another one.
    public func registerClient(
        for rule: Rule, at match: AuthorityMatch, named name: String
    ) async throws(PluginError) -> PluginRegistration {
        var ask = requests.make(.register, at: rule.authority, match)
        ask.clientName = name
        ask.redirectURI =
            match.plugin.redirect(of: nil, port: rule.signIn.redirectPort)
            ?? match.issuer?.registration.redirectURI ?? match.plugin.redirectURI
        ask.scopes = rule.scopes.isEmpty ? match.issuer?.scopes ?? [] : rule.scopes
        return try await host.register(ask, on: match)
    }

    /// Has an authority delete an application that it has just registered for a rule.
    ///
    /// - Throws: `unsupported` also if the authority didn't say how.
    public func unregister(
        _ client: PluginRegistration, for rule: Rule, at match: AuthorityMatch
    ) async throws(PluginError) {
        guard let management = client.management else {
            throw PluginError(.unsupported, "\(match.environment) did not say how to take it back")
        }
        var ask = requests.make(.unregister, at: rule.authority, match)
        ask.clientID = client.clientID
        ask.registration = management
        try await host.unregister(ask, on: match)
    }
}
