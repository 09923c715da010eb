import ArgumentParser
import FoundationEssentials
import Glibc
import Hummingbird
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// `lanyard sandbox serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start the authority and the resources, until Ctrl-C.",
        discussion: """
            Everything it makes goes into the directory: ca.pem (trust this), config.toml (a configuration for \
            lanyard), sandbox.json (ports and ids for programs; there when the sandbox is ready), users.toml (who \
            can sign in; copy it, change it and hand it over with --users), repositories and requests.log.
            """)

    @Option(
        help: ArgumentHelp(
            "Where to keep everything; made if it isn't there. A temporary one, removed at the end, unless given.",
            valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("The authority's port; 0 picks a free one.", valueName: "number"))
    var port = 0

    @Option(help: ArgumentHelp("The resources' port; 0 picks a free one.", valueName: "number"))
    var resourcePort = 0

    @Option(help: ArgumentHelp("Who can sign in, and to what, instead of the built-in people.", valueName: "file"))
    var users: String?

    func run() async throws {
        do {
            try await start()
        } catch {
            throw Complaint.exit(after: error)
        }
    }

    private func start() async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .critical
            return handler
        }
        // A git that ends early must not end the sandbox.
        signal(SIGPIPE, SIG_IGN)
        let directory = try directory ?? Self.temporaryDirectory()
        defer { if self.directory == nil { try? FileManager.default.removeItem(atPath: directory) } }
        let home = try Home(at: directory)
        // Of an earlier run: nobody may take it for this one's.
        unlink(home.description)
        // What somebody changed there stays.
        if users == nil, access(home.usersFile, F_OK) != 0 {
            try home.write(DefaultUsers.text + "\n", to: home.usersFile)
        }
        let world = try await World(home: home, directory: Directory(contentsOf: users ?? home.usersFile))
        try await Repositories(home: home).make(in: world)
        try await serve(world)
        unlink(home.description)
    }

    private static func temporaryDirectory() throws -> String {
        var template = Array("/tmp/lanyard-sandbox-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SandboxError("no temporary directory can be made") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func serve(_ world: World) async throws {
        let certificates = try Certificates()
        try world.home.write(certificates.authorityPEM, to: world.home.caFile)
        let git = GitBackend(home: world.home)
        let announcement = Announcement(world)
        let authority = Application(
            responder: AuthorityResponder(world: world),
            server: try .tls(.http1(), tlsConfiguration: certificates.server),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                world.setAuthority(port: channel.localAddress?.port ?? 0)
                await announcement.portOpened()
            })
        let resource = Application(
            responder: ResourceResponder(world: world, git: git),
            server: try .tls(.http1(), tlsConfiguration: certificates.server),
            configuration: .init(address: .hostname("127.0.0.1", port: resourcePort)),
            onServerRunning: { channel in
                world.setResource(port: channel.localAddress?.port ?? 0)
                await announcement.portOpened()
            })
        var configuration = ServiceGroupConfiguration(
            services: [authority, resource], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "sandbox"))
        configuration.maximumGracefulShutdownDuration = .milliseconds(500)
        defer { git.stop() }
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            // A request was still open after half a second: it was cut off.
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw SandboxError("the port is in use: choose another with --port and --resource-port, or 0 for any")
        }
    }
}
