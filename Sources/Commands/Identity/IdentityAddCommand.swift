import Addresses
import ArgumentParser
import Claims
import CommandKit
import CredentialEngine
import Files
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition

struct IdentityAddCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an identity.",
        usage: """
            lanyard identity add [<options>] <name> --authority <url> --client-id <id> <proof>
            lanyard identity add [<options>] <name> --managed <id>
            lanyard identity add [<options>] <name> --plugin <plugin> [--managed <id>]
            """,
        discussion: """
            An application proves itself by a certificate, a client secret, or an assertion: a token of the platform that \
            it runs on. A managed identity is the machine's own, and a plugin may find one in a cloud's settings. No secret \
            is ever an argument.
            """)

    static let examples: KeyValuePairs = [
        "An application with a certificate": """
        lanyard identity add \(IdentityCommand.example) \\
          --authority \(Example.authority) \\
          --client-id \(Example.clientID) \\
          --certificate /etc/contoso/release.pem
        """,
        "An application that trusts GitHub Actions": """
        lanyard identity add \(IdentityCommand.example) \\
          --authority \(Example.authority) \\
          --client-id \(Example.clientID) \\
          --assertion github-actions
        """,
        "A GitHub App, with the private key that GitHub gave it": """
        lanyard identity add bot \\
          --authority https://github.com \\
          --client-id Iv23liExample \\
          --certificate /etc/contoso/bot.private-key.pem
        """,
        "A user-assigned managed identity of this machine": """
        lanyard identity add deploy \\
          --managed client-id:\(Example.clientID)
        """,
    ]

    @Argument(help: "The name: letters, digits, '.', '_' and '-'.")
    var name: String

    @OptionGroup var place: ScopeOptions
    @OptionGroup(title: "Application") var application: ApplicationOptions

    @Option(
        help: ArgumentHelp(
            "A managed identity: system, or client-id:, object-id: or resource-id: with an identifier.",
            valueName: "id"))
    var managed: String?

    @Option(
        help: ArgumentHelp("The plugin that finds the identity on this machine by itself.", valueName: "plugin"))
    var plugin: String?

    @Flag(name: [.customLong("dry-run"), .customShort("n")], help: "Show the change without making it.")
    var dryRun = false

    mutating func validate() throws {
        guard managed != nil || plugin != nil else { return try application.requireComplete() }
        guard application.isEmpty else {
            throw ValidationError("a managed identity has neither an authority nor a proof of its own")
        }
        guard managed?.isManagedIdentity ?? true else {
            throw ValidationError(
                "--managed takes system, or client-id:, object-id: or resource-id: with an identifier")
        }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, of: place.scope, isToBeWritten: true)
        let identity = try identity(session)
        let console = session.context.console
        // A script may run again.
        if let same = try session.tables.same(identity) {
            return console.note("the identity \(same.name) is there already, at \(same.place(session.context))")
        }
        let file = session.context.short(session.tables.file)
        guard !dryRun else {
            console.note("this would be added to \(file):")
            for line in identity.toml.pieces(between: "\n") { console.note("  \(line.description)") }
            return
        }
        try session.tables.write(identity)
        console.note("added the identity \(identity.name) to \(file)")
        // A token for a repository needs a rule for its host first.
        let perRepository = try? session.match(identity)
        let next: ShellCommand =
            if identity.isKeptInKeyring {
                "lanyard identity secret \(identity.name)"
            } else if let host = perRepository, host.issuer?.repositoryScopes != nil {
                "lanyard configure git \("\(host.authority)") --identity \(identity.name)"
            } else {
                "lanyard identity check \(identity.name)"
            }
        console.note(Hint("next", run: next))
    }

    private func identity(_ session: Session) throws(CommandError) -> Identity {
        let source: Identity.Source =
            if managed == nil, plugin == nil {
                .application(try application.application(session))
            } else {
                .machine(managed ?? "system", plugin: try finder(session))
            }
        do throws(SettingsError) { return try Identity(name: name, source: source).checked() } catch {
            throw CommandError(error.message, hints: error.hints, status: .usage)
        }
    }

    /// Returns the plugin that finds the identity.
    private func finder(_ session: Session) throws(CommandError) -> String {
        guard let plugin else { return MachineIdentity.plugin }
        let known = session.registry.plugins.filter { $0.identities.contains(.managed) }.map(\.name)
        guard known.contains(plugin) else {
            throw CommandError(
                MachineIdentity.lack(ofPlugin: plugin),
                hints: [Hint("those that do are \(known.joined(separator: ", "))")], status: .usage)
        }
        return plugin
    }
}

