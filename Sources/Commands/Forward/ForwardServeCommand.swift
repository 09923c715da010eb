import Addresses
import ArgumentParser
import CommandKit
import CredentialEngine
import Dispatch
import Files
import Forwarding
import Glibc
import Keyring
import Model
import PluginHost
import Rules
import Secrets
import SettingsFile
import SystemPackage
import Terminal
import Tools

struct ForwardServeCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Answer remote hosts and containers: run the agent.",
        discussion: """
            Listens on a socket for each [[forward]] of the configuration, until it is interrupted. Remote hosts and \
            containers that reach a socket get access tokens and passwords for the URLs that its forward lists; you sign \
            in here. Refresh tokens stay here.
            """)

    static let examples: KeyValuePairs = [
        "Let a development machine ask for an organisation's repositories": """
        lanyard forward add devbox \(Example.url)
        lanyard configure ssh devbox
        lanyard forward serve
        """
    ]

    /// The agent's process ID, for the processes that it starts.
    @Option(help: .hidden)
    var answerFor: Int32?

    mutating func run(in context: CommandContext) async throws {
        guard answerFor == nil else { return try await AgentAnswer(context: context).run() }
        let delegate = try LocalAgentDelegate(context)
        let console = context.console
        do throws(AgentError) {
            let agent = try Agent(delegate, in: try context.agentSockets())
            _ = agent.run()
        } catch {
            throw CommandError(error, at: "", path: nil)
        }
        console.note("the agent has stopped")
    }
}

/// What an agent needs from this machine: lanyard itself, its settings and its remembered answers.
struct LocalAgentDelegate: AgentDelegate {
    let worker: (program: String, arguments: [String], environment: [String: String])
    let settingsFiles: [String]
    private let context: CommandContext

