import ArgumentParser
import CredentialEngine
import Files
import Forwarding
import Glibc
import PluginHost
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenStore
import Tools

struct AgentCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Answer remote hosts and containers with this machine's credentials.",
        discussion: """
            Listens on a socket for each [[forward]] of the configuration, until it is interrupted. Remote hosts and \
            containers that reach a socket get access tokens and passwords for the URLs that its forward lists; you sign \
            in here. Refresh tokens stay here.
            """)

    static let examples: KeyValuePairs = [
        "Let a development machine ask for an organisation's repositories": """
        lanyard forward add devbox \(Example.url)
        lanyard configure ssh devbox
        lanyard agent
        """
    ]

    /// The agent's process ID, for the processes that it starts.
    @Option(help: .hidden)
    var answerFor: Int32?

    mutating func run(in context: CommandContext) async throws {
        guard answerFor == nil else { return try await AgentAnswer(context: context).run() }
        let delegate = try LocalAgentDelegate(context)
        let console = context.console
        do throws(AgentFolder.Problem) {
            let agent = try Agent(delegate, in: try Self.place(context))
            _ = agent.run()
        } catch {
            switch error {
            case .taken:
                throw Failure(
                    "an agent is already running",
                    hints: [Hint("if systemd runs it, look at it", run: "systemctl --user status lanyard-agent")])
            case .unusable(let reason):
                throw Failure("the folder of the agent's sockets cannot be used: \(reason)")
            }
        }
        console.note("the agent has stopped")
    }

    /// Returns the folder of the sockets.
    static func place(_ context: CommandContext) throws(AgentFolder.Problem) -> String {
        guard let folder = context.environment.ownRuntimeFolder ?? context.environment.cacheHome else {
            throw .unusable("neither XDG_RUNTIME_DIR nor HOME is set")
        }
        return "\(folder)/lanyard/agents"
    }

    /// Returns how to start the agent; nil if it already serves a forward.
    static func startHint(_ forward: String, _ text: String, _ context: CommandContext) -> Hint? {
        guard let folder = try? place(context), isServed("\(folder)/\(forward)") else {
            return Hint(text, run: "lanyard agent")
        }
        return nil
    }

    /// Whether an agent answers at a socket.
    static func isServed(_ socket: String) -> Bool { (try? AgentSocket(socket).check()) != nil }
}

/// What an agent needs from this machine: lanyard itself, its settings and its remembered answers.
struct LocalAgentDelegate: AgentDelegate {
    let worker: (program: String, arguments: [String], environment: [String: String])
    let settingsFiles: [String]
    private let context: CommandContext

    /// - Throws: `Failure` if this machine uses an agent itself, or if the configuration is wrong.
    init(_ context: CommandContext) throws(Failure) {
        var context = context
        // After an upgrade, an agent that is still running starts the installed program.
        let deleted = " (deleted)"
        if context.executable.hasSuffix(deleted) {
            context.executable = String(context.executable.dropLast(deleted.utf8.count))
        }
        self.context = context
        worker = (context.executable, ["agent", "--answer-for", String(getpid())], context.environment)
        settingsFiles =
            [Configuration.systemFile] + [Configuration.userFile(environment: context.environment)].compactMap(\.self)
        let configuration = try Session(context).configuration
        guard configuration.agent == nil else {
            throw Failure(
                "this machine uses an agent itself, and has no credentials of its own to forward",
                hints: ["forward that agent's socket instead; see docs/forwarding.md"])
        }
    }

    mutating func forwards() throws -> [Forward] {
        var configuration = try Configuration.load(environment: context.environment)
        configuration.caseless =
            InstalledPlugins(environment: context.environment, executable: context.executable).caseless
        return configuration.forwards
    }

    func remembered(_ request: CredentialRequest) -> Credential? {
        guard let credential = CachedCredential(request, in: context.surroundings)?.credential,
            credential.fields.isEmpty
        else { return nil }
        context.renewals.note(credential, for: request, now: context.now)
        return credential
    }

    func startRenewals() -> [Int32] { context.renewals.start(in: context) }

    func tell(_ news: AgentNews) {
        let console = context.console
        switch news {
        case .serving([], _):
            console.note(Hint("nothing is forwarded yet; to begin", run: "lanyard forward add NAME URL"))
        case .closed(let name): console.note("\(name) may no longer ask")
        case .serving(let forwards, let folder):
            for forward in forwards {
                let urls = forward.urls.map { $0.text.displayable(limit: 200) }.joined(separator: ", ")
                console.note("\(forward.name) may ask for \(urls), at \(context.short("\(folder)/\(forward.name)"))")
            }
        case .unreadable(let error):
            let failure = (error as? SettingsError).map { Failure($0) } ?? Failure("the configuration can't be read")
            console.report(failure)
            console.note("the previous forwards stay in effect")
        case .noSocket(let forward, let reason):
            console.error("no socket can be made for \(forward.name): \(reason)")
        }
    }

    func refusal(
        of request: CredentialRequest, _ objection: Forward.Objection, to forward: Forward
    ) -> ForwardedRefusal { ForwardedRefusal(request, objection, to: forward) }
}

extension ForwardedRefusal {
    /// Creates the refusal for a far side that asks for something it may not have.
    init(_ request: CredentialRequest, _ objection: Forward.Objection, to forward: Forward) {
        switch objection {
        case .notListed:
            let resources = request.wish.scopes.compactMap(\.urlOfDefaultScope)
            let places = request.place.map { [$0] } ?? resources.compactMap { CredentialRequest($0).place }
            let place = places.joined(separator: " ")
            let command = ShellCommand(words: ["lanyard", "forward", "add", forward.name] + places)
            self.init(
                .notAllowed, "the forward \(forward.name) does not list \(place)",
                remedies: [Hint("list it", run: command).line])
        case .needsPath:
            let listed = forward.urls.filter { $0.hasPath && $0.mismatch(request) == .path }.map(\.text)
            let shown = listed.joined(separator: ", ").displayable(limit: 300)
            let command: ShellCommand = "lanyard configure git\(last: request.place)"
            self.init(
                .notAllowed,
                "the forward \(forward.name) lists \(shown), and the request names no path; where git runs, "
                    + "`\(command.text)` makes it send one (credential.useHttpPath)")
        case .namesScopes:
            let scopes = request.wish.scopes.joined(separator: " ").displayable(limit: 300)
            self.init(
                .notAllowed,
                "the forward \(forward.name) is for URLs, and accepts only their default scopes, "
                    + "not \(scopes)")
        case .reachesBelow:
            self.init(.invalid, "the request names a path, and passwords anywhere on its host would answer it")
        case .namesToken:
            self.init(.invalid, "the forward \(forward.name) is for URLs, not for tokens named by authority and scopes")
        case .noPlace: self.init(.invalid, "the request names no URL")
        }
    }
}