/// Options for an application's identity and what proves it.
struct ApplicationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The authority, such as \(Example.authority).", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("The client ID of the app registration.", valueName: "id"))
    var clientId: String?

    @Option(help: ArgumentHelp("The kind of authority, if its URL doesn't show it.", valueName: "kind"))
    var kind: String?

    @Option(help: ArgumentHelp("The service that the tokens are for, by its name there.", valueName: "name"))
    var audience: String?

    @Option(help: ArgumentHelp("A file with the certificate and its key: PEM or PKCS #12.", valueName: "path"))
    var certificate: String?

    @Flag(help: "The certificate's password is in the keyring.")
    var certificatePassword = false

    @Option(help: ArgumentHelp("The variable that has the certificate's password.", valueName: "variable"))
    var certificatePasswordVariable: String?

    @Flag(help: "The client secret is in the keyring.")
    var secret = false

    @Option(help: ArgumentHelp("The variable that has the client secret.", valueName: "variable"))
    var secretVariable: String?

    /// All sources of assertions of the plugins that come with lanyard.
    static let assertions = [
        "github-actions", "gitlab", "azure-pipelines", "kubernetes", "hcp-terraform", "file:PATH", "command:PATH",
        "variable:NAME",
    ]

    @Option(
        help: ArgumentHelp(
            "The source of an assertion: \(assertions.joined(separator: ", ")), ...", valueName: "source"))
    var assertion: String?

    @Option(
        help: ArgumentHelp("The source of a token to exchange (RFC 8693), as for --assertion.", valueName: "source"))
    var subjectToken: String?

    @Flag(help: "Accept an authority at a host that no plugin knows.")
    var trustAuthority = false

    private var proofs: [String] {
        [
            ("--certificate", certificate != nil), ("--secret", secret && subjectToken == nil),
            ("--secret-variable", secretVariable != nil && subjectToken == nil), ("--assertion", assertion != nil),
            ("--subject-token", subjectToken != nil),
        ].filter(\.1).map(\.0)
    }

    var isEmpty: Bool {
        authority == nil && clientId == nil && kind == nil && audience == nil && proofs.isEmpty
            && !certificatePassword && certificatePasswordVariable == nil
    }

    func requireComplete() throws {
        guard authority != nil else {
            throw ValidationError("give --authority, or --managed or --plugin for one of this machine")
        }
        guard clientId != nil else { throw ValidationError("give --client-id: the ID of the app registration") }
        guard let proof = proofs.first else {
            throw ValidationError(
                "give what proves the identity: --certificate, --secret, --secret-variable, --assertion or "
                    + "--subject-token")
        }
        if proofs.count > 1 { throw ValidationError("give \(proof) or \(proofs[1]), not both") }
        guard certificatePassword || certificatePasswordVariable != nil else { return }
        if certificate == nil { throw ValidationError("a certificate's password needs --certificate") }
        if certificatePassword, certificatePasswordVariable != nil {
            throw ValidationError("give --certificate-password or --certificate-password-variable, not both")
        }
    }

    /// Returns the application.
    ///
    /// - Throws: `CommandError` if no plugin serves the authority, or if its host is unknown and the options don't confirm
    ///   it.
    func application(_ session: Session) throws(CommandError) -> Identity.Application {
        let url = session.registry.authority(typed: authority ?? "").withoutTrailingSlashes
        guard let match = session.registry.match(authority: url, kind: kind, isConfigured: true) else {
            throw CommandError(unknownAuthority: url, in: session.registry)
        }
        let application = Identity.Application(
            authority: url, kind: kind, clientID: clientId ?? "", proof: proof, audience: audience)
        if let lack = match.lack(of: application) {
            let others = Hint("see which plugins there are", run: "lanyard plugin list")
            let key = Hint("give that", write: "--certificate /path/to/its.private-key.pem")
            throw CommandError(lack, hints: [match.plugin.identities.contains(.client) ? key : others])
        }
        guard trustAuthority || session.trusts(authorityHost: match.authority.host) else {
            throw CommandError(
                unknownHost: match.authority, twin: session.registry.lookAlike(of: match.authority.host))
        }
        return application
    }

    private var proof: Identity.Proof {
        let keeper = secretVariable.map(Identity.Keeper.variable)
        if let subjectToken { return .subject(subjectToken, secret: keeper ?? (secret ? .keyring : nil)) }
        if let keeper { return .secret(keeper) }
        if let assertion { return .assertion(assertion) }
        guard let certificate else { return .secret(.keyring) }
        let password =
            certificatePasswordVariable.map(Identity.Keeper.variable) ?? (certificatePassword ? .keyring : nil)
        return .certificate(path: certificate.absolutePath, password: password)
    }
}

