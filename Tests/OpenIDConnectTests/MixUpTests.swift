import AuthorityFixture
import Foundation
import JSON
import PluginWire
import Secrets
import Synchronization
import Testing

@testable import OAuth
@testable import OpenIDConnect

/// Issuers that name pages and endpoints of others (RFC 9700, 4.4).
struct MixUpTests {
    private static let plugin = IssuerPlugin(environment: [:])
    private static let discovery = "/.well-known/openid-configuration"

    struct Case: Sendable, CustomTestStringConvertible {
        var page = "https://id.example/authorize"
        var token = "https://id.example/token"
        var namesIssuer = false
        var isOpenID = true
        var named: [String] = []
        let isTaken: Bool

        var testDescription: String { "\(page) \(token) iss:\(namesIssuer) openid:\(isOpenID) named:\(named)" }
    }

    private static let honest = "https://honest.example/authorize"
    private static let honestToken = "https://honest.example/token"

    @Test(arguments: [
        Case(isTaken: true), Case(isOpenID: false, isTaken: true),
        Case(page: "https://id.example:443/authorize", isTaken: true), Case(page: honest, isTaken: false),
        Case(page: honest, isOpenID: false, isTaken: false), Case(page: honest, namesIssuer: true, isTaken: true),
        Case(page: honest, named: ["honest.example"], isTaken: true),
        Case(page: honest, named: ["other.example"], isTaken: false),
        Case(page: honest, named: ["honest.example:8443"], isTaken: false),
        Case(page: "https://id.example:8443/authorize", isTaken: false),
        Case(page: "https://login.id.example/authorize", isTaken: false),
        // Both at one host: an ID token proves whose they are.
        Case(page: honest, token: honestToken, isTaken: true),
        Case(page: honest, token: honestToken, isOpenID: false, isTaken: false),
        Case(page: honest, token: honestToken, isOpenID: false, named: ["honest.example"], isTaken: true),
        Case(page: honest, token: "https://third.example/token", isTaken: false),
        Case(token: honestToken, isTaken: true), Case(token: honestToken, isOpenID: false, isTaken: false),
        Case(token: honestToken, namesIssuer: true, isOpenID: false, isTaken: true),
    ])
    func `a host that nobody named needs a proof`(_ one: Case) throws {
        let document: JSONValue = [
            "issuer": "https://id.example", "authorization_endpoint": .string(one.page),
            "token_endpoint": .string(one.token),
            "authorization_response_iss_parameter_supported": .bool(one.namesIssuer),
        ]
        let metadata = try IssuerMetadata(
            Issuing.answer(["document": document]), at: .init(url: "", isOpenID: one.isOpenID),
            of: "https://id.example", accepting: { _ in false })
        let hosts = IssuerHosts(of: ["https://id.example"], named: one.named)
        guard !one.isTaken else { return try metadata.check(at: hosts) }
        let error = #expect(throws: OAuthError.self) { try metadata.check(at: hosts) }
        #expect(error?.kind == .untrusted)
        #expect(error?.message.hasPrefix("id.example names ") == true, "\(error?.message ?? "")")
        #expect(error?.hint?.contains("issuer-hosts = [\"") == true, "\(error?.hint ?? "")")
    }

