import AADCommon
import AADTenant
import AuthorityPlugin
import CredentialProtocol
import Foundation
import JSON
import Testing

@testable import MicrosoftIdentity

/// What happens when the authority, the network or somebody in between does not play along.
@Suite(.serialized)
struct FaultTests {
    private static let hurried: Transport.Limits = {
        var limits = Transport.Limits()
        limits.whole = .seconds(1)
        limits.pause = .milliseconds(100)
        limits.body = 100_000
        return limits
    }()

    /// A client like the plugins', that gives up soon.
    private static let client = IdentityClient(
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
            "no token response"
        ),
        (#"{"path":"/token","status":200,"body":"{\"access_token\":\"a"}"#, "no token response"),
        (
            #"{"path":"/token","truncate":true,"status":200,"body":"{\"access_token\":\"abcdef\"}"}"#,
            "before its answer"
        ),
        (#"{"path":"/token","close":true}"#, "closed the connection"),
        (#"{"path":"/token","delay":5}"#, "did not answer in time"),
        (#"{"path":"/token","status":302,"headers":{"location":"https://evil.example/"}}"#, "no token response"),
        (#"{"path":"openid-configuration","status":200,"body":"<html>Hotel</html>"}"#, "no OpenID configuration"),
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

    @Test(arguments: [#"{"path":"/","status":502,"times":1}"#, #"{"path":"/token","close":true,"times":1}"#])
    func `one failure is tried again`(_ fault: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(fault)
            #expect(await renew(sandbox)?.error == "invalid_grant")
        }
    }

    @Test func `a renewal ends before the host's patience does`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(#"{"path":"/","delay":5}"#)
            var limits = Transport.Limits()
            limits.renewal = .seconds(1)
            let client = IdentityClient(
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
            #expect(error?.message.contains("more than") == true)
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
        (#"{"path":"/token","issuer":"https://evil.example/t/v2.0"}"#, "another issuer"),
        (#"{"path":"/token","nonce":"guessed"}"#, "another sign-in"),
    ])
    func `a forged id token is refused`(_ fault: String, _ words: String) async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(fault)
            let error = await #expect(throws: PluginError.self) {
                try await Self.client.authorize(
                    sandbox.request(.authorize, at: "/contoso.example"), sandbox.person("alice@contoso.example"))
            }
            #expect(error?.code == .internal)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test func `an answer with a wrong state is not redeemed`() async throws {
        try await Sandbox.run { sandbox in
            try await sandbox.plan(#"{"path":"/","state":"guessed"}"#)
            let person = ScriptedPerson { event in
                guard case .openURL(let url, _) = event else { return .unsupported }
                _ = try? await sandbox.browse(url, as: "alice@contoso.example")
                return .cancelled
            }
            let error = await #expect(throws: PluginError.self) {
                try await Self.client.authorize(sandbox.request(.authorize, at: "/contoso.example"), person)
            }
            #expect(error?.code == .cancelled)
            #expect(try await sandbox.log().allSatisfy { $0.grant_type == nil })
        }
    }

    @Test func `a certificate that nobody vouches for is refused`() async throws {
        try await Sandbox.run { sandbox in
            let error = await renew(sandbox) { $0.caFile = nil }
            #expect(error?.code == .unavailable)
            #expect(error?.hint?.contains("ca-file") == true)
            let visits = try await sandbox.log()
            #expect(visits.isEmpty)
        }
    }

    @Test func `SSL_CERT_FILE is trusted besides the system's`() async throws {
        try await Sandbox.run { sandbox in
            let client = IdentityClient(
                AuthorityProfile(name: "aad-tenant", kind: .aad), environment: ["SSL_CERT_FILE": sandbox.caFile],
                limits: Self.hurried)
            var request = sandbox.request(.renew, at: "/contoso.example")
            request.caFile = nil
            request.refreshToken = Secret("nobody's")
            let error = await #expect(throws: PluginError.self) { try await client.renew(request) }
            #expect(error?.error == "invalid_grant")
        }
    }

    @Test func `a file without certificates is named`() async throws {
        let error = await #expect(throws: PluginError.self) {
            var request = PluginRequest(.renew)
            request.caFile = "/dev/null"
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
            // A proxy that refuses stands for a network without Microsoft.
            let client = IdentityClient(
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
            let person = ScriptedPerson { _ in
                Issue.record("nothing should be asked")
                return .cancelled
            }
            let changes: [@Sendable (inout PluginRequest) -> Void] = [
                { $0.prompt = "please" }, { $0.extraQuery = ["state=mine"] }, { $0.extraQuery = ["=x"] },
                { $0.claims = "e30" }, { $0.clientID = "" }, { $0.redirectURI = "http://evil.example" },
            ]
            for change in changes {
                var request = sandbox.request(.authorize, at: "/contoso.example")
                change(&request)
                do throws(PluginError) {
                    _ = try await Self.client.authorize(request, person)
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
            let person = ScriptedPerson { _ in
                open.yield()
                return .done
            }
            let task = Task {
                try await Self.client.authorize(sandbox.request(.authorize, at: "/contoso.example"), person)
            }
            for await _ in opened { break }
            task.cancel()
            let error = await #expect(throws: PluginError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }
}
