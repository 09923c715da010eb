import Forwarding
internal import Glibc
import Rules
import Secrets
import TokenStore

/// How whoever asks waits for what an agent says.
public struct RelayTerms: Sendable {
    /// Whether the agent may ask the person, whose screen is not the tool's.
    public var mayAsk: @Sendable () -> Bool
    /// How many seconds the tool waits; nil if it waits for a person.
    public var timeLimit: Int?
    /// Told once if it takes longer than a second.
    public var waiting: @Sendable () -> Void
    /// Whether somebody counts on what is stored: an agent stores nothing, so it is refused unless the agent gives the same anyway.
    public var mustKeep = false

    /// Says how.
    public init(
        mayAsk: @escaping @Sendable () -> Bool = { true }, timeLimit: Int? = nil,
        waiting: @escaping @Sendable () -> Void = {}
    ) {
        self.mayAsk = mayAsk
        self.timeLimit = timeLimit
        self.waiting = waiting
    }
}

/// Asks an agent elsewhere instead of this machine's rules and keyring.
struct Relay {
    let agent: String
    let terms: RelayTerms

    /// What the agent says.
    ///
    /// Nothing is kept here, and an agent keeps nothing for others. What a server refused is passed on, as when git asks a second
    /// time: the agent then drops a token of its own that it is, and gets another.
    func outcome(of question: Question) throws(Refusal) -> Outcome {
        switch question {
        case .get(var request):
            // Here, most tools can't ask because they hide what shows on their terminal; the agent has its own.
            request.isUnattended = terms.timeLimit != nil || !terms.mayAsk()
            return try get(request)
        case .erase(_, let refused) where refused.mustExist: throw .keptElsewhere
        case .erase(var request, let refused):
            guard let secret = refused.authorization ?? refused.password, request.host != nil else { return .nothing }
            request.refusedToken = secret.fingerprint
            request.isUnattended = true
            // Whatever comes of it is for the next who asks.
            _ = try? get(request)
            return .nothing
        case .store(let credential, var request):
            guard terms.mustKeep else { return .nothing }
            (request.label, request.isUnattended) = (nil, true)
            guard case .credential(let known) = try? get(request), known.secret == credential.secret else {
                throw .keptElsewhere
            }
            return .nothing
        case .list: return .list([:])
        }
    }

    private func get(_ request: CredentialRequest) throws(Refusal) -> Outcome {
        try request.requireTarget()
        var rest = request.wish
        (rest.scopes, rest.tenant) = ([], nil)
        guard rest.isEmpty else { throw .notForwarded }
        let reply: ForwardedReply
        do throws(AgentSocket.Problem) {
            reply = try AgentSocket(agent).ask(
                ForwardedRequest(request, requester: Self.hostName), within: terms.timeLimit, waiting: terms.waiting)
        } catch {
            throw .agent(error, socket: agent)
        }
        switch reply {
        case .credential(let credential): return try request.outcome(credential)
        case .nothing: return .nothing
        case .refused(let refusal): throw .forwarded(refusal)
        }
    }

    /// What this machine calls itself.
    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).displayable()
    }
}
