import Addresses
import ArgumentParser
import CommandKit
import CredentialEngine
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Synchronization
import Terminal
import TokenAcquisition

struct PluginTryCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Sign in, or look up a password, with a plugin that you are writing.",
        discussion: """
            Shows the conversation, with secrets masked, and what is odd about it. It uses a made-up client ID and stores nothing. The \
            exit status is 1 if the plugin fails, or something is odd.
            """)

    static let examples: KeyValuePairs = [
        "Sign in, renew the token and sign out":
            "lanyard plugin try ./my-plugin https://id.contoso.com --renew --sign-out",
        "Look up a password": "lanyard plugin try ./notes https://git.contoso.com --source notes:work",
    ]

    @Argument(help: "The name of an installed plugin, or the folder with its plugin.toml.")
    var plugin: String

    @Argument(help: "The authority's URL; for a source, the URL that needs a password.")
    var url: String

    @Option(help: ArgumentHelp("What a rule's `source` would be.", valueName: "name:reference"))
    var source: String?

    @Flag(help: "Renew the token afterwards.")
    var renew = false

    @Flag(help: "Sign out at the end.")
    var signOut = false

    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions

    /// The client ID of the made-up app.
    private static let client = "lanyard-plugin-try"

    mutating func validate() throws {
        if source != nil, renew || signOut { throw ValidationError("give --source, or --renew and --sign-out") }
    }

    mutating func run(in context: CommandContext) async throws {
        let plugin = try context.plugin(plugin)
        let registry = PluginRegistry(plugins: [plugin])
        let match = source == nil ? registry.match(authority: url, isConfigured: true) : nil
        let lookup = match == nil ? try lookup(in: registry, of: plugin) : nil
        var options = interaction.values
        options.isAskedFor = true
        let session = try Session(context, options: options)
        let user = await session.sources.prompter.user(for: nil)
        let odd = Mutex(plugin.notes.count)
        for note in plugin.notes { context.console.show("# \(note)") }
        var timeouts = PluginTimeouts()
        timeouts.user = .seconds(session.configuration.timeout)
        let runner = PluginRunner(
            environment: context.environment, timeouts: timeouts, options: session.configuration.pluginOptions
        ) { [console = context.console] in
            if $0 == .note { odd.withLock { $0 += 1 } }
            console.show("\($0.rawValue) \($1)")
        }
        do throws(PluginError) {
            if let lookup {
                try await look(lookup, up: plugin, by: runner, user, context.console)
            } else if let match {
                guard let user else {
                    throw PluginError(.interactionRequired, "nobody can be asked here", hint: "run it in a terminal")
                }
                let trust = session.configuration.caFile.map { [$0] } ?? []
                try await signIn(match, by: runner, user, trust, context.console)
            }
        } catch {
            context.console.endProgress()
            // The conversation has just been shown.
            throw CommandError("\(error.message)", hints: error.hint == PluginError.traceHint ? [] : error.hints)
        }
        let count = odd.withLock { $0 }
        guard count == 0 else {
            context.console.note(count == 1 ? "1 thing is odd, marked #" : "\(count) things are odd, marked #")
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }

    /// Returns what is looked up, if no [[authority]] serves the URL.
    private func lookup(in registry: PluginRegistry, of plugin: PluginManifest) throws(CommandError) -> PluginLookup {
        let names = plugin.sources.map(\.name)
        guard let text = source ?? (names.count == 1 ? names.first : nil) else {
            guard names.isEmpty else {
                throw CommandError(
                    "\(plugin.name) has several sources",
                    hints: ["name one: --source \(names.joined(separator: ", "))"],
                    status: .usage)
            }
            throw CommandError(
                "no [[authority]] of \(plugin.name) serves \(url)",
                hints: plugin.authorities.map { "it serves \($0.text)" }, status: .usage)
        }
        let (name, reference) = PluginRegistry.parts(ofSource: text)
        guard let row = registry.source(named: name)?.row else {
            throw CommandError(
                "no [[source]] of \(plugin.name) is called \(name)",
                hints: names.isEmpty ? [] : ["its sources: \(names.joined(separator: ", "))"], status: .usage)
        }
        let request = try CredentialRequest(url: url)
        guard let host = request.host?.withoutOwnPort(of: request.scheme ?? "https").text else {
            throw CommandError("\(url) has no host", status: .usage)
        }
        return PluginLookup(
            source: name, reference: reference, host: host, path: request.path, username: request.username, row: row.row
        )
    }

    private func look(
        _ lookup: PluginLookup, up plugin: PluginManifest, by runner: PluginRunner, _ user: TokenAcquirer.User?,
        _ console: Console
    ) async throws(PluginError) {
        var request = PluginRequest(.lookup)
        request.lookup = lookup
        let found = try await runner.lookup(
            request, by: plugin, user: user?.interface ?? NobodyThere(), mayAsk: user != nil)
        console.endProgress()
        let parts = [
            found.username == nil ? nil : "a user name", found.secret == nil ? nil : "a secret",
            found.fields.isEmpty ? nil : "the fields \(found.fields.map(\.name).joined(separator: ", "))",
        ]
        console.note("found \(parts.compactMap(\.self).joined(separator: ", "))")
        if let seconds = found.keepFor { console.note("lanyard may answer with it again for \(seconds) seconds") }
    }

    private func signIn(
        _ match: AuthorityMatch, by runner: PluginRunner, _ user: TokenAcquirer.User, _ trust: [String],
        _ console: Console
    ) async throws(PluginError) {
        let ask = request(.authorize, match, user.flows, trust)
        guard !ask.flows.isEmpty || user.flows.isEmpty else {
            let flows = match.plugin.flows.map(\.rawValue).joined(separator: ", ")
            throw PluginError(
                .unsupported, "\(match.plugin.name) has none of the ways to sign in that can be used here",
                hint: "it has \(flows)")
        }
        let result = try await runner.run(ask, on: match, user: user.interface)
        console.endProgress()
        let username = result.account?.username.displayable(limit: 200) ?? ""
        console.note(username.isEmpty ? "signed in; the result has no `username`" : "signed in as \(username)")
        if result.expiresIn == nil { console.note("the token has no `expires_in`, so it never ends") }
        if renew, result.refreshToken == nil {
            console.note("the result has no `refresh_token`, so users sign in again when the token ends")
        } else if renew {
            var ask = request(.renew, match, [], trust)
            ask.refreshToken = result.refreshToken
            ask.account = result.account?.homeAccountID
            _ = try await runner.run(ask, on: match, user: NobodyThere())
            console.note("renewed the token")
        }
        if signOut {
            var ask = request(.signOut, match, [], trust)
            ask.account = result.account?.homeAccountID
            ask.idTokenHint = result.idToken
            try await runner.signOut(ask, on: match, user: user.interface)
            console.note("signed out")
        }
    }

    private func request(
        _ operation: PluginRequest.Operation, _ match: AuthorityMatch, _ flows: [PluginRequest.Flow],
        _ trust: [String]
    ) -> PluginRequest {
        var request = PluginRequest(operation)
        request.authority = match.authority.description
        request.clientID = Self.client
        request.network.caFiles = trust
        request.clientName = "lanyard plugin try"
        request.kind = match.issuer?.kind
        request.scopes = match.issuer?.scopes ?? []
        request.flows = match.plugin.flows.isEmpty ? flows : flows.filter(match.plugin.flows.contains)
        return request
    }
}
