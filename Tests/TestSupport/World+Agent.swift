import Foundation
import Glibc

extension World {
    /// Adds a `[[forward]]` for the sandbox's resources, or for these URLs, to the user's configuration.
    package func configure(forward name: String = "devbox", urls: [String]? = nil, _ further: String = "") throws {
        let list = (urls ?? [sandbox.resource]).map { "\"\($0)\"" }.joined(separator: ", ")
        try configure(after: "[[forward]]\nname = \"\(name)\"\nurls = [\(list)]\n\(further)\n")
    }

    /// Returns the path of a forward's socket.
    package func agentSocket(_ name: String = "devbox") -> String {
        "\(environment["XDG_RUNTIME_DIR"] ?? folder)/lanyard/agents/\(name)"
    }

    /// Runs the agent while the body runs.
    ///
    /// `extra` are additional variables, such as a browser; `terminal` is a command that gives it a terminal.
    package func withAgent(
        _ extra: [String: String] = [:], at terminal: [String] = [], endedBy signal: CInt = SIGTERM,
        waitingFor name: String = "devbox",
        _ body: @Sendable (FarSide) async throws -> Void
    ) async throws {
        // Without a terminal, detach it from the one that runs the tests.
        let words =
            ["/usr/bin/setsid"] + (kernelKeysCommand ?? []) + terminal + ["\(folder)/bin/lanyard", "forward", "serve"]
        _ = try await TestSupport.with(
            words[0], Array(words.dropFirst()), environment: environment.merging(extra) { $1 }, endedBy: signal
        ) {
            try await Self.wait(for: agentSocket(name))
            try await body(try FarSide(self, socket: agentSocket(name)))
        }
    }

    /// Waits until a process listens on a socket.
    package static func wait(for socket: String) async throws {
        for _ in 0..<1200 {
            if isServed(socket) { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NotServed(socket: socket)
    }

    /// Whether a process listens on a socket.
    package static func isServed(_ socket: String) -> Bool {
        guard let connection = try? LocalConnection(to: socket) else { return false }
        connection.close()
        return true
    }
}

/// No process listens on the socket.
struct NotServed: Error {
    let socket: String
}

/// A simulated remote host or container: it has its own home and variables, no keyring and no bus, and shares nothing
/// with the near side but a socket.
package struct FarSide: Sendable {
    /// The folder that contains everything.
    package let folder: String
    /// The environment for programs.
    package let environment: [String: String]

    init(_ world: World, socket: String) throws {
        folder = world.folder + "/far-\(UInt32.random(in: .min ... .max))"
        let files = FileManager.default
        for name in ["home", "bin", "run", "work"] {
            try files.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        for name in ["lanyard", "git-credential-lanyard", "docker-credential-lanyard", "keyring"] {
            try files.createSymbolicLink(atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
        }
        try """
        [credential]
            helper = lanyard
            useHttpPath = true
        [http]
            sslCAInfo = \(world.sandbox.caFile)
        """.write(toFile: "\(folder)/home/.gitconfig", atomically: true, encoding: .utf8)
        environment = [
            "PATH": "\(folder)/bin:\(Programs.folder)", "HOME": "\(folder)/home", "XDG_RUNTIME_DIR": "\(folder)/run",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "1", "LANYARD_AGENT": socket,
        ]
    }

    /// Runs a program on the far side.
    @discardableResult
    package func run(
        _ program: String, _ arguments: [String], _ extra: [String: String] = [:], input: String = "",
        timeout: Duration = .seconds(90)
    ) async throws -> Ended {
        try await TestSupport.run(
            program, arguments, input: input, environment: environment.merging(extra) { $1 }, folder: folder + "/work",
            timeout: timeout)
    }

    /// Runs lanyard on the far side.
    @discardableResult
    package func lanyard(
        _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended { try await run("\(folder)/bin/lanyard", arguments, extra, input: input) }

    /// Runs `lanyard get` for a URL.
    package func get(_ url: String, _ extra: [String: String] = [:], lines: String = "") async throws -> Ended {
        try await lanyard(["get"], extra, input: "url=\(url)\n\(lines)")
    }

    /// Returns the files on the far side that contain a text.
    package func files(holding text: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: folder)?.allObjects.compactMap { $0 as? String } ?? []
        return all.filter { path in
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(path)") else { return false }
            return data.range(of: Data(text.utf8)) != nil
        }
    }
}

/// A connection to a socket in the file system, for sending what lanyard itself never sends.
package final class LocalConnection: Sendable {
    private let descriptor: CInt

    /// Connects to the socket.
    package init(to path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw NotServed(socket: path) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard result == 0 else {
            Glibc.close(descriptor)
            throw NotServed(socket: path)
        }
    }

    /// Sends bytes; returns false if the other end has closed the connection.
    @discardableResult
    package func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    /// Returns everything received until the other end closes; nil if it doesn't within the time limit.
    package func rest(within seconds: Int) -> String? {
        var text: [UInt8] = []
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        while true {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count < 0 { return errno == ECONNRESET ? String(decoding: text, as: UTF8.self) : nil }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += bytes[..<count]
        }
    }

    /// Closes the connection.
    package func close() { Glibc.close(descriptor) }

    /// Returns the process that listens at a socket; nil if none does.
    static func listener(at path: String) -> pid_t? {
        guard let connection = try? LocalConnection(to: path) else { return nil }
        defer { connection.close() }
        // A ucred: process, user and group (unix(7)).
        var peer: [pid_t] = [0, 0, 0]
        var size = socklen_t(peer.count * MemoryLayout<pid_t>.size)
        return getsockopt(connection.descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer[0] : nil
    }
}

extension World {
    /// Returns the far side of an agent, which need not be running.
    package func farSide(_ forward: String = "devbox") async throws -> FarSide {
        try FarSide(self, socket: agentSocket(forward))
    }

    /// Returns the agent's process, which listens at each forward's socket; nil if there is none.
    package func agentProcess() -> Int32? {
        let folder = "\(environment["XDG_RUNTIME_DIR"] ?? folder)/lanyard/agents"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.lazy.compactMap { LocalConnection.listener(at: "\(folder)/\($0)") }.first
    }

    /// Returns the user's configuration.
    package func configText() throws -> String { try String(contentsOfFile: configFile, encoding: .utf8) }
}

/// Ports of the loopback.
package enum TCPPort {
    /// Whether a process listens on a port.
    package static func isOpen(_ port: Int) throws -> Bool {
        let made = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(made) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(made, $0, size) == 0 }
        }
    }
}
