import ArgumentParser
import Dispatch
import FoundationEssentials
import Glibc
import Hummingbird
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import Terminal
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Start the authority, the resources and four more hosts, until Ctrl-C.",
        discussion: """
            Everything it makes goes into the directory: ca.pem (the certificate to trust), config.toml (a configuration \
            for lanyard), gitconfig (one for git), sandbox.json (ports and IDs for programs; written when the sandbox is \
            ready), users.toml (who can sign in; copy it, edit it and pass it with --users), repositories and requests.log.

            Start it, then follow what it prints:
              lanyard sandbox serve --directory /tmp/sandbox
            """)

    @Option(
        help: ArgumentHelp(
            "The directory for everything, created if needed. Without it, a temporary one is removed at the end.",
            valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("The authority's port; 0 picks a free one.", valueName: "number"))
    var port = 0

    @Option(help: ArgumentHelp("The resources' port; 0 picks a free one.", valueName: "number"))
    var resourcePort = 0

    @Option(help: ArgumentHelp("The OpenID Connect issuer's port; 0 picks a free one.", valueName: "number"))
    var issuerPort = 0

    @Option(
        help: ArgumentHelp("The port of the host that works as GitHub does; 0 picks a free one.", valueName: "number"))
    var forgePort = 0

    @Option(
        help: ArgumentHelp("The port of the host that works as Gitea does; 0 picks a free one.", valueName: "number"))
    var giteaPort = 0

    @Option(
        help: ArgumentHelp("The port of the host that works as Forgejo does; 0 picks a free one.", valueName: "number"))
    var forgejoPort = 0

    @Option(help: ArgumentHelp("The registry's port; 0 picks a free one.", valueName: "number"))
    var exchangePort = 0

    @Option(
        help: ArgumentHelp(
            "The port that gives machines in Azure their tokens; 0 picks a free one.", valueName: "number"))
    var machinePort = 0

    @Option(
        help: ArgumentHelp("The people who can sign in, and to what, instead of the built-in ones.", valueName: "file"))
    var users: String?

    @Flag(name: .shortAndLong, help: "Print everybody who can sign in, every host and every repository.")
    var verbose = false

    @Flag(
        name: .customLong("directories-from-stdin"),
        help: ArgumentHelp(
            "Serve a sandbox in each DIR of the lines \"start DIR\", until \"stop DIR\" or the end of the input.",
            visibility: .hidden))
    var readsDirectories = false

    func run() async throws {
        do {
            try await start()
        } catch {
            Console.sandbox.report(CommandError(any: error))
            throw ExitCode.failure
        }
    }

    private func start() async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .critical
            return handler
        }
        // A git process that exits early must not end the sandbox.
        signal(SIGPIPE, SIG_IGN)
        let trust = try await Trust()
        if readsDirectories { return await serveEachLine(trust) }
        let directory = try directory ?? Self.temporaryDirectory()
        defer { if self.directory == nil { try? FileManager.default.removeItem(atPath: directory) } }
        try await serve(in: directory, trust, until: [.sigterm, .sigint])
    }

    /// Runs a separate sandbox in each directory that standard input names; all share the same keys.
    private func serveEachLine(_ trust: Trust) async {
        var running: [String: Task<Void, Never>] = [:]
        for await line in Self.lines {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words.first, words.last) {
            case ("start", let directory?):
                running[directory] = Task {
                    do {
                        try await serve(in: directory, trust, until: [])
                    } catch {
                        Console.sandbox.report(CommandError(any: error))
                    }
                }
            case ("stop", let directory?): running.removeValue(forKey: directory)?.cancel()
            default: Console.sandbox.report(CommandError("neither start nor stop: \(line)"))
            }
        }
        for task in running.values { task.cancel() }
        for task in running.values { await task.value }
    }

    private static var lines: AsyncStream<String> {
        AsyncStream { lines in
            DispatchQueue.global().async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }

    private static func temporaryDirectory() throws -> String {
        var template = Array("/tmp/lanyard-sandbox-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CommandError("no temporary directory can be made") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func serve(in directory: String, _ trust: Trust, until signals: [UnixSignal]) async throws {
        let home = try Home(at: directory)
        // Remove the file of an earlier run, so that it isn't mistaken for this one's.
        unlink(home.description)
        // Keep a user's changes.
        if users == nil, access(home.usersFile, F_OK) != 0 {
            try home.write(DefaultUsers.text + "\n", to: home.usersFile)
        }
        let directory = try Directory.read(users ?? home.usersFile)
        let world = try World(home: home, directory: directory, trust: trust)
        try await serve(world, trust.certificates, until: signals)
        unlink(home.description)
    }

    private func serve(_ world: World, _ certificates: Certificates, until signals: [UnixSignal]) async throws {
        try world.home.write(certificates.authorityPEM, to: world.home.caFile)
        var configuration = ServiceGroupConfiguration(
            services: try services(of: world, certificates), gracefulShutdownSignals: signals,
            logger: Logger(label: "sandbox"))
        configuration.maximumGracefulShutdownDuration = .milliseconds(500)
        defer { world.git.stop() }
        do {
            let group = ServiceGroup(configuration: configuration)
            // A server that is cancelled drops the connections that it has just accepted, which ends the process: its own
            // way down closes its ports first.
            try await withTaskCancellationHandler {
                try await Task { try await group.run() }.value
            } onCancel: {
                Task { await group.triggerGracefulShutdown() }
            }
        } catch is CancellationError {
            // A request was still open after half a second and was cut off.
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw CommandError(
                """
                a port is in use: choose others with --port, --resource-port, --issuer-port, --forge-port, \
                --gitea-port, --forgejo-port, --exchange-port and --machine-port, or 0 for any
                """)
        }
    }

    /// Returns one web server per port.
    private func services(of world: World, _ certificates: Certificates) throws -> [any Service] {
        let announcement = Announcement(world, isVerbose: verbose)
        func application(
            _ responder: PortResponder, port: Int, isPlain: Bool = false,
            opened: @escaping @Sendable (Int) -> Void
        ) throws -> any Service {
            Application(
                responder: responder,
                server: isPlain ? .http1() : try .tls(.http1(), tlsConfiguration: certificates.server),
                configuration: .init(address: .hostname("127.0.0.1", port: port)),
                onServerRunning: { channel in
                    opened(channel.localAddress?.port ?? 0)
                    await announcement.portOpened()
                })
        }
        return try [
            application(.authority(of: world), port: port, opened: world.setAuthority),
            application(.resource(of: world), port: resourcePort, opened: world.setResource),
            application(.exchanges(of: world), port: exchangePort, opened: world.setExchanges),
            application(.registry(of: world), port: 0, opened: world.setRegistry),
            application(.machine(of: world), port: machinePort, isPlain: true, opened: world.setMachine),
            application(.host(world.issuer, of: world), port: issuerPort, opened: world.issuer.setPort),
            application(.host(world.forge, of: world), port: forgePort, opened: world.forge.setPort),
            application(.host(world.gitea, of: world), port: giteaPort, opened: world.gitea.setPort),
            application(.host(world.forgejo, of: world), port: forgejoPort, opened: world.forgejo.setPort),
        ]
    }
}
