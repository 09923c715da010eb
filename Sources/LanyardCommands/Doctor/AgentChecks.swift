import Forwarding
import Rules
import Terminal

extension Examination {
    private static let check = "agent"

    /// Checks whether the agent that this machine uses can be reached, or else whether the machine's own forwards are
    /// served; empty if nothing is forwarded to or from this machine.
    ///
    /// For strangers, no socket or forward is named, because people name these after machines.
    var agentFindings: [Finding] {
        if let agent = configuration.agent { return [asked(agent)] }
        let forwards = configuration.forwards
        guard !forwards.isEmpty else { return [] }
        guard let folder = try? AgentCommand.place(context) else { return [] }
        let unserved = forwards.filter { !AgentCommand.isServed("\(folder)/\($0.name)") }
        guard !unserved.isEmpty else { return [.pass(Self.check, "serves \(names(of: forwards))")] }
        return [
            .warn(
                Self.check, "no agent runs for \(names(of: unserved))",
                Hint("to start the agent", run: "lanyard agent"))
        ]
    }

    private func names(of forwards: [Forward]) -> String {
        guard isForStrangers else { return forwards.map(\.name).joined(separator: ", ") }
        return "\(forwards.count) \(forwards.count == 1 ? "forward" : "forwards")"
    }

    private func asked(_ agent: String) -> Finding {
        let shown = isForStrangers ? "its socket" : context.short(agent)
        do throws(AgentSocket.Problem) {
            try AgentSocket(agent).check()
            return .pass(Self.check, "requests go to the agent at \(shown), which answers")
        } catch {
            return .fail(Self.check, Failure(error, at: shown, path: isForStrangers ? nil : agent))
        }
    }
}
