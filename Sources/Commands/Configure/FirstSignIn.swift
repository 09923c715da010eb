import ArgumentParser
import CommandKit
import Keyring
import Model
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition

/// The remaining steps once the rule for an issuer's own git host is written.
struct FirstSignIn {
    private let session: Session
    private let prompt: Prompt
    private let rule: Rule
    private let match: AuthorityMatch
    private let issuer: PluginIssuer

    /// Returns nil if the rule isn't for such a host, or not for this user alone.
    init?(_ session: Session, _ rule: Rule?, _ prompt: Prompt?) {
        guard session.scope == .user, let rule, let prompt, rule.pattern.ownAuthority != nil,
            let match = session.registry.match(rule),
            let issuer = match.issuer, issuer.registration.page != nil
        else { return nil }
        (self.session, self.prompt, self.rule, self.match, self.issuer) = (session, prompt, rule, match, issuer)
    }

    /// Whether the rule is the administrator's, whose app has no secret that users know.
    private var isOfSystem: Bool {
        rule.file == Configuration.systemFile || rule.file.hasPrefix(Configuration.appsFolder + "/")
    }

    /// Stores the client's secret, if there is one, and signs the user in if they agree or have agreed.
    func offer(isAgreed: Bool) async throws {
        if rule.line != nil, !isOfSystem {
            let place = rule.place(session.context)
            let text: Message = "nobody has signed in yet; if its client ID is wrong, edit"
            session.context.console.note(Hint(text, write: place))
        }
        let canSignIn = try await telling("no client secret is kept and nobody has signed in") {
            try await ensureClientSecret()
        }
        var goesOn = canSignIn
        if goesOn, !isAgreed { goesOn = await prompt.accepts("sign in now?") }
        guard goesOn else {
            return session.context.console.note(Hint("to sign in", run: "lanyard login \(rule.pattern.text)"))
        }
        try await telling("nobody has signed in") {
            var command = try LoginCommand.parse([rule.pattern.text])
            try await command.run(in: session.context)
        }
    }

    /// Runs a step; if the keyring can't be used, its error says what is done and how to continue.
    private func telling<Result>(_ lack: Message, _ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let failure as CommandError where failure.cause.isOfKeyring {
            let text: Message =
                "git is set up and the rule is written, but \(lack); once the keyring works, continue with"
            throw failure.with(Hint(text, run: "lanyard configure git \(rule.pattern.text)"))
        }
    }

    /// Asks for the client's secret unless it is stored or not needed; false if no sign-in works without it.
    private func ensureClientSecret() async throws(CommandError) -> Bool {
        guard !issuer.secretFlows.isEmpty, let clientID = session.configuration.clientID(of: rule) else { return true }
        let stored = try await session.unlocking(for: nil) { () throws(CommandError) in
            try session.keeping { () throws(KeyringError) in
                try session.clientSecrets.secret(of: clientID, at: match)
            }
        }
        guard stored == nil, issuer.needsSecret || !isOfSystem else { return true }
        let question: Message = issuer.needsSecret ? "client secret" : "client secret, or Enter to sign in with a code"
        if let text = await prompt.line(question, echo: false), !text.isEmpty {
            try await session.store(Secret(text), as: .ofClient(clientID, at: match))
            return true
        }
        if issuer.needsSecret {
            session.context.console.note(Hint("store it before you sign in", run: .storingSecret(of: clientID)))
        }
        return !issuer.needsSecret
    }
}
