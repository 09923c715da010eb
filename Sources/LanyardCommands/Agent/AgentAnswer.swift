import Addresses
import CredentialEngine
import Dispatch
import Forwarding
import Glibc
import Rules
import Secrets
import SystemPackage
import Terminal
import TokenStore
import Tools

/// The process that answers one of the agent's requests: it reads the request from stdin and writes the reply to
/// stdout.
///
/// stdin stays open while the answer is wanted. When it closes before there is one, however the agent ended, this
/// process and everything that it started end as if by SIGTERM, except for what redeems a refresh token.
struct AgentAnswer {
    let context: CommandContext
    private let pending = PendingQuestion()

    func run() async throws {
        guard let block = readRequest() else { throw Failure("the agent's request cannot be read") }
        endWithInput()
        var request: ForwardedRequest
        do throws(ForwardedRequest.Fault) { request = try ForwardedRequest(block) } catch {
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
        do throws(Failure) {
            wanted = try session.resolve(request.wanted)
            found = wanted == nil ? try await password(for: request.wanted, of: forward, in: session) : nil
        } catch {
            context.console.report(error)
            let code = error.cause.isOfKeyring ? ForwardedRefusal.Code.keyring : .other
            return reply(.refused(.init(code, error.message, remedies: error.hints.map(\.line))))
        }
        guard wanted != nil || found != nil else { return reply(.nothing) }
        if forward.confirms {
            let subject = ConfirmationSubject(request.wanted, wanted, found, in: session)
            let confirmation = Confirmation(context: context, requester: requester)
            if let refusal = await confirmation.refusal(of: subject) { return reply(.refused(refusal)) }
        }
        if let found { return reply(.credential(Credential(found))) }
        // From here on there may be a token for the place that was asked for, and nothing else.
        request.wanted.reach = .place
        var run = ConsumerRun(ForwardedConsumer(request), in: context)
        _ = await run.toTheEnd()
    }

    private func reply(_ reply: ForwardedReply) { context.console.write(reply.bytes) }

    /// Returns the password that is stored for a request at a place that the forward lists; nil if there is none.
    private func password(
        for request: CredentialRequest, of forward: Forward, in session: Session
    ) async throws(Failure) -> StoredPassword? {
        guard let query = PasswordQuery(request) else { return nil }
        let now = context.now
        func search() throws(Failure) -> StoredPassword? {
            try session.keeping { () throws(StoreError) in
                try session.passwords.get(query, now: now) { forward.lists(path: $0, for: request) }
            }
        }
        guard !request.isUnattended else { return try search() }
        return try await session.unlocking(for: request.place) { () throws(Failure) in try search() }
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
