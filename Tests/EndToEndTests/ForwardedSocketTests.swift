import Foundation
import TestSupport
import Testing

/// The agent's socket at the far end of ssh, and in a container.
@Suite struct ForwardedSocketTests {
    private static let alice = "alice@contoso.example"

    @Test(.enabled(if: SSHServer.isInstalled, "there is no sshd"))
    func `a clone at the far end of ssh signs in at the near end`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            try await world.withAgent(world.browser(as: Self.alice)) { far in
                try await SSHServer.with("StreamLocalBindUnlink yes", in: world.folder) { server in
                    let socket = far.folder + "/forwarded.sock"
                    let options = ["-o", "ExitOnForwardFailure=yes", "-R", "\(socket):\(world.agentSocket())"]
                    let url = "\(world.sandbox.resource)/common/hello.git"
                    let variables = far.environment.merging(["LANYARD_AGENT": socket]) { $1 }
                        .map { "\($0)='\($1)'" }.joined(separator: " ")
                    let inside = "cd '\(far.folder)/work' && exec env -i \(variables)"
                    let clone = try await server.run("\(inside) git clone --quiet \(url) hello", options)
                    #expect(clone.status == 0, "\(clone)")
                    #expect(FileManager.default.fileExists(atPath: far.folder + "/work/hello/README.md"))
                    #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 1)
                    // A leftover socket of the last connection doesn't get in the way.
                    let again = try await server.run("\(inside) git -C hello fetch", options)
                    #expect(again.status == 0 && again.errors.isEmpty, "\(again)")
                    let got = try await server.run("\(inside) \(far.folder)/bin/lanyard token \(url)", options)
                    let token = try #require(got.lines.first, "\(got)")
                    #expect(far.files(holding: token).isEmpty)
                    // Without a connection, there is no credential.
                    let left = try await far.get(url, ["LANYARD_AGENT": socket])
                    #expect(left.status == 1 && left.errors.contains("cannot be reached"), "\(left)")
                }
            }
        }
    }

    @Test(.enabled(if: SSHServer.isInstalled, "there is no sshd"))
    func `when ssh dies the sign-in ends at both ends`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let started = "\(world.folder)/started"
            let browser = "\(world.folder)/bin/slow-browser"
            try "#!/bin/sh\necho $$ >'\(started)'\nexec sleep 600\n"
                .write(toFile: browser, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: browser)
            try await world.withAgent(["BROWSER": browser]) { far in
                try await SSHServer.with("StreamLocalBindUnlink yes", in: world.folder) { server in
                    let socket = far.folder + "/forwarded.sock"
                    let connection = server.arguments(["-N", "-R", "\(socket):\(world.agentSocket())"])
                    let environment = ["PATH": Programs.folder, "HOME": far.folder]
                    let url = "\(world.sandbox.resource)/common/hello.git"
                    let waiting = try await with("/usr/bin/ssh", connection, environment: environment) {
                        try await World.wait(for: socket)
                        let task = Task { try await far.get(url, ["LANYARD_AGENT": socket]) }
                        for _ in 0..<1200 where !FileManager.default.fileExists(atPath: started) {
                            try await Task.sleep(for: .milliseconds(25))
                        }
                        return task
                    }.result
                    // ssh has been killed.
                    let ended = try await waiting.value
                    #expect(ended.status == 1 && ended.errors.contains("closed the connection"), "\(ended)")
                    // Somebody else's sign-in isn't waited for.
                    let near = try await world.get("common/hello.git", world.browser(as: Self.alice))
                    #expect(near.value("password") != nil, "\(near)")
                    _ = try await with("/usr/bin/ssh", connection, environment: environment) {
                        try await World.wait(for: socket)
                        let got = try await far.get(url, ["LANYARD_AGENT": socket])
                        #expect(got.value("password") == near.value("password"), "\(got)")
                    }
                }
            }
        }
    }

    @Test(.enabled(if: SSHServer.isInstalled, "there is no sshd"))
    func `a connection that sshd takes is no agent's answer`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            try await SSHServer.with("StreamLocalBindUnlink yes", in: world.folder) { server in
                let socket = world.folder + "/forwarded.sock"
                let connection = server.arguments(["-N", "-R", "\(socket):\(world.agentSocket())"])
                let environment = ["PATH": Programs.folder, "HOME": world.folder]
                _ = try await with("/usr/bin/ssh", connection, environment: environment) {
                    try await World.wait(for: socket)
                    let far = try await world.farSide()
                    for words in [["doctor"], ["status"]] {
                        let ended = try await far.lanyard(words, ["LANYARD_AGENT": socket])
                        #expect(ended.status == 1, "\(words) \(ended)")
                        #expect((ended.output + ended.errors).contains("closed the connection"), "\(words) \(ended)")
                    }
                    try await world.withAgent { _ in
                        for words in [["doctor"], ["status"]] {
                            let ended = try await far.lanyard(words, ["LANYARD_AGENT": socket])
                            #expect(ended.status == 0, "\(words) \(ended)")
                        }
                    }
                }
            }
        }
    }

    @Test(.enabled(if: Namespaces.areAvailable, "this user may make no namespaces"))
    func `a container that mounts the socket gets what its forward lists`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            try await world.withAgent(world.browser(as: Self.alice)) { far in
                let socket = far.folder + "/run/mounted.sock"
                try "".write(toFile: socket, atomically: true, encoding: .utf8)
                // The container sees nothing of the near side's home.
                let script = """
                    mount --bind '\(world.agentSocket())' '\(socket)'
                    for hidden in home run config cache data; do mount -t tmpfs none '\(world.folder)'/$hidden; done
                    exec "$@"
                    """
                let url = "\(world.sandbox.resource)/common/hello.git"
                let container = ["--user", "--map-root-user", "--mount", "/bin/sh", "-ec", script, "sh"]
                let clone = try await far.run(
                    "/usr/bin/unshare", container + ["git", "clone", "--quiet", url, "hello"], ["LANYARD_AGENT": socket]
                )
                #expect(clone.status == 0, "\(clone)")
                #expect(FileManager.default.fileExists(atPath: far.folder + "/work/hello/README.md"))
                let other = try await far.run(
                    "/usr/bin/unshare", container + ["\(far.folder)/bin/lanyard", "token", "https://other.example"],
                    ["LANYARD_AGENT": socket])
                #expect(other.status == 1 && other.errors.contains("does not list"), "\(other)")
            }
        }
    }
}

