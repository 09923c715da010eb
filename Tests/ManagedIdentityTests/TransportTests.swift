import AuthorityFixture
import Crypto
import Foundation
import JSON
import ManagedIdentity
import Synchronization
import Testing
import X509

/// The plugin over the plugin protocol, with servers on this machine.
@Suite(.timeLimit(.minutes(2)))
struct TransportTests {
    private static let token = answer(200, #"{"access_token":"AT","expires_in":"86399","refresh_token":""}"#)

    private static func answer(_ status: Int, _ body: String, _ headers: String = "") -> String {
        "HTTP/1.1 \(status) X\r\ncontent-type: application/json\r\n\(headers)content-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Returns a plugin whose pauses take no time, although its clock counts them.
    private static func plugin(
        root: String = "/nowhere", environment: [String: String] = [:], attempt: Duration = .seconds(20),
        whole: Duration = .seconds(110)
    ) -> ManagedIdentityPlugin {
        var limits = Pace.Limits()
        limits.attempt = attempt
        limits.whole = whole
        return ManagedIdentityPlugin(environment: environment, root: root, limits: limits) {
            let clock = Clock()
            return Pace(
                elapsed: { clock.passed.withLock { $0 } }, wait: { pause in clock.passed.withLock { $0 += pause } })
        }
    }

    private final class Clock: Sendable {
        let passed = Mutex(Duration.zero)
    }

    /// Returns the path of a request, with its query.
    private static func target(_ request: String) -> String { String(request.split(separator: " ")[1]) }

    private static func metadata(_ server: PlainServer, id: String = "system") -> [String] {
        Wire.authenticate(["AZURE_POD_IDENTITY_AUTHORITY_HOST": server.url + "/"], id: id)
    }

    private static func probe(_ server: PlainServer) -> [String] {
        metadata(server).map { $0 == "operation=authenticate" ? "operation=probe" : $0 }
    }

    // MARK: The metadata service

    @Test func `a machine gets a token that is nobody's`() async throws {
        try await PlainServer.run({ _ in .answer(Self.token) }) { server in
            let request = Self.metadata(server, id: "client-id:C/1") + ["correlation_id=a-b"]
            let wire = try await Wire.ask(Self.plugin(), request)
            #expect(
                wire.text == """
                    event=result
                    access_token=AT
                    token_type=Bearer
                    expires_in=86399
                    refresh_in=43199
                    scope[]=https://vault.azure.net/.default
                    environment=localhost
                    realm=managed_identity

                    """)
            let sent = try #require(server.requests.first)
            #expect(
                Self.target(sent) == "/metadata/identity/oauth2/token?api-version=2018-02-01&client_id=C%2F1"
                    + "&resource=https%3A%2F%2Fvault.azure.net")
            #expect(sent.lowercased().contains("\r\nmetadata: true\r\n"))
            #expect(sent.lowercased().contains("\r\nx-ms-client-request-id: a-b\r\n"))
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [(404, 4, "unavailable"), (410, 8, "unavailable"), (429, 4, "throttled"), (500, 4, "unavailable")])
    func `a service that doesn't work is asked again, and the host hears of it`(
        _ status: Int, _ requests: Int, _ code: String
    ) async throws {
        try await PlainServer.run({ _ in .answer(Self.answer(status, "soon", "retry-after: 7\r\n")) }) { server in
            let wire = try await Wire.ask(Self.plugin(), Self.metadata(server))
            #expect(server.requests.count == requests)
            #expect(wire["code"] == code)
            #expect(wire["retry_after"] == "7")
            #expect(wire.progress.count == requests - 1)
            #expect(wire.progress.first?.contains("HTTP \(status)") == true)
        }
        // A longer pause is for whoever reads the error.
        try await PlainServer.run({ _ in .answer(Self.answer(status, "later", "retry-after: 17\r\n")) }) { server in
            let wire = try await Wire.ask(Self.plugin(), Self.metadata(server))
            #expect(server.requests.count == 1 && wire.progress.isEmpty)
            #expect(wire["code"] == code && wire["retry_after"] == "17")
        }
    }

    @Test func `a service that comes up gives a token after all`() async throws {
        let answers = Mutex([404, 410, 503])
        try await PlainServer.run({ _ in
            let status = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return .answer(status.map { Self.answer($0, "") } ?? Self.token)
        }) { server in
            let wire = try await Wire.ask(Self.plugin(), Self.metadata(server))
            #expect(wire["access_token"] == "AT")
            #expect(server.requests.count == 4)
        }
    }

    @Test func `a service that never answers is given up in time`() async throws {
        try await PlainServer.run({ _ in .silence }) { server in
            let whole = Duration.seconds(3)
            let wire = try await Wire.ask(
                Self.plugin(attempt: .milliseconds(100), whole: whole), Self.metadata(server))
            #expect(wire["code"] == "unavailable")
            #expect(wire["message"]?.hasSuffix("did not answer in time") == true)
            // A third pause would exceed the time limit.
            #expect(server.requests.count == 2)
        }
    }

    @Test func `the time of a request is what is left of all of it`() async throws {
        try await PlainServer.run({ _ in .silence }) { server in
            var limits = Pace.Limits()
            limits.whole = .milliseconds(300)
            let start = ContinuousClock.now
            let wire = try await Wire.ask(
                ManagedIdentityPlugin(environment: [:], root: "/nowhere", limits: limits), Self.metadata(server))
            #expect(wire["code"] == "unavailable")
            #expect(.now - start < .seconds(15))
        }
    }

    @Test func `nobody at the metadata service's address means that there is no identity`() async throws {
        var url = ""
        try await PlainServer.run({ _ in .silence }) { url = $0.url }
        let wire = try await Wire.ask(
            Self.plugin(), Wire.authenticate(["AZURE_POD_IDENTITY_AUTHORITY_HOST": url]))
        #expect(wire["code"] == "unavailable")
        #expect(wire["message"] == "this machine has no managed identity: its metadata service does not answer")
        #expect(wire["hint"] != nil)
        #expect(wire.progress.isEmpty)
    }

    @Test func `a redirect is not followed`() async throws {
        try await PlainServer.run({ _ in .answer(Self.token) }) { other in
            try await PlainServer.run({ _ in .answer(Self.answer(302, "", "location: \(other.url)/\r\n")) }) { server in
                let wire = try await Wire.ask(Self.plugin(), Self.metadata(server))
                #expect(wire["event"] == "error")
                #expect(server.requests.count == 1)
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test func `an answer that is too long is not read`() async throws {
        let body = #"{"access_token":"AT","expires_in":3600,"x":""# + String(repeating: "x", count: 2 << 20) + #""}"#
        try await PlainServer.run({ _ in .answer(Self.answer(200, body)) }) { server in
            let wire = try await Wire.ask(Self.plugin(), Self.metadata(server))
            #expect(wire["code"] == "internal")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `what is no HTTP is no token`() async throws {
        for garbage in ["SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 007 X\r\ncontent-length: 0\r\n\r\n"] {
            try await PlainServer.run({ _ in .answer(garbage) }) { server in
                let wire = try await Wire.ask(Self.plugin(), Self.metadata(server))
                #expect(wire["event"] == "error")
            }
        }
    }

    @Test func `no proxy is asked`() async throws {
        try await PlainServer.run({ _ in .answer(Self.answer(500, "")) }) { proxy in
            try await PlainServer.run({ _ in .answer(Self.token) }) { server in
                let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
                let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, proxy.url) })
                let wire = try await Wire.ask(Self.plugin(environment: environment), Self.metadata(server))
                #expect(wire["access_token"] == "AT")
                #expect(proxy.requests.isEmpty)
            }
        }
    }

    @Test func `a host that goes away ends the waiting`() async throws {
        try await PlainServer.run({ _ in .silence }) { server in
            let plugin = ManagedIdentityPlugin(environment: [:], root: "/nowhere")
            let start = ContinuousClock.now
            let wire = try await Wire.ask(plugin, Self.metadata(server), hangingUpAfter: .milliseconds(200))
            #expect(wire["access_token"] == nil)
            #expect(.now - start < .seconds(15))
        }
    }

    @Test(arguments: [(400, #"{"error":"bad_request_102"}"#, true), (403, "an unreachable network", false)])
    func `a probe gets no token`(_ status: Int, _ body: String, _ isThere: Bool) async throws {
        try await PlainServer.run({ _ in .answer(Self.answer(status, body)) }) { server in
            let wire = try await Wire.ask(Self.plugin(), Self.probe(server))
            #expect(wire["event"] == (isThere ? "result" : "error"))
            #expect(isThere || wire["code"] == "unavailable")
            #expect(server.requests.count == 1)
            #expect(server.requests.first?.lowercased().contains("metadata:") == false)
        }
    }

    @Test func `a probe that isn't answered ends after a second`() async throws {
        try await PlainServer.run({ _ in .silence }) { server in
            let start = ContinuousClock.now
            let wire = try await Wire.ask(Self.plugin(), Self.probe(server))
            #expect(wire["code"] == "unavailable")
            #expect(.now - start < .seconds(10))
        }
    }

    @Test func `an identity that nobody named is asked for after a probe only`() async throws {
        try await PlainServer.run({ _ in .silence }) { server in
            let start = ContinuousClock.now
            let wire = try await Wire.ask(Self.plugin(), Self.metadata(server) + ["assumed=yes"])
            #expect(wire["code"] == "unavailable")
            #expect(server.requests.count == 1)
            #expect(server.requests.first?.lowercased().contains("metadata:") == false)
            #expect(.now - start < .seconds(10))
        }
        try await PlainServer.run({ request in
            request.lowercased().contains("metadata:") ? .answer(Self.token) : .answer(Self.answer(400, "{}"))
        }) { server in
            let wire = try await Wire.ask(Self.plugin(), Self.metadata(server) + ["assumed=yes"])
            #expect(wire["access_token"] == "AT")
            #expect(server.requests.count == 2)
        }
    }

    // MARK: Other platforms

    @Test func `a secret that comes back in an error is not shown`() async throws {
        let body = #"{"statusCode":401,"message":"853b9a84-secret is not the header","correlationId":"C"}"#
        try await PlainServer.run({ _ in .answer(Self.answer(401, body)) }) { server in
            let variables = ["IDENTITY_ENDPOINT": "\(server.url)/msi/token?a=b", "IDENTITY_HEADER": "853b9a84-secret"]
            let wire = try await Wire.ask(Self.plugin(), Wire.authenticate(variables))
            #expect(server.requests.first?.contains("853b9a84-secret") == true)
            #expect(server.requests.first.map(Self.target)?.hasPrefix("/msi/token?a=b&api-version=2019-08-01") == true)
            #expect(!wire.text.contains("853b9a84-secret"))
            #expect(wire["code"] == "invalid-request")
            #expect(wire["correlation_id"] == "C")
        }
    }

    @Test func `a key of Arc's that comes back in an error is not shown`() async throws {
        let file = "\(MachineRoot.tokens)/a.key"
        let body = #"{"error":"the-key-itself","error_description":"Basic the-key-itself, the-key-itself"}"#
        try await arc(file, refusing: body, { try $0.write(file, "the-key-itself") }) { wire, requests in
            #expect(requests.count == 2)
            #expect(wire["event"] == "error")
            #expect(!wire.text.contains("the-key-itself"))
        }
    }

    @Test func `a form is posted to Cloud Shell`() async throws {
        try await PlainServer.run({ _ in .answer(Self.token) }) { server in
            let wire = try await Wire.ask(Self.plugin(), Wire.authenticate(["MSI_ENDPOINT": "\(server.url)/token"]))
            #expect(wire["access_token"] == "AT")
            #expect(server.requests.first?.hasPrefix("POST /token HTTP/1.1\r\n") == true)
            #expect(server.requests.first?.hasSuffix("\r\n\r\nresource=https%3A%2F%2Fvault.azure.net") == true)
        }
    }

    /// Runs an agent of Azure Arc that names a file.
    private func arc(
        _ realm: String, refusing body: String? = nil, _ prepare: (MachineRoot) throws -> Void,
        _ check: (Wire, [String]) throws -> Void
    ) async throws {
        let root = try MachineRoot()
        try prepare(root)
        try await PlainServer.run({ request in
            guard request.lowercased().contains("\r\nauthorization: ") else {
                return .answer(Self.answer(401, "", "www-authenticate: Basic realm=\(realm)\r\n"))
            }
            return .answer(body.map { Self.answer(400, $0) } ?? Self.token)
        }) { server in
            let variables = ["IDENTITY_ENDPOINT": "\(server.url)/token", "IMDS_ENDPOINT": server.url]
            try check(try await Wire.ask(Self.plugin(root: root.path), Wire.authenticate(variables)), server.requests)
        }
    }

    @Test func `Arc's agent gets what is in its file`() async throws {
        let file = "\(MachineRoot.tokens)/a.key"
        try await arc(file, { try $0.write(file, "the key\n") }) { wire, requests in
            #expect(wire["access_token"] == "AT")
            #expect(requests.count == 2)
            #expect(requests.last?.lowercased().contains("\r\nauthorization: basic the key\r\n") == true)
            #expect(requests.allSatisfy { $0.lowercased().contains("\r\nmetadata: true\r\n") })
        }
    }

    @Test(arguments: [
        "/etc/shadow", "/etc/a.key", "\(MachineRoot.tokens)/../a.key", "\(MachineRoot.tokens)/sub/a.key",
        "\(MachineRoot.tokens)/a.txt", "\(MachineRoot.tokens)/.key", "\(MachineRoot.tokens)/link.key",
        "\(MachineRoot.tokens)/long.key", "\(MachineRoot.tokens)/folder.key", "\(MachineRoot.tokens)/pipe.key",
    ])
    func `Arc's agent gets no other file`(_ realm: String) async throws {
        try await arc(
            realm,
            { root in
                for file in ["/etc/a.key", "sub/a.key", "../a.key", "a.txt", ".key", "folder.key/a"] {
                    try root.write(file.hasPrefix("/") ? file : "\(MachineRoot.tokens)/\(file)", "not for the agent")
                }
                try root.write("\(MachineRoot.tokens)/long.key", String(repeating: "x", count: 4097))
                try root.link("\(MachineRoot.tokens)/link.key", to: "\(root.path)/etc/a.key")
                mkfifo("\(root.path)\(MachineRoot.tokens)/pipe.key", 0o600)
            }
        ) { wire, requests in
            #expect(wire["code"] == "internal")
            #expect(requests.count == 1)
        }
    }

    @Test func `a key that isn't there tells to look at the agent`() async throws {
        try await arc("\(MachineRoot.tokens)/a.key", { _ in }) { wire, requests in
            #expect(wire["code"] == "unavailable")
            #expect(requests.count == 1)
        }
    }

    // MARK: Service Fabric

    private static func fabric(_ server: TLSServer, thumbprint: String) -> [String] {
        Wire.authenticate([
            "IDENTITY_ENDPOINT": "https://localhost:\(server.port)/token", "IDENTITY_HEADER": "the-header",
            "IDENTITY_SERVER_THUMBPRINT": thumbprint,
        ])
    }

    private static func thumbprint(_ server: TLSServer) throws -> String {
        let lines = try String(contentsOfFile: server.caFile, encoding: .utf8).split(separator: "\n")
        let der = try #require(Data(base64Encoded: lines.filter { !$0.hasPrefix("-") }.joined()))
        return Insecure.SHA1.hash(data: der).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func `the pinned service gets the secret, whatever its certificate says`() async throws {
        var identity = TLSServer.Identity.host("fabric.example")
        identity.notValidAfter = .now.addingTimeInterval(-60)
        try await TLSServer.run(identity, { _ in .answer(Self.token) }) { server in
            let lines = Self.fabric(server, thumbprint: try Self.thumbprint(server).uppercased())
            let wire = try await Wire.ask(Self.plugin(), lines + ["claims={}", "access_token=test_token"])
            #expect(wire["access_token"] == "AT")
            let sent = try #require(server.requests.first)
            #expect(sent.lowercased().contains("\r\nsecret: the-header\r\n"))
            #expect(
                sent.contains(
                    "token_sha256_to_refresh=cc0af97287543b65da2c7e1476426021826cab166f1e063ed012b855ff819656"))
        }
    }

    @Test func `another service gets nothing, though its certificate is believed`() async throws {
        try await TLSServer.run(.host("localhost"), { _ in .answer(Self.token) }) { server in
            let lines = Self.fabric(server, thumbprint: String(repeating: "0", count: 40))
            let wire = try await Wire.ask(Self.plugin(), lines + ["ca_file[]=\(server.caFile)"])
            #expect(wire["code"] == "unavailable")
            #expect(wire["message"]?.contains("IDENTITY_SERVER_THUMBPRINT") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a service without TLS gets nothing`() async throws {
        try await PlainServer.run({ _ in .answer(Self.token) }) { server in
            let lines = Wire.authenticate([
                "IDENTITY_ENDPOINT": "https://localhost:\(server.port)/token", "IDENTITY_HEADER": "the-header",
                "IDENTITY_SERVER_THUMBPRINT": String(repeating: "0", count: 40),
            ])
            let wire = try await Wire.ask(Self.plugin(), lines)
            #expect(wire["event"] == "error")
            #expect(server.requests.allSatisfy { !$0.contains("the-header") })
        }
    }

    @Test func `another platform's certificate is judged as an authority's`() async throws {
        try await TLSServer.run(.host("localhost"), { _ in .answer(Self.token) }) { server in
            let lines = Wire.authenticate([
                "IDENTITY_ENDPOINT": "https://localhost:\(server.port)/token", "IDENTITY_HEADER": "the-header",
            ])
            let distrusting = try await Wire.ask(Self.plugin(), lines)
            #expect(distrusting["code"] == "unavailable")
            #expect(server.requests.isEmpty)
            let trusting = try await Wire.ask(Self.plugin(), lines + ["ca_file[]=\(server.caFile)"])
            #expect(trusting["access_token"] == "AT")
        }
    }
}
