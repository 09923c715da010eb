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
        commandName: "try", abstract: "Sign in with a plugin that you are writing.",
        discussion: """
            Shows the conversation, with secrets masked, and what is odd about it. The app is made up, and nothing is stored. The exit \
            status is 1 if the plugin fails, or something is odd.
            """)

    static let examples: KeyValuePairs = [
        "Sign in, renew the token and sign out":
            "lanyard plugin try ./my-plugin https://id.contoso.com --renew --sign-out"
    ]

    @Argument(help: "The name of an installed plugin, or the folder with its plugin.toml.")
    var plugin: String

    @Argument(help: "The authority's URL.")
    var authority: String

    @Flag(help: "Renew the token afterwards.")
    var renew = false

    @Flag(help: "Sign out at the end.")
    var signOut = false

    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions

    /// The client ID of the made-up app.
    private static let client = "lanyard-plugin-try"

    mutating func run(in context: CommandContext) async throws {
        let plugin = try context.plugin(plugin)
        let registry = PluginRegistry(plugins: [plugin])
        guard let match = registry.match(authority: authority, isConfigured: true) else {
            throw CommandError(
                "no [[authority]] of \(plugin.name) serves \(authority)",
                hints: [Hint("see what it serves", run: "lanyard plugin list")], status: .usage)
        }
        var options = interaction.values
        options.isAskedFor = true
        let session = try Session(context, options: options)
        guard let user = await session.sources.prompter.user(for: nil) else {
            throw CommandError("nobody can be asked here", hints: ["run it in a terminal"])
        }
        let trust = session.configuration.caFile.map { [$0] } ?? []
        let odd = Mutex(0)
        var timeouts = PluginTimeouts()
        timeouts.user = .seconds(session.configuration.timeout)
        let runner = PluginRunner(environment: context.environment, timeouts: timeouts) { [console = context.console] in
            if $0 == .note { odd.withLock { $0 += 1 } }
            console.show("\($0.rawValue) \($1)")
        }
        do throws(PluginError) {
            let result = try await runner.run(
                request(.authorize, match, user.flows, trust), on: match, user: user.interface)
            context.console.endProgress()
            context.console.note("signed in as \(result.account?.username.displayable(limit: 200) ?? "nobody")")
            if result.expiresIn == nil { context.console.note("the token has no `expires_in`, so it never ends") }
            if renew {
                var ask = request(.renew, match, [], trust)
                ask.refreshToken = result.refreshToken
                ask.account = result.account?.homeAccountID
                guard ask.refreshToken != nil else {
                    throw PluginError(.invalidRequest, "the result has no `refresh_token` to renew by")
                }
                _ = try await runner.run(ask, on: match, user: NobodyThere())
                context.console.note("renewed the token")
            }
            if signOut {
                var ask = request(.signOut, match, [], trust)
                ask.account = result.account?.homeAccountID
                ask.idTokenHint = result.idToken
                try await runner.signOut(ask, on: match, user: user.interface)
                context.console.note("signed out")
            }
        } catch {
            context.console.endProgress()
            throw CommandError(
                "\(error.message)", hints: error.hints)
        }
        let count = odd.withLock { $0 }
        guard count == 0 else {
            context.console.note(count == 1 ? "1 thing is odd, marked #" : "\(count) things are odd, marked #")
            throw ExitCode(ExitStatus.failed.rawValue)
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
