import AsyncHTTPClient
import AuthorityPlugin
import CredentialProtocol
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import MicrosoftIdentity

/// The loopback listener, as a browser and as whoever else is on this computer sees it.
struct LoopbackTests {
    private static let request = AuthorizationRequest(redirectURI: "http://localhost", responseMode: .formPost)

    /// Serves a catcher while the body runs; gives how many answers were taken.
    private func listening(
        path: String = "/", _ body: (Int) async throws -> Void
    ) async throws -> Int {
        let listener = try await LoopbackListener.open(port: nil)
        let taken = Mutex(0)
        let catcher = RedirectCatcher(request: Self.request, port: listener.port, path: path) { response in
            taken.withLock { $0 += 1 }
            return response.failure == nil ? .success : .declined
        }
        let server = Task { await listener.serve(answer: { await catcher.answer($0) }, delivered: { _ in }) }
        try await body(listener.port)
        server.cancel()
        await server.value
        return taken.withLock { $0 }
    }

    private func send(
        _ url: String, method: HTTPMethod = .POST, body: String = "",
        headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
    ) async throws -> (response: HTTPClientResponse, text: String) {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = headers
        if method == .POST { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        return (response, String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    @Test func `a posted answer with the right state is taken`() async throws {
        let taken = try await listening { port in
            let (response, text) = try await send(
                "http://localhost:\(port)/", body: "code=c&state=\(Self.request.state)")
            #expect(response.status == .ok)
            #expect(text.contains("You are signed in"))
            #expect(response.headers.first(name: "cache-control") == "no-store")
            let policy = try #require(response.headers.first(name: "content-security-policy"))
            #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        }
        #expect(taken == 1)
    }

    @Test func `both loopback addresses answer`() async throws {
        let taken = try await listening { port in
            for host in ["127.0.0.1", "[::1]"] {
                let (response, _) = try await send(
                    "http://\(host):\(port)/", body: "code=c&state=\(Self.request.state)")
                #expect(response.status == .ok)
            }
        }
        #expect(taken == 2)
    }

    @Test func `a code in the address is refused and the wait goes on`() async throws {
        let taken = try await listening { port in
            let (response, text) = try await send(
                "http://localhost:\(port)/?code=c&state=\(Self.request.state)", method: .GET)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers.first(name: "allow") == "POST")
            #expect(text.contains("was not used"))
        }
        #expect(taken == 0)
    }

    @Test func `a refusal in the address is taken`() async throws {
        let taken = try await listening { port in
            let (response, text) = try await send(
                "http://localhost:\(port)/?error=access_denied&state=\(Self.request.state)", method: .GET)
            #expect(response.status == .ok)
            #expect(text.contains("cancelled"))
        }
        #expect(taken == 1)
    }

    @Test(arguments: [
        ("code=c&state=wrong", 400), ("code=c", 400), ("code=c&state=", 400), ("hello=1", 415),
        ("code=" + String(repeating: "c", count: 70_000), 413),
    ])
    func `an answer that is not ours is not taken`(_ body: String, _ status: Int) async throws {
        let taken = try await listening { port in
            let (response, _) = try await send("http://localhost:\(port)/", body: body)
            #expect(Int(response.status.code) == status)
        }
        #expect(taken == 0)
    }

    @Test func `a state given twice is no state`() async throws {
        let taken = try await listening { port in
            let state = Self.request.state
            let (response, _) = try await send(
                "http://localhost:\(port)/", body: "code=c&state=\(state)&state=\(state)")
            #expect(response.status == .badRequest)
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
            #expect(rebound.response.status == .misdirectedRequest)
            let elsewhere = try await send("http://localhost:\(port)/", body: body)
            #expect(elsewhere.response.status == .notFound)
            let json = try await send(
                "http://localhost:\(port)/here", body: body, headers: ["content-type": "application/json"])
            #expect(json.response.status == .unsupportedMediaType)
            let icon = try await send("http://localhost:\(port)/favicon.ico", method: .GET)
            #expect(icon.response.status == .notFound)
        }
        #expect(taken == 0)
    }

    @Test func `a fixed port in use is an error that names it`() async throws {
        _ = try await listening { port in
            let error = await #expect(throws: PluginError.self) { try await LoopbackListener.open(port: port) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("\(port)") == true)
        }
    }

    private static let redirects: [(String?, String?)] = [
        (nil, "http://localhost:4711"), ("http://localhost", "http://localhost:4711"),
        ("http://localhost:8400", "http://localhost:8400"), ("http://127.0.0.1/cb", "http://127.0.0.1:4711/cb"),
        ("https://login.microsoftonline.com/common/oauth2/nativeclient", nil),
    ]

    @Test(arguments: redirects)
    func `redirect URIs get the listener's port unless they fix one`(_ text: String?, _ uri: String?) throws {
        let target = try RedirectTarget(text)
        #expect(target.isLoopback == (uri != nil))
        #expect(target.uri(port: 4711) == uri ?? text)
    }

    @Test(arguments: ["http://example.com", "http://localhost#x", "localhost", "http://localhost.evil.example"])
    func `a redirect URI that leaves this computer in the clear is refused`(_ text: String) {
        #expect(throws: PluginError.self) { try RedirectTarget(text) }
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
}
