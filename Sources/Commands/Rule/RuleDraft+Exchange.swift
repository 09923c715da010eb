import Addresses
import CommandKit
import CredentialEngine
import PluginHost
import Rules
import Terminal

extension RuleDraft {
    /// Returns the exchange that the options name; nil if they name none.
    ///
    /// - Throws: `CommandError` if the authority's tokens have no such exchange, or it takes no such parameter; also if they are
    ///   only for exchanges, and there is none for the host.
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
        let isExchanged = row != nil || pattern.hasWildcard
        if let error = registry.misuse(at: match, host: host, isExchanged: isExchanged, token: options.token) {
            let failure = CommandError(error, in: session.context)
            guard case .onlyForExchanges(_, _, let names) = error else { throw failure.with(.usage) }
            let other: Message =
                "if \(host) is another name of a service, say of which: \(names.joined(separator: ", "))"
            throw CommandError(
                failure.message, hints: [Hint(other, write: "--exchange \(names.first ?? "NAME")")], status: .usage)
        }
        let known = row?.parameters ?? []
        if let unknown = options.exchangeParameters.keys.sorted().first(where: { !known.contains($0) }) {
            throw CommandError(
                .unknownExchangeParameter(unknown, exchange: row?.name ?? "none", known: known), in: session.context)
        }
        return options.exchange
    }
}
