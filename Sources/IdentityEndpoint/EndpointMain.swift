import CLinux
import Dispatch
import Glibc
import OAuth
package import Secrets
import SystemPackage

/// Serves tokens over HTTP while another process runs: the command of `lanyard exec`.
///
/// lanyard starts it, writes an `EndpointOrder` to its standard input, and reads a block with the port from its
/// standard output. It gets each token by running lanyard, so it doesn't link the engine, and lanyard links no HTTP.
public enum EndpointMain {
    /// The argument that selects it.
    public static let name = "identity-endpoint"

    private static let longestOrder = 1 << 20

    /// Serves requests, and returns the exit status.
    public static func run() async -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        guard let order = readOrder() else { return 64 }
        let process = lanyard_process_open(order.process)
        guard process >= 0 else { return tell("error", "this kernel can't tell when a process ends; Linux 5.3 can") }
        guard let listener = try? await LoopbackListener.open(port: nil) else {
            return tell("error", "no loopback port can be opened")
        }
        guard tell("port", String(listener.port)) == 0 else { return 1 }
        closeStreams()
        let serving = Task { await serve(order, on: listener) }
        await end(of: process)
        serving.cancel()
        return 0
    }

    private static func serve(_ order: EndpointOrder, on listener: LoopbackListener) async {
        let service: any TokenService =
            switch order.kind {
            case .managedIdentity: ManagedIdentityService(order)
            case .azd: ExternalAuthService(order)
            }
        let asker = TokenAsker(order.program, for: service)
        await listener.serve(
            answer: { request in await answer(EndpointRequest(request), service, asker, port: listener.port) },
            delivered: { _ in })
    }

    private static func answer(
        _ request: EndpointRequest, _ service: any TokenService, _ asker: TokenAsker, port: Int
    ) async -> EndpointAnswer {
        switch accepted(request, service, port: port) {
        case .wanted(let query): service.answer(to: query, await asker.token(query), now: time(nil))
        case .refused(let answer): answer
        }
    }

    /// Returns the query of a request that came to this computer directly, without a proxy.
    package static func accepted(
        _ request: EndpointRequest, _ service: any TokenService, port: Int
    ) -> EndpointQuery {
        guard request.isFor(port: port) else { return .refusal(421, "tokens are for this computer's own requests") }
        guard !request.isForwarded else { return .refusal(403, "forwarded requests get no token") }
        return service.query(request)
    }

    private static func readOrder() -> EndpointOrder? {
        var parser = AttributeParser(longestInput: longestOrder)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while let count = try? buffer.withUnsafeMutableBytes({ try FileDescriptor.standardInput.read(into: $0) }),
            count > 0
        {
            guard let blocks = try? parser.consume(buffer[..<count]) else { return nil }
            if let block = blocks.first { return EndpointOrder(block) }
        }
        return nil
    }

    /// Writes a block of one line; returns 1 if it reports an error, or if it can't be written.
    private static func tell(_ key: String, _ value: String) -> Int32 {
        let written = try? FileDescriptor.standardOutput.writeAll("\(key)=\(value)\n\n".utf8)
        return written == nil || key == "error" ? 1 : 0
    }

    /// Closes both pipes, and keeps their descriptors from being reused.
    private static func closeStreams() {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(nothing, STDIN_FILENO)
        dup2(nothing, STDOUT_FILENO)
        close(nothing)
    }

    /// Waits for a process to end, on a separate thread.
    private static func end(of process: CInt) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "lanyard.process-end").async {
                var waiting = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
                while poll(&waiting, 1, -1) < 0, errno == EINTR {}
                continuation.resume()
            }
        }
    }
}

/// The instructions for an endpoint: a block on its standard input, because it contains a secret that must not appear
/// in arguments.
package struct EndpointOrder: Sendable {
    /// The protocol to serve.
    package enum Kind: String, Sendable {
        /// `IDENTITY_ENDPOINT`, as in App Service.
        case managedIdentity = "managed-identity"
        /// `AZD_AUTH_ENDPOINT`, which the Azure Developer CLI uses.
        case azd
    }

    /// The protocol to serve.
    package let kind: Kind
    /// The secret that callers must send.
    package let secret: Secret
    /// The process with whose exit the endpoint ends.
    package let process: Int32
    /// The program that provides the tokens.
    package let program: String
    /// The options for the program that select the tokens.
    package let options: [String]
    /// The allowed resources; empty for any, which is valid only for `azd`.
    package let resources: [String]

    /// Parses an order; nil if it is incomplete.
    package init?(_ block: Attributes) {
        guard let kind = block["serve"].flatMap(Kind.init), let secret = block["secret"], secret.utf8.count >= 32,
            let process = block["process"].flatMap(Int32.init), process > 0,
            let program = block["program"], program.hasPrefix("/")
        else { return nil }
        self.kind = kind
        self.secret = Secret(secret)
        self.process = process
        self.program = program
        options = block.list("option[]")
        resources = block.list("resource[]")
        guard kind == .azd || !resources.isEmpty else { return nil }
    }
}
