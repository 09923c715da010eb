import Foundation
import HTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import Secrets
import Subprocess
import Synchronization
import SystemPackage
import Testing

@testable import OAuth

/// The loopback listener, as seen by a browser and by other programs on this computer.
struct LoopbackTests {
    private static let request = AuthorizationRequest(redirectURI: "http://localhost", responseMode: .formPost)

    /// Runs a catcher while the body runs; returns how many responses were accepted.
    private func listening(
        path: String = "/", _ body: (Int) async throws -> Void
    ) async throws -> Int {
        let listener = try await LoopbackListener.open(port: nil)
        let taken = Mutex(0)
        let catcher = RedirectCatcher(request: Self.request, port: listener.port, path: path) { response in
            taken.withLock { $0 += 1 }
            return response.refusal == nil ? .success : .declined
        }
        let server = Task { await listener.serve(answer: { await catcher.answer($0) }, delivered: { _ in }) }
        try await body(listener.port)
        server.cancel()
        await server.value
        return taken.withLock { $0 }
    }

    private func send(
        _ url: String, method: String = "POST", body: String = "",
        headers: [String: String] = ["content-type": "application/x-www-form-urlencoded"]
    ) async throws -> HTTPAnswer {
        let request = HTTPRequest(
            method, url, headers: headers.map { (name: $0.key, value: Secret($0.value)) },
            body: method == "POST" ? Array(body.utf8) : nil)
        return try await HTTPClient(userAgent: "tests", .anyone).send(request, within: .seconds(10))
    }

