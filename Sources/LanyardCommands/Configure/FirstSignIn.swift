import ArgumentParser
import PluginHost
import Rules
import Secrets
import Terminal

/// What is left to do once the rule for an issuer's own git host is written.
struct FirstSignIn {
    private let context: CommandContext
    private let prompt: Prompt
    private let rule: Rule
    private let issuer: PluginIssuer

    /// Nil if the rule is for no such host, or not for this person alone.
    init?(_ session: Session, _ rule: Rule?, _ prompt: Prompt?) {
        guard session.scope == .user, let rule, let prompt, rule.pattern.ownAuthority != nil,
            let issuer = session.registry.match(authority: rule.authority, kind: rule.kind, isConfigured: true)?.issuer,
            issuer.registration.page != nil
        else { return nil }
        (context, self.prompt, self.rule, self.issuer) = (session.context, prompt, rule, issuer)
    }

    /// Signs the person in, if they agree.
    func offer() async throws {
        let login: ShellCommand = "lanyard login \(rule.pattern.text)"
        if let client = rule.clientID, !issuer.secretFlows.isEmpty {
            let need = issuer.hasFlowsWithoutSecret ? "to sign in with a browser" : "before you sign in"
            context.console.note(
                Hint("\(need), store the client secret of the application", run: "lanyard client secret\(last: client)")
            )
        }
        guard issuer.hasFlowsWithoutSecret, await prompt.accepts("sign in now?") else {
            return context.console.note(Hint("to sign in", run: login))
        }
        var command = try LoginCommand.parse([rule.pattern.text])
        try await command.run(in: context)
    }
}