    /// Runs a sign-in; returns the error, the opened pages and codes, and the requests that the issuer got.
    private static func signIn(
        _ script: ScriptedIssuer.Script, _ flow: PluginRequest.Flow = .browser, named: [String] = []
    ) async throws -> (error: PluginError?, pages: [PluginEvent], asked: [String]) {
        var error: PluginError?
        let pages = Mutex<[PluginEvent]>([])
        var asked: [String] = []
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.flows = [flow]
            request.issuerHosts = named
            let user = issuer.user()
            let watched = Visitor { event in
                pages.withLock { $0.append(event) }
                return await user.ask(event)
            }
            do throws(PluginError) { _ = try await plugin.authorize(request, watched) } catch let thrown {
                error = thrown
            }
            asked = issuer.asked
        }
        return (error, pages.withLock(\.self), asked)
    }

    @Test func `nobody is sent to another issuer's page`() async throws {
        var script = ScriptedIssuer.Script()
        script.document = ["authorization_endpoint": .string(Self.honest)]
        let (error, pages, asked) = try await Self.signIn(script)
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("honest.example") == true)
        #expect(pages.isEmpty && asked == [Self.discovery])
    }

    @Test(
        arguments: [[], [("iss", "https://honest.example")]] as [[FormEncoding.Field]])
    func `an issuer that promises to name itself gets no code of another's`(
        _ response: [FormEncoding.Field]
    ) async throws {
        var script = ScriptedIssuer.Script()
        script.document = [
            "authorization_endpoint": .string(Self.honest), "authorization_response_iss_parameter_supported": true,
        ]
        script.response = response
        let (error, pages, asked) = try await Self.signIn(script)
        #expect(error?.code == .invalidRequest)
        #expect(pages.count == 1 && asked == [Self.discovery])
    }

    @Test func `a page at a named host is opened`() async throws {
        var script = ScriptedIssuer.Script()
        script.document = ["authorization_endpoint": .string(Self.honest)]
        let (error, pages, _) = try await Self.signIn(script, named: ["honest.example"])
        #expect(error == nil, "\(error?.message ?? "")")
        #expect(pages.count == 1)
    }

    @Test(arguments: [
        ("https://honest.example/device", nil as String?), ("https://honest.example/device", "https://honest.example"),
        ("https://localhost:1/device", nil),
    ])
    func `nobody types another issuer's code`(_ page: String, _ complete: String?) async throws {
        var script = ScriptedIssuer.Script()
        // A promise for authorization responses says nothing about device codes.
        script.document = ["authorization_response_iss_parameter_supported": true]
        script.device = ["verification_uri": .string(page)]
        script.device["verification_uri_complete"] = complete.map(JSONValue.string)
        let (error, pages, asked) = try await Self.signIn(script, .deviceCode)
        #expect(error?.code == .invalidRequest)
        #expect(pages.isEmpty && asked == [Self.discovery, "/device"])
        let named = try await Self.signIn(script, .deviceCode, named: ["honest.example"])
        #expect((named.error == nil) == page.hasPrefix("https://honest.example/"))
    }

    @Test func `the picture leads to the host that is printed`() async throws {
        var script = ScriptedIssuer.Script()
        script.device = ["verification_uri_complete": "https://honest.example/device?user_code=WDJB-MJHT"]
        let (error, pages, _) = try await Self.signIn(script, .deviceCode)
        #expect(error == nil, "\(error?.message ?? "")")
        guard case .showCode(_, let page, let complete, _, _)? = pages.first else {
            Issue.record("no code was shown")
            return
        }
        #expect(page.hasPrefix("https://localhost:") && complete == nil)
    }

    /// Runs the body with an honest issuer and one whose document names some of that one's endpoints.
    private static func mixing(
        _ names: [String], _ body: (ScriptedIssuer, PluginRequest, ScriptedIssuer) async throws -> Void
    ) async throws {
        try await ScriptedIssuer.run { honest, honestServer in
            var script = ScriptedIssuer.Script()
            for (name, path) in [
                ("authorization", "authorize"), ("token", "token"), ("device_authorization", "device"),
            ]
            where names.contains(name) {
                let url = "https://localhost:\(honestServer.port)/realms/acme/\(path)"
                script.document["\(name)_endpoint"] = .string(url)
            }
            try await ScriptedIssuer.run(script) { evil, evilServer in
                var request = evil.request(.authorize, at: evilServer)
                let both = try [evilServer, honestServer].map { try String(contentsOfFile: $0.caFile, encoding: .utf8) }
                let file = FileManager.default.temporaryDirectory.appending(path: "both-\(UUID().uuidString).pem")
                try Data(both.joined().utf8).write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                request.network.caFiles = [file.path]
                try await body(evil, request, honest)
            }
        }
    }

    @Test(
        arguments: [(["authorization", "token"], [.browser]), (["token", "device_authorization"], [.deviceCode])]
            as [([String], [PluginRequest.Flow])])
    func `tokens of another issuer are handed to nobody`(
        _ names: [String], _ flows: [PluginRequest.Flow]
    ) async throws {
        try await Self.mixing(names) { evil, request, honest in
            var request = request
            request.flows = flows
            let asking = request
            let error = await #expect(throws: PluginError.self) {
                try await Self.plugin.authorize(asking, honest.user())
            }
            #expect(error?.code == .invalidRequest, "\(error?.message ?? "")")
            // The token was never shown to the one that named the endpoints.
            #expect(evil.asked == [Self.discovery], "\(evil.asked)")
        }
    }

    @Test func `a refresh token is sent to nobody if the document now names another's page`() async throws {
        var script = ScriptedIssuer.Script()
        script.document = ["authorization_endpoint": .string(Self.honest)]
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.renew, at: server)
            request.refreshToken = Secret("the-first")
            let asking = request
            let error = await #expect(throws: PluginError.self) { try await Self.plugin.renew(asking) }
            #expect(error?.code == .invalidRequest)
            #expect(issuer.asked == [Self.discovery])
        }
    }

    @Test(arguments: [([], false), (["honest.example"], true)] as [([String], Bool)])
    func `an ID token is shown to no page that nobody named`(_ named: [String], _ isShown: Bool) async throws {
        var script = ScriptedIssuer.Script()
        script.document = ["end_session_endpoint": "https://honest.example/logout"]
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.signOut, at: server)
            request.idTokenHint = Secret("e30.e30.")
            request.issuerHosts = named
            let pages = Mutex(0)
            let user = Visitor { _ in
                pages.withLock { $0 += 1 }
                return .done
            }
            do throws(PluginError) {
                try await Self.plugin.signOut(request, user)
                #expect(isShown)
            } catch {
                #expect(!isShown && error.message.contains("honest.example"), "\(error.message)")
            }
            #expect(pages.withLock(\.self) == (isShown ? 1 : 0))
        }
    }

    @Test(arguments: [([], false), (["honest.example"], true)] as [([String], Bool)])
    func `no application is registered for a page that nobody named, even with a promise`(
        _ named: [String], _ isRegistered: Bool
    ) async throws {
        var script = ScriptedIssuer.Script()
        script.document = [
            "authorization_endpoint": .string(Self.honest), "authorization_response_iss_parameter_supported": true,
        ]
        script.registers = true
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.register, at: server)
            request.clientID = ""
            request.issuerHosts = named
            do throws(PluginError) {
                let registered = try await Self.plugin.register(request)
                #expect(isRegistered && registered.clientID == "the-client")
            } catch {
                #expect(!isRegistered && error.code == .invalidRequest, "\(error.message)")
            }
            #expect(issuer.asked == [Self.discovery] + (isRegistered ? ["/register"] : []))
        }
    }
}
