import CLinux
import Dispatch
import Glibc
import PluginHost
import Terminal
import TokenAcquisition

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
