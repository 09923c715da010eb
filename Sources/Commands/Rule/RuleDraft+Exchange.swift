import Addresses
import CommandKit
import PluginHost
import Rules
import Terminal

extension RuleDraft {
    /// Returns the exchange that the options name; nil if they name none.
    ///
    /// - Throws: `CommandError` if the authority's tokens have no such exchange, or it takes no such parameter.
    func exchange(_ match: AuthorityMatch) throws(CommandError) -> String? {
        let (registry, host) = (session.registry, pattern.host.text)
        if let name = options.exchange {
            let names = registry.exchangeNames(at: match)
            guard names.contains(name) else {
                let known: Hint = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
                throw CommandError(
                    "the plugin for \(match.authority) has no exchange \(name)", hints: [known], status: .usage)
            }
        }
        let row = registry.exchange(named: options.exchange, forHost: host, at: match)
        let known = row?.parameters ?? []
        if let unknown = options.exchangeParameters.keys.sorted().first(where: { !known.contains($0) }) {
            throw CommandError(
                .unknownExchangeParameter(unknown, exchange: row?.name ?? "none", known: known), in: session.context)
        }
        return options.exchange
    }
}
