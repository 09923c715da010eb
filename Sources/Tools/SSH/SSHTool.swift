import Addresses
import Forwarding
import Glibc
import Rules
import Secrets
import Terminal

extension Tool {
    static let ssh = Tool(
        "ssh",
        setup: ToolSetup(
            purpose: "tools on a host that you reach by ssh ask this machine's agent",
            discussion: """
                Adds a file to `~/.ssh` that forwards the agent's socket for the host, and includes it first in `~/.ssh/config`. Prints what to do \
                on the host.
                """,
            url: .host("a host, as you name it to ssh", help: "The host, as you name it to ssh."),
            purposeOfExample: "Have the tools on the host devbox ask here", exampleOfURL: " devbox", schemes: ["https"],
            settings: SSHSettings.init))
}

/// ssh: it forwards a forward's socket to the host of the same name.
struct SSHSettings: ForwardSettings {
    let place: ToolTarget

    func requireUse() throws(CommandError) {
        guard isForward else {
            throw CommandError(
                "a forward can't have the name \(forward)",
                hints: ["give the host a short name in ~/.ssh/config, and use that"], status: .usage)
        }
        for path in [try socket(), try remoteSocket()] where !path.isPlainPath {
            throw CommandError("ssh doesn't accept the path: \(path)")
        }
    }

    func changes() throws(CommandError) -> [ToolChange] {
        let (host, folder) = (forward, "\(place.home)/.ssh")
        let file = "lanyard-\(host).conf"
        let remote = try remoteSocket()
        var lines = ["Host \(host)", "RemoteForward \(remote) \(try socket())"]
        // ssh uses only the first `SetEnv` that it reads.
        if !(try setsVariables()) { lines.append("SetEnv \(Configuration.agentVariable)=\(remote)") }
        let include = "Include \(file)"
        return lines.map { ToolChange(.line, [$0], in: "\(folder)/\(file)", to: $0) }
            + [ToolChange(.firstLine, [include], in: "\(folder)/config", to: include)]
    }

    func notes() throws(CommandError) -> [Hint] {
        let host = forward
        let socket = try remoteSocket()
        let name = socket.pieces(between: "/").suffix(2).joined(separator: "/")
        return try faults()
            + [
                Hint(
                    "on \(host), unless its sshd accepts \(Configuration.agentVariable) (AcceptEnv)",
                    run: "lanyard config set agent \(socket)"),
                Hint(
                    "to let new connections replace the socket, in its sshd_config",
                    write: "StreamLocalBindUnlink yes"),
                Hint(
                    "or before each new connection, unless another one is still open",
                    run: "ssh -o ClearAllForwardings=yes \(host) rm -f \(name)"),
                startHint("the agent must run here"),
            ].compactMap(\.self)
    }

    private func socket() throws(CommandError) -> String {
        "\(try folderOfSockets())/\(forward)"
    }

    /// Returns the socket's path on the host: in a folder where nobody else can make one, and with this user and machine
    /// in its name, so that several can use the host.
    private func remoteSocket() throws(CommandError) -> String {
        let here = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? String(geteuid())
        let there = userThere ?? here
        let home = there == "root" ? "/root" : "/home/\(there)"
        return "\(home)/.ssh/lanyard-\("\(here)-\(ownHostName ?? "")".wordForFile).sock"
    }

    /// The user as whom ssh signs in to the host; nil if ssh doesn't say.
    private var userThere: String? {
        let config = "\(place.home)/.ssh/config"
        let options = place.context.isFile(config) ? ["-F", config] : []
        guard let ssh = place.context.program("ssh"),
            let pipe = popen(ShellCommand(words: [ssh] + options + ["-G", forward]).text + " 2>&-", "re")
        else { return nil }
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 1024)
        while fgets(&line, CInt(line.count), pipe) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if let (key, value) = text.cut(at: " "), key.isSame(as: "user") { return String(value.trimmed(of: "\n")) }
        }
        return nil
    }

    private func setsVariables() throws(CommandError) -> Bool {
        let text = try ToolTarget.text(of: "\(place.home)/.ssh/config") ?? ""
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
