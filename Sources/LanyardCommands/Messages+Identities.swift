import PluginWire
import Rules
import Secrets
import Terminal

extension Failure {
    /// Creates the error for an identity whose proof is missing.
    init(unproven identity: Identity, variable: String?) {
        let name = identity.name.displayable(limit: 64)
        if let variable {
            self.init(
                "the variable \(variable) is not set, and the identity \(name) needs it",
                hints: ["set it to the secret, where only this process can read it"])
        } else {
            self.init(
                "no secret is stored for the identity \(name)",
                hints: [Hint("store it", run: "lanyard identity secret \(name)")])
        }
    }

    /// Creates the error for an attempt to sign in with an identity, which isn't a user.
    init(noSignInFor identity: Identity, url: String?) {
        let name = identity.name.displayable(limit: 64)
        self.init(
            "the identity \(name) needs no sign-in",
            hints: [
                Hint("to see whether it gets a token", run: "lanyard identity check \(name)\(last: url)"),
                Hint("to sign in as a person, name the account", write: "--account ACCOUNT"),
            ], status: .usage)
    }

    /// Creates the error for a plugin that got no token for an identity; signing in doesn't help, whatever the
    /// authority says.
    init(_ error: PluginError, plugin: String, of identity: Identity, in context: CommandContext) {
        var hints = error.hints
        let service = PipelineService(context.environment)
        if let advice = service?.advice(on: identity, context.environment) { hints.append(Hint(advice)) }
        if case .machine = identity.source, !identity.lackingVariables.isEmpty {
            let lacking = identity.lackingVariables.joined(separator: " or ")
            hints.append(Hint("the variables describe an application if \(lacking) is set, too"))
        }
        if let wait = error.retryAfter { hints.append("try again in \(wait) seconds") }
        if error.code == .internal, hints.isEmpty {
            hints.append(Hint("see the conversation with the plugin \(plugin)", run: "export LANYARD_TRACE=plugin"))
        }
        if hints.isEmpty, [.throttled, .unavailable].contains(error.code) {
            hints.append("check the network and the proxy settings, then try again")
        }
        if hints.isEmpty {
            let name = identity.name.displayable(limit: 64)
            let place = identity.file.isEmpty ? "" : ", at \(identity.place(context))"
            hints.append(Hint("see what the identity \(name) is\(place)", run: "lanyard identity list"))
        }
        let unset = identity.unsetVariables
        let reason =
            unset.isEmpty
            ? ""
            : "\(unset.joined(separator: " and ")) \(unset.count == 1 ? "is" : "are") not set, so the machine's own "
                + "identity was tried: "
        self.init(reason + Self.words(of: error), hints: hints)
    }

    /// Creates the error for variables that describe no identity: which ones are set, and which are missing.
    init(noIdentityAmong known: [[String]], present: [String]) {
        let nearest = known.filter { !Set($0).isDisjoint(with: present) }
            .min { $0.count { !present.contains($0) } < $1.count { !present.contains($0) } }
        if let nearest {
            let missing = nearest.filter { !present.contains($0) }
            self.init(
                "the variables describe no identity: \(missing.joined(separator: " and ")) missing, required with "
                    + nearest.filter(present.contains).joined(separator: " and "),
                hints: ["set what is missing, or name another identity"])
        } else {
            self.init(
                "the variables describe no identity",
                hints: known.map { Hint("set \($0.joined(separator: ", "))") }
                    + [known.isEmpty ? "name another identity" : "or name another identity"])
        }
    }
}