extension ForwardedSocketTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        @Test func `root asks no agent that another user could have put there`() async throws {
            try await World.with { world in
                let far = try await world.farSide()
                let files = FileManager.default
                let open = "\(world.folder)/open"
                let closed = "\(world.folder)/closed"
                for (folder, mode) in [(open, 0o1777), (closed, 0o755), (world.folder, 0o755)] {
                    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
                }
                let script = """
                    import os, socket
                    s = socket.socket(socket.AF_UNIX)
                    s.bind("\(open)/agent.sock")
                    s.listen()
                    while True:
                        c, _ = s.accept()
                        try:
                            c.recv(65536)
                            c.sendall(b"version=1\\nreply=credential\\nusername=m\\npassword=MALLORYS\\n\\n")
                        except OSError:
                            pass
                        c.close()
                    """
                let words = [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", script,
                ]
                _ = try await with("/usr/bin/setpriv", words, environment: ["PATH": Programs.folder]) {
                    try await World.wait(for: "\(open)/agent.sock")
                    let url = "https://git.example"
                    let squatted = try await far.get(url, ["LANYARD_AGENT": "\(open)/agent.sock"])
                    #expect(squatted.status == 1 && squatted.errors.contains("another user"), "\(squatted)")
                    try files.createSymbolicLink(
                        atPath: "\(closed)/link.sock", withDestinationPath: "\(open)/agent.sock")
                    let linked = try await far.get(url, ["LANYARD_AGENT": "\(closed)/link.sock"])
                    #expect(linked.status == 1 && linked.errors.contains("another user"), "\(linked)")
                    // As in a container, whose root has mounted the socket of the host's user.
                    try files.moveItem(atPath: "\(open)/agent.sock", toPath: "\(closed)/agent.sock")
                    let mounted = try await far.get(url, ["LANYARD_AGENT": "\(closed)/agent.sock"])
                    #expect(mounted.value("password") == "MALLORYS", "\(mounted)")
                }
            }
        }
    }
}
