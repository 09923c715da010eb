import Addresses
import CommandKit
import CredentialEngine
import PluginHost
import Rules
import Terminal

extension RuleDraft {
    /// Adds the exchange that the options name.
    ///
    /// - Throws: `CommandError` if the authority's tokens have no such exchange, or the rule could never give what it says.
    func exchange(of rule: inout Rule, _ match: AuthorityMatch) throws(CommandError) {
        if let name = options.exchange {
            let names = session.registry.exchangeNames(at: match)
            guard names.contains(name) else {
                let known: Hint = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
                throw CommandError(
                    "the plugin for \(match.authority) has no exchange \(name)", hints: [known], status: .usage)
            }
        }
        rule.exchange = options.exchange
        guard let mistake = session.registry.mistake(in: rule, at: match) else { return }
        let failure = CommandError(mistake, in: session.context)
        guard case .onlyForExchanges(_, _, let names) = mistake else { throw failure.with(.usage) }
        let other: Message =
            "if \(pattern.host.text) is another name of a service, say of which: \(names.joined(separator: ", "))"
        throw CommandError(
            failure.message, hints: [Hint(other, write: "--exchange \(names.first ?? "NAME")")], status: .usage)
    }
}
