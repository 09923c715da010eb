package import ArgumentParser
import CredentialEngine
import Files
import Glibc
import Keyring
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
        ignoreSignals(endingAfter: Self.longest)
        context.keyring.open()
        guard let order = try Redemption(OpenFile.bytes(from: context.input.rawValue, atMost: Redemption.longest + 1))
        else { throw ExitCode(ExitStatus.usage.rawValue) }
        let relay = MessageRelay(context.console.output)
        var context = context
        context.relay = relay
        let options = InteractionOptions.Values(isInteractive: order.mayPrompt, timing: order.timing, mayRedeem: true)
        try await Session(context, options: options).acquirer.carryOut(order) { outcome in
            relay.send(.outcome(outcome), within: 60_000)
            // Storing a refresh token may take longer, and ends by itself.
            alarm(0)
        }
    }

    package init() {}
}

/// Ignores the signals by which people and terminals end processes, because this one's work must not be cut off; after some
/// seconds, it ends.
func ignoreSignals(endingAfter seconds: UInt32) {
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_IGN) }
    alarm(seconds)
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
