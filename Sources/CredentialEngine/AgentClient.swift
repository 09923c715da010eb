internal import AnswerCache
import Forwarding
import Keyring
import Model
import Secrets

/// The terms on which a tool waits for an agent's reply.
public struct AgentTerms: Sendable {
    /// Whether the agent may ask the user, whose screen isn't the tool's.
    public var mayAsk: @Sendable () -> Bool = { true }
    /// The number of seconds that the tool waits; nil if it waits for a user.
    public var timeLimit: Int?
    /// Called once if the reply takes longer than a second.
    public var waiting: @Sendable () -> Void = {}
    /// Whether the caller relies on the credential being stored: agents store nothing, so `store` is refused unless the
    /// agent already returns the same one.
    public var mustKeep = false

    /// Creates the terms of a caller that waits for the user, and doesn't rely on storing.
    public init() {}
}

/// Asks an agent elsewhere instead of using this machine's rules and keyring.
struct AgentClient {
    let agent: String
    let terms: AgentTerms

    /// Returns the agent's answer to a question.
    ///
    /// Neither side stores anything: not this machine, and not the agent for others. A secret that a server refused is
    /// passed on, as when git asks a second time. If it is the agent's own token, the agent drops it and gets another.
    func outcome(of question: Question) throws(EngineError) -> Outcome {
        switch question {
        case .get(var request):
            // Most tools can't ask here because they hide what their terminal shows; the agent has a terminal of its
            // own.
            request.isUnattended = terms.timeLimit != nil || !terms.mayAsk()
            return try get(request)
        case .erase(_, let refused) where refused.mustExist: throw .keptElsewhere
        case .erase(var request, let refused):
            guard request.host != nil else { return .nothing }
            request.isUnattended = true
            for fingerprint in refused.fingerprints ?? [] {
                request.refusedToken = fingerprint
                // The result is for the next request.
                _ = try? get(request)
            }
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

    private func get(_ request: CredentialRequest) throws(EngineError) -> Outcome {
        try request.requireTarget()
        var rest = request.explicit
        (rest.scopes, rest.tenant) = ([], nil)
        guard rest.isEmpty else { throw .notForwarded }
        let reply: ForwardedReply
        do throws(AgentError) {
            reply = try AgentSocket(agent).ask(
                ForwardedRequest(request, requester: ownHostName?.displayable() ?? ""), within: terms.timeLimit,
                waiting: terms.waiting)
        } catch {
            throw .agent(error, socket: agent)
        }
        switch reply {
        case .credential(let credential): return try request.outcome(credential)
        case .nothing: return .nothing
        case .refused(let refusal): throw .forwarded(refusal)
        }
    }
}
