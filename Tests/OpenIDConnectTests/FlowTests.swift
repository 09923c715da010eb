import Addresses
import AuthorityFixture
import Foundation
import JSON
import PluginWire
import Secrets
import Synchronization
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// Sign-ins, renewals and sign-outs at an issuer.
struct FlowTests {
    private static let plugin = IssuerPlugin(environment: [:])

    @Test(arguments: [false, true])
    func `a browser signs in, its end pasted or not`(_ pastes: Bool) async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.flows = [pastes ? .paste : .browser]
            let result = try await Self.plugin.authorize(request, issuer.user(pastes: pastes))
            #expect(result.accessToken == Secret("at-1"))
            #expect(result.refreshToken == Secret("refresh-1"))
            #expect(result.expiresIn == 3_600)
            #expect(result.scopes == ["repo"])
            #expect(result.environment == "localhost:\(server.port)")
            #expect(result.realm == "realms/acme")
            #expect(result.account?.username == "alice")
            #expect(result.account?.name == "Alice")
            let id = AccountIdentifier(issuer: request.authority, subject: ScriptedIssuer.subject).text
            #expect(result.account?.homeAccountID == id)
            #expect(issuer.asked == ["/.well-known/openid-configuration", "/token", "/keys"])
        }
    }

    @Test func `a code is shown and typed elsewhere`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.flows = [.deviceCode]
            let result = try await Self.plugin.authorize(request, issuer.user())
            #expect(result.account?.username == "alice")
            #expect(
                issuer.asked == ["/.well-known/openid-configuration", "/device", "/token", "/token", "/keys"])
        }
    }

    @Test(
        arguments: [
            ["iss": "https://other.example"], ["aud": "other"], ["aud": ["the-client", "other"]], ["nonce": "another"],
            ["nonce": .null], ["iat": .null], ["exp": 1], ["sub": ""],
        ] as [[String: JSONValue]])
    func `a sign-in with a wrong ID token is none`(_ claims: [String: JSONValue]) async throws {
        var script = ScriptedIssuer.Script()
        script.claims = claims
        try await Self.refused(script, .invalidRequest)
    }

    @Test func `an ID token has to be signed with a key of its issuer's`() async throws {
        var script = ScriptedIssuer.Script()
        script.signsWithAnotherKey = true
        try await Self.refused(script, .invalidRequest)
    }

    @Test func `an issuer without keys is believed by its certificate`() async throws {
        var script = ScriptedIssuer.Script()
        script.signsWithAnotherKey = true
        script.document = ["jwks_uri": .null]
        try await ScriptedIssuer.run(script) { issuer, server in
            let result = try await Self.plugin.authorize(issuer.request(.authorize, at: server), issuer.user())
            #expect(result.account?.username == "alice")
        }
    }

    @Test func `OpenID Connect promises an ID token`() async throws {
        var script = ScriptedIssuer.Script()
        script.givesIDTokens = false
        try await Self.refused(script, .invalidRequest)
    }

    @Test(
        arguments: [
            ([("iss", "https://evil.example")], false), ([], true), ([("iss", "https://localhost/realms/acme")], true),
        ] as [([FormEncoding.Field], Bool)])
    func `a code of another issuer isn't sent`(_ response: [FormEncoding.Field], _ isPromised: Bool) async throws {
        var script = ScriptedIssuer.Script()
        script.response = response
        script.document = ["authorization_response_iss_parameter_supported": .bool(isPromised)]
        try await ScriptedIssuer.run(script) { issuer, server in
            let error = await #expect(throws: PluginError.self) {
                try await Self.plugin.authorize(issuer.request(.authorize, at: server), issuer.user())
            }
            #expect(error?.code == .invalidRequest)
            #expect(issuer.asked == ["/.well-known/openid-configuration"])
        }
    }

    @Test(arguments: [
        ("access_denied", PluginError.Code.cancelled), ("consent_required", .interactionRequired),
        ("invalid_scope", .declinedScopes), ("temporarily_unavailable", .unavailable), ("odd", .invalidRequest),
    ])
    func `a refusal at the page ends the sign-in`(_ error: String, _ code: PluginError.Code) async throws {
        var script = ScriptedIssuer.Script()
        script.refusal = error
        try await Self.refused(script, code)
    }

    private static func refused(_ script: ScriptedIssuer.Script, _ code: PluginError.Code) async throws {
        try await ScriptedIssuer.run(script) { issuer, server in
            let error = await #expect(throws: PluginError.self) {
                try await Self.plugin.authorize(issuer.request(.authorize, at: server), issuer.user())
            }
            #expect(error?.code == code, "\(error?.message ?? "")")
        }
    }

    @Test func `a refresh token is good once, and the next one with it comes`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            let first = try await Self.plugin.authorize(issuer.request(.authorize, at: server), issuer.user())
            var request = issuer.request(.renew, at: server)
            request.refreshToken = first.refreshToken
            request.account = first.account?.homeAccountID
            let second = try await Self.plugin.renew(request)
            #expect(second.refreshToken == Secret("refresh-2"))
            #expect(second.account?.homeAccountID == first.account?.homeAccountID)
            // No further request is sent, because the new refresh token must not be lost.
            #expect(issuer.asked.suffix(2) == ["/.well-known/openid-configuration", "/token"])
            let error = await #expect(throws: PluginError.self) { try await Self.plugin.renew(request) }
            #expect(error?.code == .interactionRequired)
            #expect(error?.reasons == [.deadToken])
            // lanyard adds the command that signs in.
            #expect(error?.hint == nil)
            #expect(error?.message.contains("refresh-1") == false)
        }
    }

    @Test func `another account's tokens aren't taken`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.renew, at: server)
            request.refreshToken = Secret("the-first")
            request.account = AccountIdentifier(issuer: request.authority, subject: "another").text
            let error = await #expect(throws: PluginError.self) { try await Self.plugin.renew(request) }
            #expect(error?.code == .interactionRequired)
        }
    }

    @Test(arguments: [
        (["client_secret_basic"], "s3cret", true), (["client_secret_post"], "s3cret", false),
        (["client_secret_post", "client_secret_basic"], "s3cret", true),
        // Some issuers don't decode a header's parts.
        (["client_secret_post", "client_secret_basic"], "s3 cr%t", false),
    ])
    func `a client with a secret proves itself as the issuer wants`(
        _ methods: [String], _ secret: String, _ isInHeader: Bool
    ) async throws {
        var script = ScriptedIssuer.Script()
        script.secret = (secret, isInHeader)
        script.document = ["token_endpoint_auth_methods_supported": JSONValue(strings: methods)]
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.clientSecret = Secret(secret)
            let result = try await Self.plugin.authorize(request, issuer.user())
            #expect(result.accessToken == Secret("at-1"))
            request.clientSecret = Secret("wrong")
            let error = await #expect(throws: PluginError.self) {
                try await Self.plugin.authorize(request, issuer.user())
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.error == "invalid_client")
            #expect(error?.reasons == [.clientRefused])
            // The host decides on the hint.
            #expect(error?.hint == nil)
        }
    }

    @Test func `a host that is no issuer is asked at the endpoints of its kind`() async throws {
        var script = ScriptedIssuer.Script(path: "")
        script.givesIDTokens = false
        script.answersForms = true
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.kind = "github"
            let result = try await Self.plugin.authorize(request, issuer.user())
            #expect(result.expiresIn == nil)
            #expect(result.realm == "default")
            #expect(result.account?.homeAccountID == AccountIdentifier(issuer: request.authority, subject: "42").text)
            #expect(issuer.asked == ["/login/oauth/access_token", "/api/v3/user"])
        }
    }

    @Test(arguments: OAuthVectors.followed("endpoints"))
    func `the endpoints of a kind are below the authority`(vector: VectorCase) throws {
        let authority = try #require(StrictURL(https: vector.text("base") ?? ""))
        let known = IssuerTraits(kind: vector.text("kind"), authority: authority).endpoints
        let all = [
            "authorize": known.authorization, "token": known.token, "device": known.deviceAuthorization,
            "revoke": known.revocation, "userinfo": known.userinfo,
        ]
        for name in vector.expect.keys { #expect(all[name] == .some(vector.expected(name)), "\(name)") }
    }

    @Test func `Bitbucket Data Center says in headers who signed in`() async throws {
        var script = ScriptedIssuer.Script(path: "/bitbucket")
        script.givesIDTokens = false
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.kind = "bitbucket-dc"
            let result = try await Self.plugin.authorize(request, issuer.user())
            #expect(result.account?.username == "alice@contoso")
            #expect(result.account?.homeAccountID == AccountIdentifier(issuer: request.authority, subject: "4711").text)
        }
    }

    @Test func `what the token is for is said at the page and at the token endpoint`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.authorize, at: server)
            request.resources = ["https://a.example", "https://b.example"]
            let page = Mutex("")
            let user = issuer.user()
            _ = try await Self.plugin.authorize(
                request,
                Visitor { event in
                    if case .openURL(let url, _) = event { page.withLock { $0 = url } }
                    return await user.ask(event)
                })
            let resources = "resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example"
            #expect(page.withLock { $0 }.contains(resources))
            #expect(server.requests.contains { $0.hasPrefix("POST /realms/acme/token ") && $0.contains(resources) })
        }
    }

    @Test func `a session ends at the issuer's page`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.signOut, at: server)
            request.idTokenHint = Secret("a.b.c")
            let page = Mutex("")
            try await Self.plugin.signOut(
                request,
                Visitor { event in
                    if case .openURL(let url, nil) = event { page.withLock { $0 = url } }
                    return .done
                })
            #expect(
                page.withLock { $0 } == "\(request.authority)/logout?x=1&id_token_hint=a.b.c&client_id=the-client")
        }
    }

    @Test func `an issuer without such a page says so`() async throws {
        var script = ScriptedIssuer.Script()
        script.document = ["end_session_endpoint": .null]
        try await ScriptedIssuer.run(script) { issuer, server in
            let error = await #expect(throws: PluginError.self) {
                try await Self.plugin.signOut(issuer.request(.signOut, at: server), issuer.user())
            }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `a probe asks the issuer and for a code`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            let found = try await Self.plugin.probe(issuer.request(.probe, at: server))
            #expect(found.checks == [.authority, .client])
            #expect(issuer.asked == ["/.well-known/openid-configuration", "/device"])
        }
    }

    @Test(arguments: [
        "http://id.example.com", "https://", "https://a.example/ä", "https://u@a.example", "https://a.example/%61",
        "https://a.example/..",
    ])
    func `an authority that is no plain https URL is refused`(_ authority: String) async {
        var request = PluginRequest(.renew)
        request.authority = authority
        request.clientID = "c"
        request.refreshToken = Secret("rt")
        let asked = request
        let error = await #expect(throws: PluginError.self) { try await Self.plugin.renew(asked) }
        #expect(error?.code == .invalidRequest)
    }
}
