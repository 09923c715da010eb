import Addresses
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Registers lanyard with an issuer, for a rule that is about to be written (RFC 7591).
struct ClientRegistrar {
    let session: Session
    /// Whether the user has agreed in advance.
    let isAgreed: Bool

    /// Returns the client ID from the issuer; if there is a secret, it is in the keyring by then.
    func clientID(for rule: Rule) async throws(Failure) -> String {
        guard let match = session.registry.match(rule) else {
            throw Failure(unknownAuthority: rule.authority, in: session.registry)
        }
        guard match.plugin.registers else {
            throw Failure(
                "\(match.authority.host) doesn't let programs register apps",
                hints: [match.plugin.registrationHint, Self.byHand].compactMap(\.self))
        }
        try await agree(match)
        // A secret that couldn't be stored would be lost.
        try await session.unlocking(for: nil) { () throws(Failure) in
            try session.keeping { () throws(StoreError) in try session.acquirer.requireWritable() }
        }
        let registered = try await register(rule, match)
        let kept = KeptSecret.ofClient(registered.clientID, at: match)
        session.context.console.note("registered lanyard: its client ID is \(kept.owner)")
        if let secret = registered.clientSecret {
            do throws(Failure) {
                try await session.store(secret, until: registered.secretExpiresAt, as: kept)
            } catch {
                await takeBack(registered, rule, match, kept.owner)
                throw error.with("no rule was written: once that works, register again")
            }
        }
        return registered.clientID
    }

    /// Revokes the registration of an app whose secret couldn't be stored, and reports what remains of it.
    private func takeBack(
        _ registered: PluginRegistration, _ rule: Rule, _ match: AuthorityMatch, _ name: String
    ) async {
        do throws(PluginError) {
            try await session.acquirer.unregister(registered, for: rule, at: match)
            session.context.console.note("its secret could not be kept, so the registration was undone")
        } catch {
            let reason = error.message.displayable(limit: 300)
            session.context.console.note(
                "its secret could not be kept, so \(name) is of no use; remove it on the issuer's pages: \(reason)")
        }
    }

    private func agree(_ match: AuthorityMatch) async throws(Failure) {
        guard !isAgreed else { return }
        guard let prompt = Prompt(session.context) else {
            throw Failure(
                "there is no terminal to ask you whether to register lanyard at \(match.authority)",
                hints: ["to register without being asked: --yes"], status: .usage)
        }
        guard await prompt.accepts("register lanyard as an app at \(match.authority)?") else {
            throw Failure("nothing was registered: you did not confirm it", cause: .ofNoAnswer)
        }
    }

    private func register(_ rule: Rule, _ match: AuthorityMatch) async throws(Failure) -> PluginRegistration {
        do throws(PluginError) {
            return try await session.acquirer.registerClient(for: rule, at: match, named: "lanyard")
        } catch {
            throw Failure(
                "lanyard was not registered: \(error.message.displayable(limit: 500))",
                hints: error.hints + [Self.byHand])
        }
    }

    private static let byHand = Hint("with an app that you have registered, give", write: "--client-id ID")
}
