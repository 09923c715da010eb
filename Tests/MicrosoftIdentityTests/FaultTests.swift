import AuthorityFixture
import Claims
import Foundation
import HTTP
import JSON
import PluginWire
import Secrets
import SwiftASN1
import Synchronization
import Testing
import X509

@testable import MicrosoftIdentity
@testable import OAuth

/// Failures of the authority, the network, or something in between.
@Suite(.serialized)
struct FaultTests {
    private static let hurried: Transport.Limits = {
        var limits = Transport.Limits()
        limits.whole = .seconds(1)
        limits.pause = .milliseconds(100)
        limits.http.body = 100_000
        return limits
    }()

    /// A client like the plugins', with short time limits.
    private static let client = MicrosoftPlugin(
        AuthorityProfile(name: "aad-tenant", kind: .aad), environment: [:], limits: hurried)

    private func renew(_ sandbox: Sandbox, _ change: (inout PluginRequest) -> Void = { _ in }) async -> PluginError? {
        var request = sandbox.request(.renew, at: "/contoso.example")
        request.refreshToken = Secret("nobody's")
        change(&request)
        return await #expect(throws: PluginError.self) { try await Self.client.renew(request) }
    }

    @Test(arguments: [
        (#"{"path":"/token","status":500,"body":"oops"}"#, "HTTP 500"),
        (#"{"path":"/token","status":503,"headers":{"retry-after":"120"}}"#, "HTTP 503"),
        (
            #"{"path":"/token","status":200,"body":"<html>Welcome</html>","content_type":"text/html"}"#,
            "not a token response"
        ),
        (#"{"path":"/token","status":200,"body":"{\"access_token\":\"a"}"#, "not a token response"),
        (
            #"{"path":"/token","truncate":true,"status":200,"body":"{\"access_token\":\"abcdef\"}"}"#,
            "before its answer"
        ),
        (#"{"path":"/token","close":true}"#, "closed the connection"),
        (#"{"path":"/token","delay":5}"#, "did not answer in time"),
        (#"{"path":"/token","status":302,"headers":{"location":"https://evil.example/"}}"#, "not a token response"),
        (#"{"path":"openid-configuration","status":200,"body":"<html>Hotel</html>"}"#, "not an OpenID configuration"),
    ])
    func `an authority that does not work is unavailable`(_ fault: String, _ words: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(fault)
            let error = await renew(sandbox)
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("localhost:") == true)
            if words == "HTTP 503" { #expect(error?.retryAfter == 120) }
        }
    }

    @Test(arguments: [
        #"{"path":"openid-configuration","status":502,"times":1}"#, #"{"path":"/token","close":true,"times":1}"#,
    ])
    func `one failure is tried again`(_ fault: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(fault)
            #expect(await renew(sandbox)?.error == "invalid_grant")
        }
    }

    /// Returns the number of codes sent to the token endpoint during a sign-in, and the error.
    private func redeemCode(_ fault: String) async throws -> (codes: Int, error: PluginError?) {
        let outcome = Mutex<(codes: Int, error: PluginError?)>((0, nil))
        try await Sandbox.run { sandbox in
            try await sandbox.plan(fault)
            var error: PluginError?
            do throws(PluginError) {
                _ = try await Self.client.authorize(
                    sandbox.request(.authorize, at: "/contoso.example"), sandbox.user("alice@contoso.example"))
            } catch let caught {
                error = caught
            }
            let codes = try await sandbox.log().filter { $0.grant_type == "authorization_code" }.count
            let failure = error
            outcome.withLock { $0 = (codes, failure) }
        }
        return outcome.withLock { $0 }
    }

    @Test(arguments: [
        (#"{"path":"/token","close":true,"times":1}"#, "closed the connection"),
        (
            #"{"path":"/token","truncate":true,"status":200,"body":"{\"access_token\":\"abcdef\"}","times":1}"#,
            "before its answer"
        ),
        (#"{"path":"/token","delay":5,"times":1}"#, "did not answer in time"),
        (#"{"path":"/token","status":502,"times":1}"#, "HTTP 502"),
    ])
    func `a code that may have been taken is not sent again`(_ fault: String, _ words: String) async throws {
        let (codes, error) = try await redeemCode(fault)
        // The sandbox logs a request after answering it.
        #expect(codes <= 1)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `a code that the authority says it did not take is sent again`() async throws {
        let (codes, error) = try await redeemCode(#"{"path":"/token","status":503,"times":1}"#)
        #expect(codes == 2)
        #expect(error == nil)
    }

    @Test(
        arguments: [
            (
                "https://localhost:9/contoso.example", [:], "cannot reach localhost:9: connection refused",
                "check the network"
            ),
            (
                "https://login.example/contoso.example", ["https_proxy": "http://user:secret@127.0.0.1:9"],
                "cannot reach login.example: no connection to the proxy 127.0.0.1:9: connection refused",
                "check https_proxy and no_proxy"
            ),
        ] as [(String, [String: String], String, String)])
    func `what is not reached is told with the cause`(
        _ authority: String, _ environment: [String: String], _ message: String, _ hint: String
    ) async throws {
        var request = PluginRequest(.renew)
        request.authority = authority
        request.clientID = "c"
        request.knownHosts = ["localhost", "login.example"]
        request.refreshToken = Secret("r")
        let client = MicrosoftPlugin(
            AuthorityProfile(name: "aad-tenant", kind: .aad), environment: environment, limits: Self.hurried)
        let error = await #expect(throws: PluginError.self) { try await client.renew(request) }
        #expect(error?.message == message)
        #expect(error?.hint == hint)
    }

    @Test func `a name that nobody knows is called so`() async throws {
        var request = PluginRequest(.renew)
        request.authority = "https://nowhere.invalid/contoso.example"
        request.clientID = "c"
        request.knownHosts = ["nowhere.invalid"]
        request.refreshToken = Secret("r")
        let error = await #expect(throws: PluginError.self) { try await Self.client.renew(request) }
        // Without a name server, the name can't be known not to exist.
        let causes = ["no such host", "its name can't be looked up", "the connection timed out"]
        #expect(causes.contains { error?.message == "cannot reach nowhere.invalid: \($0)" }, "\(error?.message ?? "")")
    }

    @Test func `a host without TLS is called so`() async throws {
        let server = try await LoopbackListener.open(port: nil)
        let serving = Task { await server.serve(answer: { _ in LoopbackPage.notHere }, delivered: { _ in }) }
        var request = PluginRequest(.renew)
        request.authority = "https://localhost:\(server.port)/contoso.example"
        request.clientID = "c"
        request.knownHosts = ["localhost"]
        request.refreshToken = Secret("r")
        let error = await #expect(throws: PluginError.self) { try await Self.client.renew(request) }
        #expect(error?.message.contains("does not speak TLS") == true, "\(error?.message ?? "")")
        serving.cancel()
        await serving.value
    }

    @Test func `a renewal ends before the host's patience does`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(#"{"path":"openid-configuration","delay":5}"#)
            var limits = Transport.Limits()
            limits.renewal = .seconds(1)
            let client = MicrosoftPlugin(
                AuthorityProfile(name: "aad-tenant", kind: .aad), environment: [:], limits: limits)
            var request = sandbox.request(.renew, at: "/contoso.example")
            request.refreshToken = Secret("nobody's")
            let start = ContinuousClock.now
            let error = await #expect(throws: PluginError.self) { try await client.renew(request) }
            #expect(error?.code == .unavailable)
            #expect(ContinuousClock.now - start < .seconds(4))
        }
    }

    @Test func `too many requests say how long to wait and are not repeated`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(#"{"path":"/token","status":429,"headers":{"retry-after":"7"}}"#)
            let error = await renew(sandbox)
            #expect(error?.code == .throttled)
            #expect(error?.retryAfter == 7)
            #expect(try await sandbox.log().filter { $0.path.hasSuffix("/token") }.count == 1)
        }
    }

    @Test func `an answer larger than any authority's is not read`() async throws {
        try await Sandbox.run { sandbox in
            let body = String(repeating: "x", count: 200_000)
            try await sandbox.plan(#"{"path":"/token","status":200,"body":"\#(body)"}"#)
            let error = await renew(sandbox)
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("too long") == true)
        }
    }

    @Test(arguments: ["token_endpoint", "authorization_endpoint", "device_authorization_endpoint", "issuer"])
    func `nothing is sent to an endpoint outside the environment`(_ member: String) async throws {
        try await Sandbox.run { sandbox in
            var document = [
                "issuer": "\(sandbox.authority)/t/v2.0", "token_endpoint": "\(sandbox.authority)/t/oauth2/v2.0/token",
                "authorization_endpoint": "\(sandbox.authority)/t/oauth2/v2.0/authorize",
            ]
            document[member] = "https://evil.example/token"
            let body = String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
            let fault = [
                "path": JSONValue.string("openid-configuration"), "status": .integer(200), "body": .string(body),
            ]
            try await sandbox.plan(JSONValue.object(fault).encodedText)
            let error = await renew(sandbox)
            #expect(error?.code == .internal)
            #expect(error?.message.contains("evil.example") == true)
            #expect(try await sandbox.log().allSatisfy { $0.method == "GET" })
        }
    }

    @Test(arguments: [
        (#"{"path":"/token","issuer":"https://evil.example/t/v2.0"}"#, "a different issuer"),
        (#"{"path":"/token","nonce":"guessed"}"#, "another sign-in"),
    ])
    func `a forged ID token is refused`(_ fault: String, _ words: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(fault)
            let error = await #expect(throws: PluginError.self) {
                try await Self.client.authorize(
                    sandbox.request(.authorize, at: "/contoso.example"), sandbox.user("alice@contoso.example"))
            }
            #expect(error?.code == .internal)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test func `an answer with a wrong state is not redeemed`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(#"{"path":"authorize","state":"guessed"}"#)
            let user = ScriptedPerson { event in
                guard case .openURL(let url, _) = event else { return .unsupported }
                _ = try? await sandbox.browse(url, as: "alice@contoso.example")
                return .cancelled
            }
            let error = await #expect(throws: PluginError.self) {
                try await Self.client.authorize(sandbox.request(.authorize, at: "/contoso.example"), user)
            }
            #expect(error?.code == .cancelled)
            #expect(try await sandbox.log().allSatisfy { $0.grant_type == nil })
        }
    }

    @Test func `a certificate that nobody vouches for is refused`() async throws {
        try await Sandbox.run { sandbox in
            let error = await renew(sandbox) { $0.network.caFiles = [] }
            #expect(error?.code == .unavailable)
            let hint = error?.hint ?? ""
            #expect(hint.contains("ca-file") && !hint.contains("~/.config"), "which file that is, only the host knows")
            let visits = try await sandbox.log()
            #expect(visits.isEmpty)
        }
    }

    @Test func `SSL_CERT_FILE is trusted besides the system's`() async throws {
        try await Sandbox.run { sandbox in
            let client = MicrosoftPlugin(
                AuthorityProfile(name: "aad-tenant", kind: .aad), environment: ["SSL_CERT_FILE": sandbox.caFile],
                limits: Self.hurried)
            var request = sandbox.request(.renew, at: "/contoso.example")
            request.network.caFiles = []
            request.refreshToken = Secret("nobody's")
            let error = await #expect(throws: PluginError.self) { try await client.renew(request) }
            #expect(error?.error == "invalid_grant")
        }
    }

    @Test(arguments: [1, 2])
    func `certificates put together without their last line feeds are read`(_ copies: Int) async throws {
        try await Sandbox.run { sandbox in
            let text = try String(contentsOfFile: sandbox.caFile, encoding: .utf8)
            #expect(text.hasSuffix("-----\n"))
            let (other, _) = try TLSServer.certificate(.init(.dnsName("other.example")))
            let parts =
                Array(repeating: try other.serializeAsPEM().pemString, count: copies - 1) + [String(text.dropLast())]
            let file = sandbox.caFile + ".joined"
            try Data(parts.joined().utf8).write(to: URL(filePath: file))
            #expect(await renew(sandbox) { $0.network.caFiles = [file] }?.error == "invalid_grant")
        }
    }

    @Test func `a file without certificates is named`() async throws {
        let error = await #expect(throws: PluginError.self) {
            var request = PluginRequest(.renew)
            request.network.caFiles = ["/dev/null"]
            request.refreshToken = Secret("r")
            return try await Self.client.renew(request)
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("/dev/null") == true)
    }

    @Test func `a tenant that does not exist is the configuration's fault`() async throws {
        try await Sandbox.run { sandbox in
            let error = await renew(sandbox) { $0.authority = "\(sandbox.authority)/nowhere.example" }
            #expect(error?.code == .invalidRequest)
            #expect(error?.hint?.contains("tenant") == true)
        }
    }

    @Test func `a host that nobody named is asked about at Microsoft's and not used when that fails`() async throws {
        try await Sandbox.run { sandbox in
            // A proxy that refuses stands for a network without access to Microsoft.
            let client = MicrosoftPlugin(
                AuthorityProfile(name: "aad-tenant", kind: .aad),
                environment: ["https_proxy": "http://127.0.0.1:9", "no_proxy": "localhost"], limits: Self.hurried)
            var request = sandbox.request(.renew, at: "/contoso.example")
            request.knownHosts = []
            request.refreshToken = Secret("r")
            let error = await #expect(throws: PluginError.self) { try await client.renew(request) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("login.microsoftonline.com") == true)
            let visits = try await sandbox.log()
            #expect(visits.isEmpty)
        }
    }

    @Test func `requests that can't be right are refused before anything is opened`() async throws {
        try await Sandbox.run { sandbox in
            let user = ScriptedPerson { _ in
                Issue.record("nothing should be asked")
                return .cancelled
            }
            let changes: [@Sendable (inout PluginRequest) -> Void] = [
                { $0.signIn.prompt = "please" }, { $0.claims = "e30" }, { $0.clientID = "" },
                { $0.redirectURI = "http://evil.example" },
            ]
            for change in changes {
                var request = sandbox.request(.authorize, at: "/contoso.example")
                change(&request)
                do throws(PluginError) {
                    _ = try await Self.client.authorize(request, user)
                    Issue.record("the request should be refused")
                } catch {
                    #expect(error.code == .invalidRequest)
                }
            }
        }
    }

    @Test func `cancelling the task ends a sign-in that waits`() async throws {
        try await Sandbox.run { sandbox in
            let (opened, open) = AsyncStream.makeStream(of: Void.self)
            let user = ScriptedPerson { _ in
                open.yield()
                return .done
            }
            let task = Task {
                try await Self.client.authorize(sandbox.request(.authorize, at: "/contoso.example"), user)
            }
            for await _ in opened { break }
            task.cancel()
            let error = await #expect(throws: PluginError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }
}
