import Addresses
import Forwarding
import Glibc
import Rules
import Secrets
import Terminal
import ToolTexts

/// ssh: it forwards a forward's socket to the host of the same name.
enum SSHTool: ForwardTool {
    static let name = "ssh"
    static let purpose = "tools on a host that you reach by ssh ask this machine's agent"
    static let discussion = """
        Adds a file to `~/.ssh` that forwards the agent's socket for the host, and includes it first in `~/.ssh/config`. Prints what to do \
        on the host.
        """
    static let url = ToolURL.host("a host, as you name it to ssh", help: "The host, as you name it to ssh.")
    static let purposeOfExample = "Have the tools on the host devbox ask here"
    static let exampleOfURL = " devbox"

    static func requireUse(_ place: ToolPlace) throws(Failure) {
        guard isForward(place) else {
            throw Failure(
                "a forward can't have the name \(forward(place).displayable(limit: 200))",
                hints: ["give the host a short name in ~/.ssh/config, and use that"], status: .usage)
        }
        for path in [try socket(place), remoteSocket(place)] where !path.isPlainPath {
            throw Failure("ssh doesn't accept the path: \(path.displayable(limit: 300))")
        }
    }

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let (host, folder) = (forward(place), "\(place.home)/.ssh")
        let file = "lanyard-\(host).conf"
        let remote = remoteSocket(place)
        var lines = ["Host \(host)", "RemoteForward \(remote) \(try socket(place))"]
        // ssh uses only the first `SetEnv` that it reads.
        if !(try setsVariables(place)) { lines.append("SetEnv \(Configuration.agentVariable)=\(remote)") }
        let include = "Include \(file)"
        return lines.map { ToolChange(.line, [$0], in: "\(folder)/\(file)", to: $0) }
            + [ToolChange(.firstLine, [include], in: "\(folder)/config", to: include)]
    }

    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let host = forward(place)
        return [
            try hintOfMissingForward(place),
            Hint(
                "on \(host), unless its sshd accepts \(Configuration.agentVariable) (AcceptEnv)",
                run: "lanyard config set agent \(remoteSocket(place))"),
            Hint(
                "to let new connections replace the socket, in its sshd_config",
                write: "StreamLocalBindUnlink yes"),
            AgentCommand.startHint(host, "the agent must run here", place.context),
        ].compactMap(\.self)
    }

    private static func socket(_ place: ToolPlace) throws(Failure) -> String {
        do throws(AgentFolder.Problem) { return "\(try AgentCommand.place(place.context))/\(forward(place))" } catch {
            throw Failure("there is no folder for the agent's sockets", hints: ["set XDG_RUNTIME_DIR or HOME"])
        }
    }

    /// Returns the socket's path on the host, with this user and machine in it, so that several can use the host.
    private static func remoteSocket(_ place: ToolPlace) -> String {
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? String(geteuid())
        return "/tmp/lanyard-\("\(user)-\(HostName.here ?? "")".wordForFile).sock"
    }

    private static func setsVariables(_ place: ToolPlace) throws(Failure) -> Bool {
        let text = try ToolPlace.text(of: "\(place.home)/.ssh/config") ?? ""
        return text.pieces(between: "\n").contains { $0.trimmed(of: " \t\r").lowercased().hasPrefix("setenv") }
    }
}

extension String {
    /// Whether it is an absolute path in which neither ssh nor a shell interprets a character.
    fileprivate var isPlainPath: Bool { hasPrefix("/") && utf8.allSatisfy(\.isPlain) }

    /// The characters that can be part of a file's name anywhere.
    fileprivate var wordForFile: String {
        String(decoding: utf8.filter { $0.isPlain && $0 != UInt8(ascii: "/") }.prefix(48), as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isPlain: Bool { isAlphanumeric || "-./_@+".utf8.contains(self) }
}
