import AuthorityFixture
import Claims
import Foundation
import PluginWire
import Secrets
import Testing

@testable import MicrosoftIdentity
@testable import OAuth

/// The plugins' requests to an authority, byte for byte, in order.
///
/// `LANYARD_RECORD=1` rewrites the transcripts, and fails: review the changes.
struct RecordedRequestTests {
    /// One sign-in or renewal, and the file with its transcript.
    struct Scenario: Sendable, CustomTestStringConvertible {
        let name: String
        let run: @Sendable (RecordedAuthority, TLSServer) async throws -> Void

        var testDescription: String { name }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Recorded")

    @Test(arguments: scenarios)
    func `an authority is asked what it always was asked`(_ scenario: Scenario) async throws {
        let transcript = try await RecordedAuthority.record(scenario.run)
        let file = Self.folder.appending(path: "\(scenario.name).txt")
        if ProcessInfo.processInfo.environment["LANYARD_RECORD"] != nil {
            try Data(transcript.utf8).write(to: file)
            Issue.record("recorded \(scenario.name) anew")
        }
        #expect(try transcript == String(contentsOf: file, encoding: .utf8))
    }

    @Test func `no transcript is left over`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(Self.scenarios.map { "\($0.name).txt" }))
    }

    private static func request(
        _ operation: PluginRequest.Operation, at path: String, of server: TLSServer,
        flows: [PluginRequest.Flow] = [.browser]
    ) -> PluginRequest {
        var request = PluginRequest(operation)
        request.authority = "https://localhost:\(server.port)\(path)"
        request.clientID = "5a9d0000-0000-4000-8000-0000000000c1"
        request.scopes = ["api://git/.default"]
        request.flows = flows
        request.network.caFiles = [server.caFile]
        request.knownHosts = ["localhost"]
        request.correlationID = "c0441a7e-0000-4000-8000-000000000001"
        return request
    }

    private static let scenarios: [Scenario] = [
        Scenario(name: "browser") { authority, server in
            let request = request(.authorize, at: "/contoso.example", of: server)
            _ = try await MicrosoftPlugin.aadTenant.authorize(request, authority.user())
        },
        Scenario(name: "browser-with-everything") { authority, server in
            var request = request(.authorize, at: "/common", of: server)
            request.redirectURI = "http://127.0.0.1/come/back"
            request.scopes = ["api://git/Repo.Read", "Offline_Access", "email"]
            request.signIn.prompt = "select_account"
            request.signIn.loginHint = "alice+x@contoso.example"
            request.signIn.domainHint = "contoso.example"
            request.claims = #"{"id_token":{"auth_time":{"essential":true}}}"#
            request.capabilities = [.claimsChallenge]
            request.signIn.queryParameters = ["slice": "testslice", "mkt": "de-DE"]
            _ = try await MicrosoftPlugin.aadCommon.authorize(request, authority.user())
        },
        Scenario(name: "paste") { authority, server in
            var request = request(.authorize, at: "/organizations", of: server, flows: [.paste])
            request.redirectURI = "https://login.microsoftonline.com/common/oauth2/nativeclient"
            request.capabilities = [.claimsChallenge]
            _ = try await MicrosoftPlugin.aadCommon.authorize(request, authority.user())
        },
        Scenario(name: "code-sent-again") { authority, server in
            authority.plan(.unavailable)
            let request = request(.authorize, at: "/contoso.example", of: server)
            _ = try await MicrosoftPlugin.aadTenant.authorize(request, authority.user())
        },
        Scenario(name: "device-code") { authority, server in
            authority.plan(.pending)
            var request = request(.authorize, at: "/organizations", of: server, flows: [.deviceCode])
            request.capabilities = [.claimsChallenge]
            request.signIn.loginHint = "alice@contoso.example"
            _ = try await MicrosoftPlugin.aadCommon.authorize(request, authority.user())
        },
        Scenario(name: "renewal") { authority, server in
            var request = request(.renew, at: "/common", of: server)
            request.refreshToken = Secret("the-refresh-token")
            request.account = RecordedAuthority.account
            _ = try await MicrosoftPlugin.aadCommon.renew(request)
        },
        Scenario(name: "renewal-with-claims") { authority, server in
            authority.plan(.unavailable)
            var request = request(.renew, at: "/contoso.example", of: server)
            request.refreshToken = Secret("the-refresh-token")
            request.claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            request.capabilities = [.claimsChallenge]
            _ = try await MicrosoftPlugin.aadTenant.renew(request)
        },
        // Another application's refresh token of the family, redeemed with this one's client ID.
        Scenario(name: "renewal-by-family") { authority, server in
            var request = request(.renew, at: "/organizations", of: server)
            request.clientID = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
            request.refreshToken = Secret("the-family-refresh-token")
            request.account = RecordedAuthority.account
            let result = try await MicrosoftPlugin.aadCommon.renew(request)
            authority.note("= family \(result.familyID ?? "")")
        },
        Scenario(name: "b2c-with-reset") { authority, server in
            authority.refuse("AADB2C90118: The user has forgotten their password.")
            var request = request(.authorize, at: policy, of: server)
            request.signIn.resetPolicy = "B2C_1_reset"
            request.signIn.prompt = "login"
            request.capabilities = [.claimsChallenge]
            _ = try await MicrosoftPlugin.aadB2C.authorize(request, authority.user())
        },
        Scenario(name: "b2c-renewal") { authority, server in
            var request = request(.renew, at: policy, of: server)
            request.refreshToken = Secret("the-refresh-token")
            request.account = RecordedAuthority.account
            _ = try await MicrosoftPlugin.aadB2C.renew(request)
        },
        Scenario(name: "probe") { authority, server in
            let found = try await MicrosoftPlugin.aadTenant.probe(request(.probe, at: "/contoso.example", of: server))
            authority.note("= checked \(found.checks.map(\.rawValue).joined(separator: " "))")
        },
        Scenario(name: "sign-out") { authority, server in
            var request = request(.signOut, at: "/common", of: server)
            request.signIn.loginHint = "alice@contoso.example"
            try await MicrosoftPlugin.aadCommon.signOut(request, authority.user())
            request.authority = "https://localhost:\(server.port)\(policy)"
            request.idTokenHint = Secret("e30.e30.c2ln")
            try await MicrosoftPlugin.aadB2C.signOut(request, authority.user())
        },
    ]

    private static let policy = "/tfp/contoso.onmicrosoft.example/B2C_1_susi"
}
