import Addresses
import Forwarding
import Rules
import Terminal

/// Settings for a forward, by the forward's name.
protocol ForwardSettings: ToolSettings {}

extension ForwardSettings {
    /// The forward's name.
    var forward: String { place.pattern?.host.name ?? "" }

    /// Whether that can be one.
    var isForward: Bool {
        Forward.isName(forward) && place.pattern?.hasPath == false && place.pattern?.host.port == nil
    }

    func name(ofURL url: String) -> String { URLPattern(url)?.host.name ?? url }

    func faults() throws(CommandError) -> [Hint] {
        let name = forward
        guard !(try place.context.configuration().forwards).contains(where: { $0.name == name }) else {
            return []
        }
        return [Hint("say what \(name) may ask for", run: "lanyard forward add \(name) URL")]
    }

    /// How to start the agent; nil if it already serves the forward.
    func startHint(_ text: Message) -> Hint? {
        let isServed = place.context.agentFolder.map { AgentSocket("\($0)/\(forward)").answers }
        return isServed == true ? nil : Hint(text, run: "lanyard forward serve")
    }

    /// The folder of the agent's sockets.
    func folderOfSockets() throws(CommandError) -> String {
        if let folder = place.context.agentFolder { return folder }
        throw CommandError("there is no folder for the agent's sockets", hints: ["set XDG_RUNTIME_DIR or HOME"])
    }
}
