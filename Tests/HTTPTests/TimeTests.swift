import AuthorityFixture
import Foundation
import HTTPProbe
import TestSupport
import Testing

/// The phases of a request, each of which ends at once when the user wants it, and by itself in time.
struct TimeTests {
    enum Phase: String, CaseIterable {
        case connecting, proxy, flood, socks, handshake, answer, body

        /// Whether the server may have got the request by then.
        var isSent: Bool { [.answer, .body].contains(self) }

        /// What is said if nothing happens any more.
        var reason: String { isSent ? "timedOut" : "unreachable(timedOut)" }
    }

    /// The connections to a port of this machine that wait to be accepted by nobody.
    private static func waiting(at port: Int) -> Int {
        // Foundation reads only the beginning of a long file of the kernel's.
        guard let table = fopen("/proc/net/tcp", "r") else { return 0 }
        defer { fclose(table) }
        var (lines, line) = ([String](), [CChar](repeating: 0, count: 512))
        while fgets(&line, 512, table) != nil {
            lines.append(String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return lines.count { line in
            let words = line.split(separator: " ")
            // The other end, and SYN_SENT.
            return words.count > 3 && words[2] == String(format: "0100007F:%04X", port) && words[3] == "02"
        }
    }

    /// Runs the body with a request that gets stuck in a phase, and the condition that it is there.
    private static func stuck(
        in phase: Phase, _ body: (Question, _ variables: [String: String], _ isThere: () -> Bool) async throws -> Void
    ) async throws {
        switch phase {
        case .connecting:
            let (listener, port) = RawServer.listen(backlog: 0)
            var others: [CInt] = []
            defer { for descriptor in others + [listener] { close(descriptor) } }
            while waiting(at: port) == 0, others.count < 100 {
                others.append(RawServer.connect(to: port, flag: SOCK_NONBLOCK.rawValue))
                try await Task.sleep(for: .milliseconds(5))
            }
            let before = waiting(at: port)
            try await body(Question("https://127.0.0.1:\(port)/"), [:]) { waiting(at: port) > before }
        case .proxy, .socks:
            try await RawServer.run {
                $0.wait()
            } _: { server in
                let scheme = phase == .proxy ? "http" : "socks5h"
                try await body(Question("https://id.example/"), ["https_proxy": "\(scheme)://127.0.0.1:\(server.port)"])
                {
                    !server.received.isEmpty
                }
            }
        case .flood:
            // libcurl reads the body of a refusal for as long as it comes.
            let refusal =
                "HTTP/1.1 407 Authenticate\r\nproxy-authenticate: Basic realm=\"a\"\r\n"
                + "content-length: 9000000000000000000\r\n\r\n"
            try await RawServer.run { client in
                client.receiveHead()
                client.send(refusal)
                client.flood("a")
            } _: { server in
                let proxy = "http://alice:secret@127.0.0.1:\(server.port)"
                try await body(Question("https://id.example/"), ["https_proxy": proxy]) { server.received.count > 20 }
            }
        case .handshake:
            try await RawServer.run {
                $0.wait()
            } _: { server in
                try await body(Question("https://localhost:\(server.port)/"), [:]) { !server.received.isEmpty }
            }
        case .answer:
            try await TLSServer.run(.host("localhost"), { _ in .silence }) { server in
                try await body(Question("https://localhost:\(server.port)/", caFiles: [server.caFile]), [:]) {
                    !server.requests.isEmpty
                }
            }
        case .body:
            let start = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"
            try await TLSServer.run(.host("localhost"), { _ in .answer(start) }) { server in
                try await body(Question("https://localhost:\(server.port)/", caFiles: [server.caFile]), [:]) {
                    !server.requests.isEmpty
                }
            }
        }
    }

    @Test(arguments: Phase.allCases, Libcurl.allCases)
    func `a cancelled request ends at once`(_ phase: Phase, _ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try await Self.stuck(in: phase) { question, variables, isThere in
                let (input, output) = (try JSONEncoder().encode(question), "\(folder.path)/reply")
                let ended = try await with(
                    Libcurl.probe, input: String(decoding: input, as: UTF8.self), output: output,
                    environment: build.environment.merging(variables) { $1 }, endedBy: SIGUSR1
                ) {
                    try await until(isThere)
                }
                #expect(ended.status == 0)
                let reply = try JSONDecoder().decode(Reply.self, from: Data(contentsOf: URL(filePath: output)))
                #expect(reply.reason == "cancelled" && reply.library.hasPrefix(build.rawValue), "\(reply)")
                #expect(reply.mayHaveArrived == phase.isSent, "\(reply)")
                let seconds = try #require(reply.secondsToCancel)
                #expect(seconds < 1, "\(seconds)")
            }
        }
    }

    @Test(arguments: Phase.allCases, Libcurl.allCases)
    func `one that nobody cancels ends in time`(_ phase: Phase, _ build: Libcurl) async throws {
        try await Self.stuck(in: phase) { question, variables, _ in
            var question = question
            (question.connect, question.whole) = (1, 2)
            let reply = try await build.ask(question, variables)
            #expect(reply.reason == phase.reason && reply.mayHaveArrived == phase.isSent, "\(reply)")
            #expect(reply.seconds >= (phase.isSent ? 1.9 : 0.9) && reply.seconds < 10, "\(reply.seconds)")
        }
    }

    /// Makes a network of its own, whose name server receives everything and says nothing.
    private static let silence = """
        import fcntl, os, socket, struct, subprocess, sys
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # SIOCSIFFLAGS and IFF_UP: the loopback interface of a new network is down.
        fcntl.ioctl(server, 0x8914, struct.pack("16sh22x", b"lo", 1))
        server.bind(("127.0.0.1", 53))
        server.set_inheritable(True)
        subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
        os.execv(sys.argv[2], sys.argv[2:])
        """

    @Test(
        .enabled("unprivileged users may make namespaces here") {
            try await run("unshare", ["--map-root-user", "--net", "--mount", "true"], environment: Libcurl.bare).status
                == 0
        }, arguments: Libcurl.allCases)
    func `a silent name server isn't waited for`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            var question = Question("https://id.example/")
            (question.connect, question.whole) = (1, 2)
            let settings = try folder.write("nameserver 127.0.0.1\n", to: "resolv.conf")
            let launcher = [
                "unshare", "--map-root-user", "--net", "--mount", "python3", "-c", Self.silence, settings,
            ]
            let reply = try await build.ask(question, by: launcher)
            #expect(reply.reason == "unreachable(timedOut)" && !reply.mayHaveArrived, "\(reply)")
            #expect(reply.seconds >= 0.9 && reply.seconds < 4, "\(reply.seconds)")
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `why there is no connection is told, and that nothing was sent`(_ build: Libcurl) async throws {
        let (listener, port) = RawServer.listen(backlog: 1)
        close(listener)
        for (url, variables, reason, isOfProxy) in [
            ("https://127.0.0.1:\(port)/", [:], "unreachable(refused)", false),
            ("https://nowhere.invalid/", [:], "unreachable(unknownName)", false),
            ("https://id.example/", ["https_proxy": "http://127.0.0.1:\(port)"], "unreachable(refused)", true),
            ("https://id.example/", ["https_proxy": "http://nowhere.invalid:1"], "unreachable(unknownName)", true),
            ("https://id.example/", ["all_proxy": "socks5h://127.0.0.1:\(port)"], "unreachable(refused)", true),
            ("https://id.example/", ["all_proxy": "socks5h://nowhere.invalid:1"], "unreachable(unknownName)", true),
        ] as [(String, [String: String], String, Bool)] {
            let reply = try await build.ask(Question(url), variables)
            #expect(
                reply.reason == reason && reply.isOfProxy == isOfProxy && !reply.mayHaveArrived,
                "\(url) \(variables) \(reply)")
        }
    }
}
