import Addresses
import Forwarding
import Rules
import Terminal

/// A tool that is configured for a forward, by the forward's name.
protocol ForwardTool: ConfigurableTool {}

extension ForwardTool {
    static var schemes: [String] { ["https"] }

    /// The forward's name.
    static func forward(_ place: ToolPlace) -> String { place.pattern?.host.name ?? "" }

    /// Whether that can be one.
    static func isForward(_ place: ToolPlace) -> Bool {
        Forward.isName(forward(place)) && place.pattern?.hasPath == false && place.pattern?.host.port == nil
    }

    static func name(ofURL url: String, _ place: ToolPlace) -> String { URLPattern(url)?.host.name ?? url }

    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let name = forward(place)
        guard !(try Session(place.context).configuration.forwards).contains(where: { $0.name == name }) else {
            return []
        }
        return [Hint("say what \(name) may ask for", run: "lanyard forward add \(name) URL")]
    }

    /// The folder of the agent's sockets.
    static func folderOfSockets(_ place: ToolPlace) throws(Failure) -> String {
        do throws(AgentFolder.Problem) { return try AgentCommand.place(place.context) } catch {
            throw Failure("there is no folder for the agent's sockets", hints: ["set XDG_RUNTIME_DIR or HOME"])
        }
    }
}
