import AuthorityFixture
import Foundation
import HTTPProbe
import TestSupport
import Testing

/// Servers and proxies that mean harm: what they send takes bounded memory and time.
struct HostileTests {
    /// What is sent without end, after what; and what a client says of it.
    struct Flood: CustomTestStringConvertible {
        let testDescription: String
        let start: String
        let rest: String
        let reason: String

        init(_ name: String, _ start: String, _ rest: String, _ reason: String) {
            (testDescription, self.start, self.rest, self.reason) = (name, start, rest, reason)
        }

        /// Runs the body with a server, or a proxy, that sends this.
        func run(_ body: (RawServer) async throws -> Void) async throws {
            try await RawServer.run(
                { client in
                    client.receiveHead()
                    client.send(start)
                    client.flood(rest)
                }, body)
        }
    }

    /// How much the process may grow, in KiB; libcurl itself and the certificates are in it.
    private static let most = 64 << 10

    private static let line = "x-filler: \(String(repeating: "a", count: 1_000))\r\n"
    static let answers = [
        Flood("head", "HTTP/1.1 200 OK\r\n", line, "tooLarge"),
        Flood("head's line", "HTTP/1.1 200 OK\r\nx-filler: ", "a", "tooLarge"),
        Flood("status line", "HTTP/1.1 200 ", "a", "tooLarge"),
        Flood("provisional answers", "", "HTTP/1.1 103 Early Hints\r\n\(line)\r\n", "tooLarge"),
        Flood("empty provisional answers", "", "HTTP/1.1 100 Continue\r\n\r\n", "tooLarge"),
        Flood("body", "HTTP/1.1 200 OK\r\n\r\n", "a", "tooLarge"),
        Flood("body of a length", "HTTP/1.1 200 OK\r\ncontent-length: 9000000000000000000\r\n\r\n", "a", "tooLarge"),
        Flood("chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\na\r\n", "tooLarge"),
        Flood("chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7fffffffffffffff\r\n", "a", "tooLarge"),
        Flood("chunk's extension", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", "a", "timedOut"),
        Flood("chunk's number", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "0", "any"),
        Flood("trailer", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", line, "tooLarge"),
        Flood("trailer's line", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ", "a", "any"),
        Flood("no HTTP", "", "a", "garbled"), Flood("no HTTP, in lines", "", "a\r\n", "garbled"),
        Flood("NULs", "HTTP/1.1 200 OK\r\n", "\0", "any"),
    ]

    @Test(arguments: answers, Libcurl.allCases)
    func `an endless answer ends in bounded memory`(_ flood: Flood, _ build: Libcurl) async throws {
        try await flood.run { server in
            var question = Question("http://127.0.0.1:\(server.port)/")
            (question.peer, question.whole) = (.machine, 5)
            let reply = try await build.ask(question)
            #expect(reply.status == nil && reply.reason != nil && reply.mayHaveArrived, "\(reply)")
            #expect(flood.reason == "any" || reply.reason == flood.reason, "\(reply)")
            #expect(reply.growth < Self.most && reply.seconds < 10, "\(reply.growth) \(reply.seconds)")
        }
    }

    static let refusals = [
        Flood("407's head", "HTTP/1.1 407 Authenticate\r\n", line, "any"),
        Flood(
            "407's ways", "HTTP/1.1 407 Authenticate\r\n",
            "proxy-authenticate: Basic realm=\"\(line.dropLast(2))\"\r\n", "any"),
        Flood("407's line", "HTTP/1.1 407 Authenticate\r\nproxy-authenticate: ", "a", "any"),
        Flood("200's head", "HTTP/1.1 200 OK\r\n", line, "any"),
        Flood("status line", "HTTP/1.1 200 ", "a", "any"),
        Flood("provisional answers", "", "HTTP/1.1 103 Early Hints\r\n\(line)\r\n", "any"),
        Flood("empty provisional answers", "", "HTTP/1.1 100 Continue\r\n\r\n", "any"),
        Flood("407's body", "HTTP/1.1 407 Authenticate\r\nproxy-authenticate: Basic realm=\"a\"\r\n\r\n", "a", "any"),
        Flood(
            "407's body of a length",
            "HTTP/1.1 407 Authenticate\r\nproxy-authenticate: Basic realm=\"a\"\r\ncontent-length: 9000000000000000000\r\n\r\n",
            "a",
            "any"),
        Flood(
            "407's chunks",
            "HTTP/1.1 407 Authenticate\r\nproxy-authenticate: Basic realm=\"a\"\r\ntransfer-encoding: chunked\r\n\r\n",
            "1\r\na\r\n",
            "any"),
        Flood(
            "407's chunk's extension",
            "HTTP/1.1 407 Authenticate\r\nproxy-authenticate: Basic realm=\"a\"\r\ntransfer-encoding: chunked\r\n\r\n1;",
            "a",
            "any"),
        Flood("403's body", "HTTP/1.1 403 Forbidden\r\n\r\n", "a", "refusedByProxy(Optional(403))"),
        Flood("no HTTP", "", "a", "any"),
    ]

    @Test(arguments: refusals, Libcurl.allCases)
    func `so does a proxy's`(_ flood: Flood, _ build: Libcurl) async throws {
        try await flood.run { proxy in
            var question = Question("https://id.example/")
            (question.connect, question.whole) = (5, 5)
            let reply = try await build.ask(question, ["https_proxy": "http://alice:secret@127.0.0.1:\(proxy.port)"])
            #expect(reply.status == nil && reply.reason != nil && !reply.mayHaveArrived, "\(reply)")
            #expect(flood.reason == "any" || reply.reason == flood.reason, "\(reply)")
            #expect(reply.growth < Self.most && reply.seconds < 10, "\(reply.growth) \(reply.seconds)")
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `what is compressed stays so, and nobody asks for it`(_ build: Libcurl) async throws {
        // 16 MiB of zeros, three times.
        let made = try await run(
            "sh", ["-c", "head -c 16777216 /dev/zero | gzip -9 | gzip -9 | gzip -9 | base64 -w0"],
            environment: Libcurl.bare)
        let bomb = [UInt8](try #require(Data(base64Encoded: made.output)))
        try await RawServer.run { client in
            client.receiveHead()
            client.send(
                "HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip, gzip\r\ncontent-length: \(bomb.count)\r\n\r\n")
            client.send(bomb)
            client.wait()
        } _: { server in
            var question = Question("http://127.0.0.1:\(server.port)/")
            question.peer = .machine
            let reply = try await build.ask(question)
            #expect(reply.status == 200 && reply.body == String(decoding: bomb, as: UTF8.self))
            #expect(!server.text.lowercased().contains("accept-encoding"))
            #expect(reply.growth < 16 << 10, "\(reply.growth)")
        }
    }

    @Test(arguments: Libcurl.allCases, [301, 302, 303, 307, 308, 300, 401])
    func `no redirect is followed, and no challenge answered`(_ build: Libcurl, _ status: Int) async throws {
        try await TLSServer.run(.host("localhost")) { other in
            let answer = """
                HTTP/1.1 \(status) There\r\nlocation: https://localhost:\(other.port)/\r\nwww-authenticate: Basic realm="a"\r
                www-authenticate: Negotiate\r\nrefresh: 0; url=https://localhost:\(other.port)/\r\ncontent-length: 0\r\n\r\n
                """
            try await TLSServer.run(.host("localhost"), { _ in .answer(answer) }) { server in
                var question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile, other.caFile])
                (question.method, question.body) = ("POST", "code=secret")
                let reply = try await build.ask(question)
                #expect(
                    reply.status == status && reply.headers.contains("https://localhost:\(other.port)/"), "\(reply)")
                #expect(server.requests.count == 1 && other.requests.isEmpty)
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `neither cookies nor ~/.netrc are sent`(_ build: Libcurl) async throws {
        try await ScratchDirectory.with { folder in
            let answer =
                "HTTP/1.1 200 OK\r\nset-cookie: a=secret-cookie; path=/\r\nalt-svc: h2=\":9\"\r\ncontent-length: 0\r\n\r\n"
            for name in [".netrc", "_netrc"] {
                let path = try folder.write(
                    "machine localhost login alice password secret-password\n", to: "home/\(name)")
                chmod(path, 0o600)
            }
            try await TLSServer.run(.host("localhost"), { _ in .answer(answer) }) { server in
                let url = "https://localhost:\(server.port)/"
                let home = ["HOME": "\(folder.path)/home", "CURL_HOME": "\(folder.path)/home"]
                // curl's program does read it.
                _ = try await run(
                    "curl", ["-s", "-n", "--cacert", server.caFile, url],
                    environment: Libcurl.bare.merging(home) { $1 })
                #expect(server.requests.last?.contains("Authorization: Basic ") == true)
                for text in [url, "https://alice@localhost:\(server.port)/"] {
                    var question = Question(text, caFiles: [server.caFile])
                    question.times = 2
                    let before = server.requests.count
                    let reply = try await build.ask(question, home)
                    #expect(text != url || reply.status == 200, "\(reply)")
                    for request in server.requests.dropFirst(before) {
                        #expect(!request.lowercased().contains("cookie") && !request.contains("c2VjcmV0"), "\(request)")
                        #expect(text != url || !request.lowercased().contains("authorization"), "\(request)")
                    }
                    #expect(text != url || server.requests.count == before + 2)
                }
            }
        }
    }

    @Test(arguments: Libcurl.allCases)
    func `a trailer adds nothing to the head, and a provisional answer neither`(_ build: Libcurl) async throws {
        try await RawServer.run { client in
            client.receiveHead()
            client.send(
                """
                HTTP/1.1 103 Early Hints\r\nearly: yes\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r
                real:  a value \r\n\r\n3\r\nabc\r\n0\r\nlate: yes\r\nHTTP/1.1: 500 Trailer\r\n\r\n
                """)
            client.wait()
        } _: { server in
            var question = Question("http://127.0.0.1:\(server.port)/")
            question.peer = .machine
            let reply = try await build.ask(question)
            #expect(reply.status == 200 && reply.body == "abc", "\(reply)")
            #expect(reply.headers == ["transfer-encoding", "chunked", "real", "a value"])
        }
    }

    @Test(arguments: Libcurl.allCases, ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"])
    func `an answer that breaks off is none, and may have been caused`(_ build: Libcurl, _ answer: String) async throws
    {
        for byReset in [false, true] where answer.isEmpty || !byReset {
            try await TLSServer.run(.host("localhost"), { _ in .drop(byReset: byReset) }) { server in
                var question = Question("https://localhost:\(server.port)/", caFiles: [server.caFile])
                question.method = "POST"
                question.body = "code=secret"
                let reply = try await build.ask(question)
                #expect(reply.reason == "closed" && reply.mayHaveArrived && !reply.isOfProxy, "\(reply)")
                // libcurl doesn't send it again by itself.
                #expect(server.requests.count == 1)
            }
        }
        try await RawServer.run { client in
            client.receiveHead()
            client.send(answer)
        } _: { server in
            var question = Question("http://127.0.0.1:\(server.port)/")
            question.peer = .machine
            let reply = try await build.ask(question)
            #expect(reply.reason == "closed" && reply.mayHaveArrived && reply.status == nil, "\(reply)")
            #expect(server.connections == 1)
        }
    }
}
