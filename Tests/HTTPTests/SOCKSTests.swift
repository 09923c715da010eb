import AuthorityFixture
import HTTPProbe
import TestSupport
import Testing

/// Requests through SOCKS proxies.
struct SOCKSTests {
    @Test(.enabled(if: MicroSocks.isInstalled, "microsocks is not installed"), arguments: Libcurl.allCases)
    func `SOCKS5 takes names and addresses`(_ build: Libcurl) async throws {
        try await TLSServer.run(.host("localhost")) { server in
            try await MicroSocks.with { port in
                for scheme in ["socks5h", "socks5"] {
                    let question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                    let reply = try await build.ask(question, ["all_proxy": "\(scheme)://127.0.0.1:\(port)"])
                    #expect(reply.status == 404 && reply.proxy == "\(scheme)://127.0.0.1:\(port)", "\(reply)")
                }
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test(.enabled(if: MicroSocks.isInstalled, "microsocks is not installed"), arguments: Libcurl.allCases)
    func `a SOCKS5 server's password`(_ build: Libcurl) async throws {
        try await TLSServer.run(.host("localhost")) { server in
            try await MicroSocks.with((name: "alice", password: "p:s@c")) { port in
                for (user, isRight) in [("alice:p%3As%40c@", true), ("alice:wrong@", false), ("", false)] {
                    let question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                    let reply = try await build.ask(question, ["https_proxy": "socks5h://\(user)127.0.0.1:\(port)"])
                    #expect(reply.status == (isRight ? 404 : nil), "\(reply)")
                    #expect(reply.reason == (isRight ? nil : "proxyWantsPassword"), "\(reply)")
                    #expect(isRight || reply.isOfProxy && !reply.mayHaveArrived)
                }
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test(.enabled(if: MicroSocks.isInstalled, "microsocks is not installed"), arguments: Libcurl.allCases)
    func `what a SOCKS5 server can't do is told`(_ build: Libcurl) async throws {
        try await MicroSocks.with { port in
            for (url, reason) in [
                ("https://localhost:9/", "refusedByProxy(nil)"), ("https://nowhere.invalid:9/", "refusedByProxy(nil)"),
            ] {
                let reply = try await build.ask(Question(url), ["https_proxy": "socks5h://127.0.0.1:\(port)"])
                #expect(reply.reason == reason && reply.isOfProxy && !reply.mayHaveArrived, "\(reply)")
            }
            let reply = try await build.ask(
                Question("https://nowhere.invalid:9/"), ["https_proxy": "socks5://127.0.0.1:\(port)"])
            #expect(reply.reason == "unreachable(unknownName)" && !reply.isOfProxy, "\(reply)")
        }
    }

    @Test(.enabled(if: SSHServer.isInstalled, "sshd is not installed"), arguments: Libcurl.allCases)
    func `ssh's server takes SOCKS4, 4a and 5`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            try await TLSServer.run(.host("localhost")) { server in
                try await SSHSocks.with(in: folder.path) { port in
                    for scheme in ["socks4", "socks4a", "socks5", "socks5h"] {
                        let question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                        let reply = try await build.ask(question, ["https_proxy": "\(scheme)://127.0.0.1:\(port)"])
                        #expect(reply.status == 404, "\(scheme) \(reply)")
                    }
                    let reply = try await build.ask(
                        Question("https://localhost:9/"), ["https_proxy": "socks4a://127.0.0.1:\(port)"])
                    #expect(reply.reason == "refusedByProxy(nil)" && reply.isOfProxy, "\(reply)")
                }
                #expect(server.requests.count == 4)
            }
        }
    }

    /// What a proxy is asked first.
    private static func opening(_ bytes: [UInt8]) -> String {
        switch bytes.first {
        case 0x16: "TLS"
        // A version, a command, a port and an address; a name follows if the address is none.
        case 4 where bytes.count > 8: bytes[4..<7].allSatisfy { $0 == 0 } ? "SOCKS4 by name" : "SOCKS4 by address"
        case 5 where bytes.count > 2:
            // A version and methods; then version, command, 0, kind of address.
            switch bytes.dropFirst(2 + Int(bytes[1])).dropFirst(3).first {
            case 1: "SOCKS5 by address"
            case 3: "SOCKS5 by name"
            default: "SOCKS5"
            }
        default: String(String(decoding: bytes, as: UTF8.self).prefix { $0 != "\r\n" })
        }
    }

    @Test(
        arguments: Libcurl.allCases,
        ["", "http://", "https://", "socks://", "socks4://", "socks4a://", "socks5://", "socks5h://"])
    func `each kind of proxy is asked as curl asks it, and git`(_ build: Libcurl, _ scheme: String) async throws {
        func asked(_ ask: (String) async throws -> Void) async throws -> String {
            var text = ""
            try await RawServer.run { client in
                let first = client.receive()
                if first.first == 5 {
                    client.send([5, 0])
                    client.receive()
                }
            } _: { server in
                try await ask("\(scheme)127.0.0.1:\(server.port)")
                text = Self.opening(server.received)
            }
            return text
        }
        let url = "https://localhost:8443/"
        let curl = try await asked { proxy in
            _ = try await run("curl", ["-s", "-m", "10", "-x", proxy, url], environment: Libcurl.bare)
        }
        let git = try await asked { proxy in
            _ = try await run("git", ["-c", "http.proxy=\(proxy)", "ls-remote", url], environment: Libcurl.bare)
        }
        let ours = try await asked { proxy in
            let reply = try await build.ask(Question(url), ["all_proxy": proxy])
            #expect(reply.reason != nil && reply.status == nil && !reply.mayHaveArrived)
        }
        #expect(!curl.isEmpty && ours == curl && git == curl, "curl: \(curl), git: \(git), ours: \(ours)")
    }
}
