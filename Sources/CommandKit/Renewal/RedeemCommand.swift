package import ArgumentParser
import CLinux
import CredentialEngine
import Dispatch
import Files
import Glibc
import Keyring
import PluginHost
import Synchronization
import SystemPackage
import Terminal
import TokenAcquisition

/// `lanyard redeem`, which lanyard starts by itself to redeem a refresh token.
///
/// Standard input has the order, and standard output gets messages for the process that waits for the outcome. What has
/// been sent to an authority must be awaited and stored, so this process ignores the signals that end others.
package struct RedeemCommand: Command {
    package static let name = "redeem"

    package static let configuration = CommandConfiguration(
        commandName: name, abstract: "Redeem a refresh token.", shouldDisplay: false)

    package static let examples: KeyValuePairs<String, String> = [:]

    /// The time limit for everything until the outcome, in seconds; it is longer than a plugin's, and those of locks.
    private static let longest: UInt32 = 240

    package mutating func run(in context: CommandContext) async throws {
        UninterruptedProcess.begin(endingAfter: Self.longest)
        context.keyring.open()
        guard let order = try Redemption(OpenFile.bytes(from: context.input.rawValue, atMost: Redemption.longest + 1))
        else { throw ExitCode(ExitStatus.usage.rawValue) }
        let relay = MessageRelay(context.console.output)
        var context = context
        context.relay = relay
        let options = InteractionOptions.Values(isInteractive: order.mayPrompt, timing: order.timing, mayRedeem: true)
        try await Session(context, options: options).acquirer.redeem(order) { outcome in
            relay.send(.outcome(outcome), within: 60_000)
            // Storing a refresh token may take longer, and ends by itself.
            alarm(0)
        }
    }

    package init() {}
}

/// A process whose work must not be cut off.
enum UninterruptedProcess {
    /// Ignores the signals by which people and terminals end processes; after some seconds, the process ends.
    static func begin(endingAfter seconds: UInt32) {
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_IGN) }
        alarm(seconds)
    }
}

/// Writes messages to the process that waits for them, without waiting for it: it may have been stopped.
final class MessageRelay: Sendable {
    private let output: FileDescriptor
    /// Whether the reader gets no more, because it has part of a message.
    private let isBroken = Mutex(false)

    init(_ output: FileDescriptor) {
        self.output = output
        _ = fcntl(output.rawValue, F_SETFL, O_NONBLOCK)
    }

    /// Writes a message, waiting at most this many milliseconds for a full pipe.
    func send(_ message: RedemptionMessage, within milliseconds: CInt = 0) {
        guard let line = message.line else { return }
        isBroken.withLock { isBroken in
            var rest = line[...]
            while !isBroken, !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(output.rawValue, $0.baseAddress, $0.count) }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var entry = pollfd(fd: output.rawValue, events: Int16(POLLOUT), revents: 0)
                    if poll(&entry, 1, milliseconds) <= 0 {
                        isBroken = rest.count < line.count
                        return
                    }
                } else if errno != EINTR {
                    isBroken = true
                }
            }
        }
    }
}

/// Has refresh tokens redeemed by `lanyard redeem`, a process with a session of its own.
///
/// It holds the refresh token's lock and stores the result, whatever becomes of this process: neither Ctrl-C, a
/// tool's time limit, a closed terminal nor the hang-up of an agent's client reaches it. The order and the outcome go
/// through pipes.
struct DetachedRedeemer: Redeemer {
    /// The real path of the running program.
    let executable: String
    let console: Console

    /// How many milliseconds the process may take to exit.
    private static let patienceToEnd: CInt = 100

    /// What happens while this process waits.
    private enum Event: Sendable {
        case message(RedemptionMessage)
        case over(RedeemerAnswer)
    }

    func outcome(
        of redemption: Redemption, within seconds: Double, tell: @Sendable (AcquisitionProgress) -> Void
    ) async -> RedeemerAnswer {
        var output: CInt = -1
        let process = start(redemption.encoded, &output)
        guard process > 0 else { return .unavailable }
        let (events, feed) = AsyncStream.makeStream(of: Event.self)
        let interrupts = Interrupts.watch { feed.yield(.over(.interrupted)) }
        defer { interrupts.cancel() }
        let deadline = ContinuousClock.now + .seconds(seconds)
        DispatchQueue(label: "lanyard.redeemer").async { [output] in
            let answer = Self.read(output, until: deadline) { feed.yield(.message($0)) }
            // After the outcome it usually ends at once. A program that replaces this one shouldn't get it as a child.
            var end = pollfd(fd: output, events: 0, revents: 0)
            let hasEnded = if case .outcome = answer { poll(&end, 1, Self.patienceToEnd) > 0 } else { false }
            if hasEnded { waitpid(process, nil, 0) }
            feed.yield(.over(answer))
            close(output)
            if !hasEnded { waitpid(process, nil, 0) }
        }
        for await event in events {
            switch event {
            case .message(.progress(let step)): tell(step)
            case .message(.trace(let line)): console.show("lanyard: trace: \(line)")
            case .message(.outcome): break
            case .over(let answer): return answer
            }
        }
        return .interrupted
    }

    private func start(_ order: [UInt8], _ output: inout CInt) -> pid_t {
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(executable), strdup(RedeemCommand.name), nil]
        defer { arguments.forEach { free($0) } }
        return lanyard_detach(executable, &arguments, environ, order, order.count, &output)
    }

    /// Reads messages until the outcome, blocking the thread.
    private static func read(
        _ output: CInt, until deadline: ContinuousClock.Instant, _ receive: (RedemptionMessage) -> Void
    ) -> RedeemerAnswer {
        var lines: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        while lines.count <= Redemption.longest {
            var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            let ready = poll(&entry, 1, CInt(max(0, left.rounded(.up))))
            if ready == 0 { return .late }
            let count = ready < 0 ? -1 : Glibc.read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .lost }
            lines += bytes[..<count]
            while let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
                let message = RedemptionMessage(lines[..<end])
                lines.removeSubrange(...end)
                if case .outcome(let outcome)? = message { return .outcome(outcome) }
                if let message { receive(message) }
            }
        }
        return .lost
    }
}
