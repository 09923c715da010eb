import Addresses
import CLinux
import CommandKit
import Files
import Glibc
import Secrets
import SystemPackage
import Terminal

/// A separate program that serves lanyard's tokens by HTTP until this process ends, whatever runs in it by then.
///
/// It isn't a child of this process, so that the command that replaces it has no unexpected child. It doesn't get the
/// terminal's signals, because the command may continue after Ctrl-C.
struct TokenEndpoint {
    /// The kinds of endpoints.
    enum Service: String {
        case managedIdentity = "managed-identity"
        case azd
    }

    /// The endpoint's URL, without a path.
    let url: String
    /// The secret that clients must send; it is new each time.
    let secret: Secret

    private static let program = "lanyard-authority"
    private static let argument = "identity-endpoint"
    /// The time limit for the start, in milliseconds.
    private static let patience: CInt = 10_000

    /// Starts the endpoint.
    ///
    /// - Parameters:
    ///   - service: The kind of endpoint.
    ///   - resources: The resources that tokens may be for.
    ///   - options: The options of `lanyard token` that say which of lanyard's tokens are meant.
    ///   - context: The context of lanyard; the endpoint gets its environment.
    /// - Throws: `CommandError` if the program isn't installed, or doesn't start.
    init(
        serving service: Service, of resources: [String] = [], _ options: [String] = [], in context: CommandContext
    ) throws(CommandError) {
        secret = Secret((0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal)
        let order = try Self.order(service, secret, resources, options, context)
        let answer = try Self.start(Self.path(context), context.environment, order)
        guard let port = answer["port"].flatMap(UInt16.init) else {
            let reason = answer["error"] ?? "it didn't start in time"
            throw Self.failure(reason.displayable(limit: 300))
        }
        url = "http://127.0.0.1:\(port)"
    }

    private static func failure(_ reason: String) -> CommandError {
        CommandError("the endpoint for tokens can't be started: \(reason)")
    }

    private static func order(
        _ service: Service, _ secret: Secret, _ resources: [String], _ options: [String], _ context: CommandContext
    ) throws(CommandError) -> [UInt8] {
        var order = Attributes()
        do throws(ProtocolError) {
            try order.append("serve", service.rawValue)
            try order.append("secret", secret.reveal())
            try order.append("process", String(getpid()))
            try order.append("program", context.executable)
            try order.append("option[]", list: options)
            try order.append("resource[]", list: resources)
        } catch {
            throw failure("an option has a line feed in it, or is too long")
        }
        return order.encoded + [UInt8(ascii: "\n")]
    }

    /// Returns the path of the installed program.
    private static func path(_ context: CommandContext) throws(CommandError) -> String {
        let folder = FileTrust.parent(of: context.executable)
        var trust = FileTrust()
        for place in ["\(folder)/\(program)", "\(FileTrust.parent(of: folder))/lib/lanyard/\(program)"] {
            switch trust.check(place) {
            case .trusted(let path) where FileTrust.isProgram(path): return path
            case .writable(let culprit):
                throw failure("\(culprit.displayable()) could have been written by another user")
            case .trusted, .missing: continue
            }
        }
        throw failure("\(program) is not installed")
    }

    /// Starts the program, sends it the order, and reads its block.
    private static func start(
        _ path: String, _ variables: [String: String], _ order: [UInt8]
    ) throws(CommandError) -> Attributes {
        var streams: [CInt] = [-1, -1]
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup(argument), nil]
        var environment: [UnsafeMutablePointer<CChar>?] = ProcessEnvironment.entries(variables) + [nil]
        defer { for text in arguments + environment { free(text) } }
        let started = lanyard_start_apart(path, &arguments, &environment, &streams)
        guard started == 0 else { throw failure(String(cString: strerror(-started))) }
        defer { close(streams[1]) }
        let input = FileDescriptor(rawValue: streams[0])
        let written = try? input.closeAfter { try input.writeAll(order) }
        guard written != nil else { throw failure("it has gone") }
        return read(streams[1])
    }

    /// Reads the program's block; empty if there is none in time.
    private static func read(_ descriptor: CInt) -> Attributes {
        var parser = AttributeParser(longestInput: 4096)
        var buffer = [UInt8](repeating: 0, count: 4096)
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = poll(&waiting, 1, patience)
            if ready < 0, errno == EINTR { continue }
            let count = ready > 0 ? Glibc.read(descriptor, &buffer, buffer.count) : 0
            guard count > 0, let blocks = try? parser.consume(buffer[..<count]) else { return Attributes() }
            if let block = blocks.first { return block }
        }
    }
}
