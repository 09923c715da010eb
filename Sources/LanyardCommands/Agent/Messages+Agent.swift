import CredentialEngine
import Forwarding
import Rules
import Terminal

extension Failure {
    /// Creates the error for an agent that can't be asked; `socket` is for people, `path` for commands, if it may be
    /// shown.
    init(_ problem: AgentSocket.Problem, at socket: String, path: String?) {
        let reconnect: Hint = "start the agent on the other machine, and connect again"
        switch problem {
        case .unreachable(let reason, isThere: true):
            self.init(
                "the agent at \(socket) cannot be reached: \(reason)",
                hints: [
                    path.map { Hint("an earlier connection may have left the socket; remove it", run: "rm \($0)") },
                    reconnect,
                ].compactMap(\.self))
        case .unreachable(let reason, isThere: false):
            self.init("the agent at \(socket) cannot be reached: \(reason)", hints: [reconnect])
        case .foreign:
            self.init(
                "the agent at \(socket) belongs to another user",
                hints: ["name your own in LANYARD_AGENT, or in `agent` of the configuration"])
        case .garbled:
            self.init("the program that answers at \(socket) is not a lanyard agent", hints: ["check LANYARD_AGENT"])
        case .hungUp: self.init("the agent at \(socket) closed the connection", hints: [reconnect])
        case .silent: self.init("the agent at \(socket) did not answer in time", hints: [reconnect])
        case .unwritable: self.init("the request cannot be sent to the agent")
        }
    }

    /// Returns the error with other hints if this machine has no keyring because it asks an agent.
    func inView(of context: CommandContext) -> Failure {
        guard cause == .keyring,
            (try? Configuration.load(environment: context.environment))?.agent != nil
        else { return self }
        return Failure(
            message, hints: ["this machine uses an agent: sign-ins and tokens are on the agent's machine"],
            status: status, cause: cause)
    }

    /// Creates the error for an agent's refusal, whose remedies apply to the agent's machine.
    init(_ refusal: ForwardedRefusal) {
        self.init(
            "the agent refused: \(refusal.message)",
            hints: refusal.remedies.map { Hint("on the agent's machine, \($0)") },
            status: refusal.code == .nobody ? .interactionRequired : .failed,
            cause: refusal.code == .person ? .cancellation : .other)
    }
}

extension AgentTerms {
    /// Creates the terms of a command's tool; `isRefused` tells whether the tool was refused a moment ago.
    init(
        _ context: CommandContext, _ options: InteractionOptions.Values,
        isRefused: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init()
        mayAsk = { options.isInteractive && context.silencingVariable == nil && !isRefused() }
        timeLimit = options.timeLimit
        waiting = { context.console.note("waiting for the agent; it may be asking you on its machine") }
    }
}
