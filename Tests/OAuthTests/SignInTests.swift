import AuthorityFixture
import Foundation
import HTTP
import Secrets
import Testing
import X509

@testable import OAuth

/// Sign-ins at an authority that follows the standards and nothing else.
struct SignInTests {
    private struct PlainRules: AuthorityRules {
        func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> TokenResponse { response }
    }

    /// A user whose browser follows the authority's redirect.
    private struct Visitor: SignInUser {
        /// The fields that the authority returns.
        var fields: [FormEncoding.Field] = [("code", "the-code")]
        var hasBrowser = true

        func open(_ url: String, redirectURI: String) async -> UserReply {
            guard hasBrowser else { return .unavailable }
            let asked = FormEncoding.decode(url.split(separator: "?", maxSplits: 1).last ?? "")
            let answer = FormEncoding.encode(fields + [("state", asked["state"] ?? "")])
            guard redirectURI.hasPrefix("http://") else { return .pasted(Secret("\(redirectURI)?\(answer)")) }
            var request = HTTPRequest("GET", redirectURI)
            if asked["response_mode"] == "form_post" {
                request.method = "POST"
                request.headers = [("content-type", Secret("application/x-www-form-urlencoded"))]
                request.body = Array(answer.utf8)
            } else {
                request.url += "?\(answer)"
            }
            _ = try? await HTTPClient(userAgent: "tests", .anyone).send(request, within: .seconds(10))
            return .done
        }

        func show(_ code: DeviceAuthorization) async -> UserReply { code.userCode == "ABCD" ? .done : .cancelled }
        func progress(_ message: String) async {}
    }