    @Test func `a posted answer with the right state is taken`() async throws {
        let taken = try await listening { port in
            let response = try await send(
                "http://localhost:\(port)/", body: "code=c&state=\(Self.request.state)")
            #expect(response.status == 200)
            #expect(response.text?.contains("You are signed in") == true)
            #expect(response.first("cache-control") == "no-store")
            let policy = try #require(response.first("content-security-policy"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        }
        #expect(taken == 1)
    }

    @Test func `both loopback addresses answer`() async throws {
        let taken = try await listening { port in
            for host in ["127.0.0.1", "[::1]"] {
                let response = try await send(
                    "http://\(host):\(port)/", body: "code=c&state=\(Self.request.state)")
                #expect(response.status == 200)
            }
        }
        #expect(taken == 2)
    }

    @Test func `a code in the address is refused and the wait goes on`() async throws {
        let taken = try await listening { port in
            let response = try await send(
                "http://localhost:\(port)/?code=c&state=\(Self.request.state)", method: "GET")
            #expect(response.status == 405)
            #expect(response.first("allow") == "POST")
            #expect(response.text?.contains("was not used") == true)
        }
        #expect(taken == 0)
    }

    @Test func `a refusal in the address is taken`() async throws {
        let taken = try await listening { port in
            let response = try await send(
                "http://localhost:\(port)/?error=access_denied&state=\(Self.request.state)", method: "GET")
            #expect(response.status == 200)
            #expect(response.text?.contains("cancelled") == true)
        }
        #expect(taken == 1)
    }

    @Test(arguments: [
        ("code=c&state=wrong", 400), ("code=c", 400), ("code=c&state=", 400), ("hello=1", 415),
        ("code=" + String(repeating: "c", count: 70_000), 413),
    ])
    func `an answer that is not ours is not taken`(_ body: String, _ status: Int) async throws {
        let taken = try await listening { port in
            let response = try await send("http://localhost:\(port)/", body: body)
            #expect(response.status == status)
        }
        #expect(taken == 0)
    }

    @Test func `a state given twice is no state`() async throws {
        let taken = try await listening { port in
            let state = Self.request.state
            let response = try await send(
                "http://localhost:\(port)/", body: "code=c&state=\(state)&state=\(state)")
            #expect(response.status == 400)
        }
        #expect(taken == 0)
    }

    @Test func `another host name, path or content type is refused`() async throws {
        let taken = try await listening(path: "/here") { port in
            let body = "code=c&state=\(Self.request.state)"
            let form = "application/x-www-form-urlencoded"
            let rebound = try await send(
                "http://localhost:\(port)/here", body: body,
                headers: ["host": "evil.example:\(port)", "content-type": form])
            #expect(rebound.status == 421)
            let elsewhere = try await send("http://localhost:\(port)/", body: body)
            #expect(elsewhere.status == 404)
            let json = try await send(
                "http://localhost:\(port)/here", body: body, headers: ["content-type": "application/json"])
            #expect(json.status == 415)
            let icon = try await send("http://localhost:\(port)/favicon.ico", method: "GET")
            #expect(icon.status == 404)
        }
        #expect(taken == 0)
    }

    @Test func `connections that come while the listener ends end nothing else`() async throws {
        for _ in 0..<100 {
            let listener = try await LoopbackListener.open(port: nil)
            let server = Task { await listener.serve(answer: { _ in LoopbackPage.notHere }, delivered: { _ in }) }
            await withDiscardingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        let client = try? await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                            .connect(host: "127.0.0.1", port: listener.port).get()
                        if number == 4 { server.cancel() }
                        try? await client?.close()
                    }
                }
            }
            await server.value
        }
    }

    @Test(arguments: ["[::ffff:127.0.0.1]", "127.0.0.1", "[::1]"])
    func `an own process is found, by either family`(_ host: String) async throws {
        let listener = try await LoopbackListener.open(port: nil)
        let server = Task { await listener.serve(answer: { _ in LoopbackPage.notHere }, delivered: { _ in }) }
        let bare = host.filter { !"[]".contains($0) }
        let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: SocketAddress(ipAddress: bare, port: listener.port)).get()
        let here = try #require(client.localAddress), there = try #require(client.remoteAddress)
        // The other end sees a mapped address as the address that it maps.
        let (near, far) = bare.hasPrefix("::ffff:") ? (try unmapped(here), try unmapped(there)) : (here, there)
        #expect(SocketTable(from: near, to: far).search() == .peer(.user(getuid())))
        // Until the listener accepts the connection, its end belongs to nobody.
        for _ in 0..<1000 where LoopbackPeer.asked(from: near, to: far) == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(LoopbackPeer.asked(from: near, to: far) == .peer(.user(getuid())))
        // The kernel names the listener if there is no connection.
        let nobody = try SocketAddress(ipAddress: near.ipAddress ?? "", port: 1)
        #expect(LoopbackPeer.asked(from: nobody, to: far) == nil)
        try await client.close()
        #expect(SocketTable(from: near, to: far).search() != .peer(.user(getuid())))
        #expect(LoopbackPeer.asked(from: near, to: far) != .peer(.user(getuid())))
        server.cancel()
        await server.value
    }

    private func unmapped(_ address: SocketAddress) throws -> SocketAddress {
        try SocketAddress(ipAddress: "127.0.0.1", port: address.port ?? 0)
    }

    private static let peers: [(LoopbackPeer, UInt32, Bool)] = [
        (.user(1000), 1000, true), (.user(1001), 1000, false), (.user(0), 1000, true), (.user(1000), 0, false),
        (.user(0), 0, true), (.nobody, 1000, false), (.nobody, 0, false), (.elsewhere, 1000, true),
    ]

    @Test(arguments: peers)
    func `the user, root and who is not of this computer may answer`(
        _ peer: LoopbackPeer, _ user: UInt32, _ may: Bool
    ) {
        #expect(peer.mayAnswer(to: user) == may)
    }

    private static let lines: [(String, SocketTable.Finding)] = [
        ("   3: 0100007F:C6B8 0100007F:B5C7 01 0:0 0:0 0 12345 0 265477 1 0", .peer(.user(12_345))),
        // Already closed: newer kernels report the former owner, older ones root.
        ("   3: 0100007F:C6B8 0100007F:B5C7 04 0:0 1:2 0 12345 0 0 2 0", .peer(.nobody)),
        ("   3: 0100007F:C6B8 0100007F:B5C7 06 0:0 3:4 0 0 0 0 3 0", .peer(.nobody)),
        // The listener's own end, and those of other connections.
        ("   2: 0100007F:B5C7 0100007F:C6B8 01 0:0 0:0 0 7 0 265472 1 0", .absent),
        ("   2: 0100007F:C6B8 0200007F:B5C7 01 0:0 0:0 0 7 0 265472 1 0", .absent),
        (
            "   1: 0000000000000000FFFF00000100007F:C6B8 0000000000000000FFFF00000100007F:B5C7 01 0:0 0:0 0 7 0 9 1 0",
            .peer(.user(7))
        ),
        ("", .absent), ("   3: 0100007F:C6B8 0100007F:B5C7 01", .absent),
    ]

    @Test(arguments: lines)
    func `the kernel's table is read`(_ line: String, _ finding: SocketTable.Finding) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tcp-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        // The line may span two reads.
        let others = String(repeating: "   0: 0100007F:0001 0100007F:0002 01 0:0 0:0 0 8 0 10 1 0\n", count: 3_000)
        try Data("  sl  local_address\n\(others)\(line)\n\(others)".utf8).write(to: URL(filePath: file))
        let table = SocketTable(
            from: try SocketAddress(ipAddress: "127.0.0.1", port: 0xC6B8),
            to: try SocketAddress(ipAddress: "127.0.0.1", port: 0xB5C7))
        #expect(table.search(FilePath(file)) == finding)
    }

    @Test func `a table that cannot be read, or has no end, is told apart`() throws {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        let table = SocketTable(from: address, to: address)
        #expect(table.search("/nowhere/tcp") == .unreadable)
        #expect(table.search("/dev/zero") == .peer(.nobody))
    }

    @Test func `a fixed port in use is an error that names it`() async throws {
        _ = try await listening { port in
            let error = await #expect(throws: OAuthError.self) { try await LoopbackListener.open(port: port) }
            #expect(error?.kind == .unavailable)
            #expect(error?.message.contains("\(port)") == true)
        }
    }

    @Test(arguments: [
        "http://localhost/?code=c&state=s", "http://localhost:1/#code=c&state=s",
        " 'http://localhost?state=s&code=c'\n",
        "code=c&state=s", "http://localhost/?code=c&state=s#",
    ])
    func `a pasted address is read`(_ text: String) {
        let response = AuthorizationResponse(pasted: Secret(text))
        #expect(response.code == Secret("c"))
        #expect(response.answers(state: "s"))
    }

    @Test(arguments: [
        "a=1&a=1", "a=1&a=%zz", "a=%zz&a=1", "a=1&a", "a=1&a=2&a=3", "a=1&%61=1",
        "a=1" + String(repeating: "&b=1", count: 70) + "&a=1",
    ])
    func `a field that occurs twice is dropped, whatever its values`(_ form: String) {
        #expect(FormEncoding.decode(form[...])["a"] == nil)
    }

    @Test func `a field with a broken escape counts as absent, one with a whole escape is read`() {
        #expect(FormEncoding.decode("a=%+5&b=%5&c=%zz&d=%C3&e=1+%2B+2") == ["e": "1 + 2"])
    }
}

extension LoopbackTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        /// Sends the right response as another user, with curl.
        private static func answerAsAnother(_ port: Int, host: String) async throws -> String {
            let arguments: [String] = [
                "--reuid", "54321", "--clear-groups", "curl", "--silent", "--max-time", "10",
                "--data", "code=c&state=\(LoopbackTests.request.state)", "http://\(host):\(port)/",
            ]
            let result = try await Subprocess.run(
                .name("setpriv"), arguments: Arguments(arguments), output: .string(limit: 1 << 16), error: .discarded)
            return result.standardOutput
        }

        @Test(arguments: ["127.0.0.1", "[::1]"])
        func `another user's answer is not taken`(_ host: String) async throws {
            let taken = try await LoopbackTests().listening { port in
                let page = try await Self.answerAsAnother(port, host: host)
                #expect(page.contains("belongs to another user"))
            }
            #expect(taken == 0)
        }
    }
}