/// A secret of an application's that is kept in the keyring.
struct KeptSecret {
    /// The kind of secret, such as `client secret`.
    let what: String
    /// The owner, for users.
    let owner: String
    let key: ClientSecretStore.Owner

    /// The client secret of an app at an issuer.
    static func ofClient(_ id: String, at match: AuthorityMatch) -> KeptSecret {
        KeptSecret(
            what: "client secret", owner: "\(id.displayable(limit: 100)) at \(match.authority)",
            key: ClientSecretStore.Owner(id, at: AuthorityKey(match)))
    }

    /// What the user types for it, or a program passes to the command that wants it.
    func typed(for command: ShellCommand, _ context: CommandContext) async throws(CommandError) -> Secret {
        try await SecretInput(name: what, command: command).read(context, asking: "\(what) of \(owner)")
    }
}

extension Session {
    /// Returns the secret that an identity has in the keyring.
    ///
    /// - Throws: `CommandError` if it has none there.
    func keptSecret(of identity: Identity) throws(CommandError) -> KeptSecret {
        let name = identity.name.displayable(limit: 64)
        let isPassword: Bool
        switch identity.application?.proof {
        case .secret(.keyring), .subject(_, secret: .keyring): isPassword = false
        case .certificate(_, password: .keyring): isPassword = true
        default:
            throw CommandError(
                "the identity \(name) keeps no secret in the keyring: it is proved by \(identity.displayedProof)",
                hints: [
                    Hint("to have one kept, at \(identity.place(context))", write: "secret = true"),
                    Hint("or", write: "certificate-password = true"),
                ])
        }
        let owner = ClientSecretStore.Owner(identity.clientID, at: AuthorityKey(try match(identity)))
        return KeptSecret(
            what: isPassword ? "password of the certificate" : "client secret", owner: "the identity \(name)",
            key: isPassword ? owner.ofCertificate : owner)
    }

    /// Keeps a secret, and when it ends, in seconds since 1970.
    func store(_ secret: Secret, until end: Int? = nil, as kept: KeptSecret) async throws(CommandError) {
        // RFC 6749, A.2, allows ASCII only, but not every issuer heeds that.
        guard !secret.reveal().unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else {
            throw CommandError(
                "that is not a \(kept.what), which has no control characters",
                hints: ["copy it from where you got it again"])
        }
        try await unlocking(for: nil) { () throws(CommandError) in
            try keeping { () throws(KeyringError) in
                try clientSecrets.store(ClientSecret(secret, expiresOn: end), of: kept.key)
            }
        }
        context.console.note("the \(kept.what) of \(kept.owner) is in the keyring")
    }

    /// Removes a secret.
    func removeSecret(_ kept: KeptSecret) async throws(CommandError) {
        let removed = try await unlocking(for: nil) { () throws(CommandError) in
            try keeping { () throws(KeyringError) in try clientSecrets.remove(of: kept.key) }
        }
        guard removed else { throw CommandError("no \(kept.what) of \(kept.owner) is stored") }
        context.console.note("removed the \(kept.what) of \(kept.owner)")
    }
}