    private static func json(_ body: String, status: Int = 200) -> TLSServer.Behaviour {
        .answer("HTTP/1.1 \(status) X\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static let tokens = json(#"{"access_token":"gho_x","token_type":"bearer","scope":"repo,gist"}"#)

    /// Runs the body with a client at a server with this behaviour.
    private static func withClient(
        _ behaviour: @escaping @Sendable (String) -> TLSServer.Behaviour = { _ in tokens },
        _ body: (inout OAuthClient, TLSServer) async throws -> Void
    ) async throws {
        try await TLSServer.run(.init(.dnsName("localhost")), behaviour) { server in
            var settings = Transport.Settings(userAgent: "tests", environment: [:])
            settings.network.caFiles = [server.caFile]
            settings.limits.pause = .milliseconds(50)
            let transport = try Transport(settings)
            let base = "https://localhost:\(server.port)"
            var client = OAuthClient(
                "the-client", at: "localhost:\(server.port)",
                endpoints: Endpoints(
                    authorization: "\(base)/authorize", token: "\(base)/token", deviceAuthorization: "\(base)/device"),
                scope: "repo", redirectURI: "http://127.0.0.1/callback", transport: transport)
            try await body(&client, server)
        }
    }

    private static func form(_ request: String) -> String {
        request.components(separatedBy: "\r\n\r\n").last ?? ""
    }

    @Test(arguments: [true, false])
    func `a browser signs in, its answer posted or in the address`(_ posts: Bool) async throws {
        try await Self.withClient { client, server in
            client.postsAnswers = posts
            client.repeatsScope = posts
            let response = try await SignIn(client, by: PlainRules()).run([.browser], Visitor())
            #expect(response.accessToken == Secret("gho_x"))
            #expect(response.expiresIn == nil)
            let request = try #require(server.requests.first)
            let fields = FormEncoding.decode(Self.form(request)[...])
            let names: Set = ["grant_type", "code", "redirect_uri", "code_verifier", "client_id"]
            #expect(Set(fields.keys) == (posts ? names.union(["scope"]) : names))
            #expect(fields["redirect_uri"]?.hasSuffix("/callback") == true)
            let headers = request.split(separator: "\r\n").dropFirst().prefix { $0.contains(": ") }
                .compactMap { $0.split(separator: ":").first?.lowercased() }
            #expect(Set(headers) == ["content-type", "accept", "user-agent", "host", "content-length"])
        }
    }

    @Test func `a scope that isn't named isn't sent`() async throws {
        try await Self.withClient { client, server in
            client.scope = ""
            _ = try await SignIn(client, by: PlainRules()).run([.browser], Visitor())
            #expect(server.requests.allSatisfy { !$0.contains("scope") })
        }
    }

    @Test func `an error in an answer of success is one`() async throws {
        let refusal = Self.json(#"{"error":"incorrect_client_credentials","error_description":"No such client."}"#)
        try await Self.withClient({ _ in refusal }) { client, _ in
            let signIn = SignIn(client, by: PlainRules())
            let error = await #expect(throws: OAuthError.self) { try await signIn.run([.browser], Visitor()) }
            #expect(error?.message == "the authority refuses: No such client")
        }
    }

    @Test func `a refusal at the page ends the sign-in`() async throws {
        try await Self.withClient { client, server in
            let signIn = SignIn(client, by: PlainRules())
            let error = await #expect(throws: OAuthError.self) {
                try await signIn.run([.browser], Visitor(fields: [("error", "access_denied")]))
            }
            #expect(error.map { LoopbackPage(after: $0) } == .declined)
            #expect(server.requests.isEmpty)
        }
    }

    private static let issuers: [(named: String?, isAlwaysNamed: Bool, isRedeemed: Bool)] = [
        ("https://a.example", true, true), ("https://a.example", false, true), (nil, false, true), (nil, true, false),
        ("https://a.example/", false, false), ("https://b.example", true, false),
    ]

    @Test(arguments: issuers)
    func `a code of another issuer is not redeemed`(
        _ named: String?, _ isAlwaysNamed: Bool, _ isRedeemed: Bool
    ) async throws {
        try await Self.withClient { client, server in
            client.issuer = OAuthClient.Issuer("https://a.example", isAlwaysNamed: isAlwaysNamed)
            let visitor = Visitor(fields: [("code", "the-code")] + (named.map { [("iss", $0)] } ?? []))
            let outcome = await Self.outcome(of: SignIn(client, by: PlainRules()), visitor)
            #expect(server.requests.count == (isRedeemed ? 1 : 0))
            #expect(outcome == (isRedeemed ? nil : .untrusted))
        }
    }

    private static func outcome(of signIn: SignIn<PlainRules>, _ visitor: Visitor) async -> OAuthError.Kind? {
        do throws(OAuthError) {
            _ = try await signIn.run([.browser], visitor)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `an address is pasted`() async throws {
        try await Self.withClient { client, _ in
            client.redirectURI = "https://example.com/done"
            let response = try await SignIn(client, by: PlainRules()).run([.browser], Visitor())
            #expect(response.accessToken == Secret("gho_x"))
        }
    }

    @Test func `a code is shown if there is no browser`() async throws {
        let code = #"{"device_code":"D","user_code":"ABCD","verification_uri":"https://a.example","interval":1}"#
        try await Self.withClient({ $0.contains("/device ") ? Self.json(code) : Self.tokens }) { client, server in
            let response = try await SignIn(client, by: PlainRules())
                .run([.browser, .deviceCode], Visitor(hasBrowser: false))
            #expect(response.scope == "repo,gist")
            #expect(
                server.requests.map(Self.form) == [
                    "client_id=the-client&scope=repo",
                    "client_id=the-client&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
                        + "&device_code=D",
                ])
        }
    }

    @Test func `what the authority lacks is unsupported`() async throws {
        try await Self.withClient { client, _ in
            client.endpoints = Endpoints(authorization: nil, token: client.endpoints.token)
            let signIn = SignIn(client, by: PlainRules())
            for flows in [[], [.browser], [.deviceCode]] as [[Flow]] {
                let error = await #expect(throws: OAuthError.self) { try await signIn.run(flows, Visitor()) }
                #expect(error?.kind == .unsupported)
            }
        }
    }

    @Test(arguments: [(false, 1), (true, 2)])
    func `a refresh token is sent again only where that does no harm`(_ repeats: Bool, _ times: Int) async throws {
        try await Self.withClient({ _ in Self.json("", status: 502) }) { client, server in
            client.repeatsRenewals = repeats
            let renewing = client
            let error = await #expect(throws: OAuthError.self) {
                try await renewing.redeem(.refreshToken(Secret("rt")))
            }
            #expect(error?.kind == .unavailable)
            #expect(server.requests.count == times)
        }
    }
}
