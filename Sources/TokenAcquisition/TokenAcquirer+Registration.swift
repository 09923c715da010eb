import Claims
import PluginHost
public import PluginWire
public import Rules

extension TokenAcquirer {
    /// Has a new rule's authority register lanyard as an application of its own; each success makes another one.
    public func registerClient(for rule: Rule, named name: String) async throws(AcquisitionError) -> PluginRegistration
    {
        guard let match = registry.match(authority: rule.authority, kind: rule.kind, isConfigured: true) else {
            throw .unknownAuthority(rule.authority)
        }
        let client: PluginClient? = nil
        var ask = PluginRequest(.register)
        ask.authority = rule.authority
        ask.fill(from: match)
        ask.clientName = name
        ask.redirectURI = client.redirect(port: rule.signIn.redirectPort, of: match.plugin) ?? match.plugin.redirectURI
        ask.scopes = rule.scopes.isEmpty ? match.issuer?.scopes ?? [] : rule.scopes
        ask.caFile = caFile
        ask.knownHosts = knownHosts
        ask.correlationID = CorrelationID.make()
        do throws(PluginError) {
            return try await host.register(ask, on: match)
        } catch {
            throw .plugin(error, name: match.plugin.name)
        }
    }
}
