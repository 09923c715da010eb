import ConsumerProtocols
import Dispatch
import Forwarding
import Glibc
import Rules
import Secrets
import SystemPackage
import Terminal

/// The process that answers one of the agent's requests: it reads the request from stdin and writes the reply to
/// stdout.
///
/// stdin stays open while the answer is wanted. When it closes, however the agent ended, this process and everything
/// that it started end as if by SIGTERM.
struct AgentAnswer {
    let context: CommandContext
    private let pending = PendingQuestion()

    func run() async throws {
        guard let block = readRequest() else { throw Failure("the agent's request cannot be read") }
        endWithInput()
        let request: ForwardedRequest
        do throws(ForwardedRequest.Fault) { request = try ForwardedRequest(block) } catch {
            return context.console.write(ForwardedReply.refused(ForwardedRefusal(error)).bytes)
        }
        // The settings may have changed since the agent read them.
        let forwards = try Session(context).configuration.forwards
        guard let forward = forwards.first(where: { $0.name == request.forward }) else {
            return context.console.write(ForwardedReply.nothing.bytes)
        }
        let requester = Requester(forward: forward.name, name: request.requester, pending: pending)
        if let refusal = await refusal(of: request, to: forward, requester) {
            return context.console.write(ForwardedReply.refused(refusal).bytes)
        }
        var context = context
        context.requester = requester
        var run = ConsumerRun(ForwardedConsumer(request), in: context)
        _ = await run.toTheEnd()
    }

    private func refusal(
        of request: ForwardedRequest, to forward: Forward, _ requester: Requester
    ) async -> ForwardedRefusal? {
        if let objection = forward.objection(to: request.wanted) {
            return ForwardedRefusal(request.wanted, objection, to: forward)
        }
        guard forward.confirms else { return nil }
        return await Confirmation(context: context, requester: requester).refusal(of: request.wanted)
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
                pending.withdraw(console)
                kill(getpid(), SIGTERM)
                return
            }
        }
    }
}

/// The far side for which a command runs.
struct Requester: Sendable {
    /// The name of the forward, which the user chose.
    let forward: String
    /// The far side's own name, fit to show; nothing verifies it.
    let name: String
    let pending: PendingQuestion

    /// A description of the far side within a sentence.
    var text: String {
        name.isEmpty || name == forward ? forward : "\(forward) (which calls itself \(name))"
    }
}
