import Addresses
import CommandKit
import CredentialEngine
import Model
import PluginHost
import Rules
import Terminal

extension RuleDraft {
    /// That the rule names nobody who signs users in; for a cloud's host, a plugin's identity may do without users.
    var noAuthority: CommandError {
        let missing: Message = "a rule needs an authority"
        guard let finder = session.registry.finder(forHost: pattern.host.text)?.name else {
            return CommandError(missing, hints: [Hint("name it, such as", write: "--authority \(Example.authority)")])
        }
        let known = session.configuration.identity(foundBy: finder)?.name
        let identity: Message = "for what the plugin \(finder) finds on this machine"
        let add = Hint("make an identity of it first", run: "lanyard identity add \(finder) --plugin \(finder)")
        return CommandError(
            missing,
            hints: [Hint("name where you sign in", write: "--authority URL")]
                + [Hint(identity, write: "--identity \(known ?? finder)")] + (known == nil ? [add] : []))
    }

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
