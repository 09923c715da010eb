import Addresses
import ArgumentParser
import CommandKit
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition

struct RuleSecretCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Store the client secret of an app.",
        usage: "lanyard rule secret [<options>] <id>",
        discussion: """
            Asks for the secret at a terminal, or reads it from standard input, and keeps it in the keyring. Only the authority \
            receives it. Most authorities give apps like lanyard no secret: store one only if the app's registration shows it.
            """)

    fileprivate static let example = "my-app --authority https://bitbucket.org"

    static let examples: KeyValuePairs = [
        "Store it at a terminal": "lanyard rule secret \(example)",
        "Store it from a file": "lanyard rule secret \(example) <secret.txt",
        "Remove it": "lanyard rule secret \(example) --remove",
    ]

    @Argument(help: ArgumentHelp("The client ID.", valueName: "id"))
    var clientId: String

    @Option(help: ArgumentHelp("The app's authority, if no rule names it or several do.", valueName: "url"))
    var authority: String?

    @Flag(help: "Remove the secret from the keyring.")
    var remove = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true))
        let issuer = try session.issuer(ofClient: clientId, named: authority)
        let kept = KeptSecret.ofClient(clientId, at: issuer)
        guard !remove else { return try await session.removeSecret(kept) }
        let secret = try await kept.typed(for: .storingSecret(of: clientId), session.context)
        try await session.store(secret, as: kept)
    }
}

extension Session {
    /// Returns the issuer of a client: the named one, or the only one for which the configuration uses the client.
    fileprivate func issuer(ofClient id: String, named url: String?) throws(CommandError) -> AuthorityMatch {
        let known = configuration.authorities(ofClient: id)
        let named = url.map { url in (url: url, kind: known.first { $0.url == url.withoutTrailingSlashes }?.kind) }
        var issuers: [AuthorityMatch] = []
        for (url, kind) in named.map({ [$0] }) ?? known {
            guard let match = registry.match(authority: url, kind: kind, isConfigured: true) else {
                throw CommandError(unknownAuthority: url, in: registry)
            }
            if !issuers.contains(where: { AuthorityKey($0) == AuthorityKey(match) }) { issuers.append(match) }
        }
        guard let issuer = issuers.first, issuers.count == 1 else { throw CommandError(issuers, ofClient: id) }
        guard issuer.plugin.supports.contains(.clientSecrets) else {
            throw CommandError(
                "\(issuer.authority.host) doesn't accept client secrets",
                hints: ["register the app as a public client, for mobile and desktop"])
        }
        return issuer
    }
}

extension CommandError {
    /// Creates the error for a client whose issuer isn't known.
    fileprivate init(_ issuers: [AuthorityMatch], ofClient id: String) {
        let names = issuers.map { "\($0.authority)" }.joined(separator: ", ")
        self.init(
            issuers.isEmpty ? "no rule has the client ID \(id)" : "\(id) is a client ID at \(names)",
            hints: [
                Hint("name the authority", write: "--authority \(issuers.first.map { "\($0.authority)" } ?? "URL")")
            ],
            status: .usage)
    }
}

/// Registers lanyard with an issuer, for a rule that is about to be written (RFC 7591).
struct ClientRegistrar {
    let session: Session
    /// Whether the user has agreed in advance.
    let isAgreed: Bool

    /// Returns the client ID from the issuer; if there is a secret, it is in the keyring by then.
    func clientID(for rule: Rule) async throws(CommandError) -> String {
        guard let match = session.registry.match(rule) else {
            throw CommandError(unknownAuthority: rule.authority, in: session.registry)
        }
        guard match.plugin.supports.contains(.register) else {
            throw CommandError(
                "\(match.authority.host) doesn't let programs register apps",
                hints: [match.plugin.registrationHint, Self.byHand].compactMap(\.self))
        }
        try await agree(match)
        // A secret that couldn't be stored would be lost.
        try await session.unlocking(for: nil) { () throws(CommandError) in
            try session.keeping { () throws(KeyringError) in try session.acquirer.requireWritable() }
        }
        let registered = try await register(rule, match)
        let kept = KeptSecret.ofClient(registered.clientID, at: match)
        session.context.console.note("registered lanyard: its client ID is \(kept.owner)")
        if let secret = registered.clientSecret {
            do throws(CommandError) {
                try await session.store(secret, until: registered.secretExpiresAt, as: kept)
            } catch {
                await unregister(registered, rule, match, kept.owner)
                throw error.with("no rule was written: once that works, register again")
            }
        }
        return registered.clientID
    }

    /// Revokes the registration of an app whose secret couldn't be stored, and reports what remains of it.
    private func unregister(
        _ registered: PluginRegistration, _ rule: Rule, _ match: AuthorityMatch, _ name: String
    ) async {
        do throws(PluginError) {
            try await session.acquirer.unregister(registered, for: rule, at: match)
            session.context.console.note("its secret could not be kept, so the registration was undone")
        } catch {
            session.context.console.note(
                "its secret could not be kept, so \(name) is of no use; remove it on the authority's pages: \(error.message)"
            )
        }
    }

    private func agree(_ match: AuthorityMatch) async throws(CommandError) {
        guard !isAgreed else { return }
        guard let prompt = Prompt(session.context) else {
            throw CommandError(
                "there is no terminal to ask you whether to register lanyard at \(match.authority)",
                hints: ["to register without being asked: --yes"], status: .usage)
        }
        guard await prompt.accepts("register lanyard as an app at \(match.authority)?") else {
            throw CommandError("nothing was registered: you did not confirm it", cause: .ofNoAnswer)
        }
    }

    private func register(_ rule: Rule, _ match: AuthorityMatch) async throws(CommandError) -> PluginRegistration {
        do throws(PluginError) {
            return try await session.acquirer.registerClient(for: rule, at: match, named: "lanyard")
        } catch {
            throw CommandError(
                "lanyard was not registered: \(error.message)",
                hints: error.hints + [Self.byHand])
        }
    }

    private static let byHand = Hint("with an app that you have registered, give", write: "--client-id ID")
}
