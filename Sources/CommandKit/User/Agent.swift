package import CredentialEngine
import Files
package import Forwarding
import Rules
package import Terminal

extension CommandContext {
    /// Returns the folder of the sockets.
    package func agentSockets() throws(AgentError) -> String {
        guard let folder = environment.ownRuntimeFolder ?? environment.cacheHome else {
            throw .unusable("neither XDG_RUNTIME_DIR nor HOME is set")
        }
        return "\(folder)/lanyard/agents"
    }
}

extension CommandError {
    /// Creates the error for an agent that can't be asked; `socket` is for users, `path` for commands, if it may be
    /// shown.
    package init(_ problem: AgentError, at socket: String, path: String?) {
        let reconnect: Hint = "start the agent on the other machine, and connect again"
        switch problem {
        case .exists:
            self.init(
                "an agent is already running",
                hints: [Hint("if systemd runs it, look at it", run: "systemctl --user status lanyard-agent")])
        case .unusable(let reason): self.init("the folder of the agent's sockets cannot be used: \(reason)")
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
    package func inView(of context: CommandContext) -> CommandError {
        guard cause.isOfKeyring,
            (try? Configuration.load(environment: context.environment))?.agent != nil
        else { return self }
        return CommandError(
            message, hints: ["this machine uses an agent: sign-ins and tokens are on the agent's machine"],
            status: status, cause: cause)
    }

    /// Creates the error for an agent's refusal, whose remedies apply to the agent's machine.
    package init(_ refusal: ForwardedRefusal) {
        self.init(
            "the agent refused: \(refusal.message)",
            hints: refusal.remedies.map { Hint("on the agent's machine, \($0)") },
            status: refusal.code == .nobody ? .interactionRequired : .failed,
            cause: refusal.code == .user ? .cancellation : .other)
    }
}

extension AgentTerms {
    /// Creates the terms of a command's tool; `isRefused` tells whether the tool was refused a moment ago.
    package init(
        _ context: CommandContext, _ options: InteractionOptions.Values,
        isRefused: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init()
        mayAsk = { options.isInteractive && context.silencingVariable == nil && !isRefused() }
        timeLimit = options.timeLimit
        waiting = { context.console.note("waiting for the agent; it may be asking you on its machine") }
    }
}