    /// - Throws: `CommandError` if this machine uses an agent itself, or if the configuration is wrong.
    init(_ context: CommandContext) throws(CommandError) {
        var context = context
        // After an upgrade, an agent that is still running starts the installed program.
        let deleted = " (deleted)"
        if context.executable.hasSuffix(deleted) {
            context.executable = String(context.executable.dropLast(deleted.utf8.count))
        }
        self.context = context
        worker = (context.executable, ["forward", "serve", "--answer-for", String(getpid())], context.environment)
        settingsFiles =
            [Configuration.systemFile] + [Configuration.userFile(environment: context.environment)].compactMap(\.self)
        let configuration = try Session(context).configuration
        guard configuration.agent == nil else {
            throw CommandError(
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
            let failure =
                (error as? SettingsError).map { CommandError($0) } ?? CommandError("the configuration can't be read")
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
            let resources = request.explicit.scopes.compactMap(\.urlOfDefaultScope)
            let places = request.place.map { [$0] } ?? resources.compactMap { CredentialRequest($0).place }
            let place = places.joined(separator: " ")
            let command = ShellCommand(words: ["lanyard", "forward", "add", forward.name] + places)
            // A forward can't list a place that no pattern matches, such as one with `..`.
            let patterns = places.map(URLPattern.init)
            let isListable = patterns.allSatisfy { pattern in
                pattern.map { $0.isTokenPlace && (request.place == nil || $0.mismatch(request) == nil) } ?? false
            }
            self.init(
                .notAllowed, "the forward \(forward.name) does not list \(place)",
                remedies: isListable ? [Hint("list it", run: command).line] : [])
        case .needsPath:
            let listed = forward.urls.filter { $0.hasPath && $0.mismatch(request) == .path }.map(\.text)
            let shown = listed.joined(separator: ", ").displayable(limit: 300)
            let command: ShellCommand = "lanyard configure git\(last: request.place)"
            self.init(
                .notAllowed,
                "the forward \(forward.name) lists \(shown), and the request names no path; where git runs, "
                    + "`\(command.text)` makes it send one (credential.useHttpPath)")
        case .namesScopes:
            let scopes = request.explicit.scopes.joined(separator: " ").displayable(limit: 300)
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

/// The process that answers one of the agent's requests: it reads the request from stdin and writes the reply to
/// stdout.
///
/// stdin stays open while the answer is wanted. When it closes before there is one, however the agent ended, this
/// process and everything that it started end as if by SIGTERM, except for what redeems a refresh token.
struct AgentAnswer {
    let context: CommandContext
    private let pending = PendingQuestion()

    func run() async throws {
        guard let block = readRequest() else { throw CommandError("the agent's request cannot be read") }
        endWithInput()
        var request: ForwardedRequest
        do throws(ProtocolError) { request = try ForwardedRequest(block) } catch {
            return reply(.refused(ForwardedRefusal(error)))
        }
        let requester = Requester(forward: request.forward ?? "", name: request.requester, pending: pending)
        var context = await context.inPresentSession()
        context.requester = requester
        // The settings may have changed since the agent read them.
        let session = try Session(context)
        guard let forward = session.configuration.forwards.first(where: { $0.name == requester.forward }) else {
            return reply(.nothing)
        }
        if let objection = forward.objection(to: request.wanted) {
            return reply(.refused(ForwardedRefusal(request.wanted, objection, to: forward)))
        }
        // The user has just declined, so they aren't asked again at once.
        if requester.wasDeclined(in: context) {
            if forward.confirms { return reply(.refused(.justDeclined)) }
            request.wanted.isUnattended = true
        }
        let (wanted, found): (TokenRequest?, StoredPassword?)
        do throws(CommandError) {
            wanted = try session.resolve(request.wanted)
            found = wanted == nil ? try await password(for: request.wanted, of: forward, in: session) : nil
        } catch {
            context.console.report(error)
            let code = error.cause.isOfKeyring ? ForwardedRefusal.Code.keyring : .other
            return reply(.refused(.init(code, error.message.text, remedies: error.hints.map(\.line))))
        }
        guard wanted != nil || found != nil else { return reply(.nothing) }
        if forward.confirms {
            let what = session.wordsForConfirmation(of: request.wanted, wanted, found)
            let confirmation = Confirmation(context: context, requester: requester)
            if let refusal = await confirmation.refusal(of: what) { return reply(.refused(refusal)) }
        }
        if let found { return reply(.credential(Credential(found))) }
        // From here on there may be a token for the place that was asked for, and nothing else.
        request.wanted.reach = .place
        var run = ToolRun(ForwardedProtocol(request), in: context)
        _ = await run.run()
    }

    private func reply(_ reply: ForwardedReply) { context.console.write(reply.bytes) }

    /// Returns the password that is stored for a request at a place that the forward lists; nil if there is none.
    private func password(
        for request: CredentialRequest, of forward: Forward, in session: Session
    ) async throws(CommandError) -> StoredPassword? {
        guard let query = PasswordQuery(request) else { return nil }
        let now = context.now
        func search() throws(CommandError) -> StoredPassword? {
            try session.keeping { () throws(KeyringError) in
                try session.passwords.get(query, now: now) { forward.lists(path: $0, for: request) }
            }
        }
        guard !request.isUnattended else { return try search() }
        return try await session.unlocking(for: request.place) { () throws(CommandError) in try search() }
    }

    private func readRequest() -> Attributes? {
        var parser = AttributeParser(longestInput: 2 * ForwardedRequest.longest)
        while true {
            var bytes = [UInt8](repeating: 0, count: 8192)
            guard let count = try? bytes.withUnsafeMutableBytes({ try context.input.read(into: $0) }), count > 0,
                let blocks = try? parser.consume(bytes[..<count])
            else { return nil }
            if let block = blocks.first { return block }
        }
    }

    private func endWithInput() {
        let input = context.input.rawValue
        let (pending, console) = (pending, context.console)
        DispatchQueue(label: "lanyard.agent").async {
            var byte: UInt8 = 0
            while true {
                let count = read(input, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count <= 0 else { continue }
                // What is due is renewed once the reply has been written.
                if pending.isSettled { return }
                pending.withdraw(console)
                kill(getpid(), SIGTERM)
                return
            }
        }
    }
}
