import Addresses
import AuthorityFixture
import Foundation
import HTTP
import JSON
import PluginWire
import Secrets
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// Validation of issuers' answers.
struct AnswerTests {
    private struct PlainRules: AuthorityRules {
        func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> TokenResponse { response }
    }

    private static let tokens: [String: JSONValue] = ["json": ["access_token": "at", "token_type": "Bearer"]]

    @Test(arguments: OAuthVectors.followed("authorization-response"))
    func `a code is redeemed only if it is this sign-in's and this issuer's`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in Issuing.behaviour(Self.tokens) }) { server in
            let session = try Issuing.session(vector, at: server)
            var client = session.client
            client.issuer?.isAlwaysNamed = vector.input["iss_required"] == .bool(true)
            let redirect = vector.text("redirect_uri") ?? "http://127.0.0.1:1"
            let request = AuthorizationRequest(redirectURI: redirect, responseMode: .query)
            // The case's state is s1.
            func now(_ text: String) -> String { text.replacing("state=s1", with: "state=\(request.state)") }
            let response =
                if let pasted = vector.text("pasted") {
                    AuthorizationResponse(pasted: Secret(now(pasted)))
                } else {
                    AuthorizationResponse(form: now(vector.text("query") ?? vector.text("body") ?? "")[...])
                }
            do throws(OAuthError) {
                _ = try await SignIn(client, by: PlainRules()).tokens(for: response, to: request)
                #expect(vector.isFine)
                #expect(server.requests.map { Issuing.form($0)["code"] } == [vector.expected("code")])
            } catch {
                #expect(vector.code == session.code(error), "\(error.message)")
                #expect(server.requests.isEmpty)
                let message = session.pluginError(error).message
                if let said = vector.expected("message") { #expect(message.contains(said.dropLast())) }
                #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
            }
        }
    }

    @Test(arguments: OAuthVectors.followed("token-response"))
    func `a token response is read strictly where it counts`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        do throws(OAuthError) {
            let response = try TokenResponse(Issuing.answer(vector.input), from: "host", stage: .redemption)
            let tokens = IssuerTokens(response, asked: session.request.scopes)
            #expect(vector.isFine)
            if let token = vector.expected("access_token") { #expect(response.accessToken == Secret(token)) }
            if let seconds = vector.expect["expires_in"] { #expect(response.expiresIn == seconds.wholeNumber) }
            if let token = vector.expect["refresh_token"] {
                #expect(response.refreshToken == token.string.map { Secret($0) })
            }
            if vector.expect["scope"] != nil { #expect(tokens.scopes == vector.expectedTexts("scope")) }
            #expect(tokens.declined == vector.expectedTexts("declined"))
        } catch {
            #expect(vector.code == session.code(error), "\(error.message)")
        }
    }

    @Test(arguments: [
        #""scope": "https://www.googleapis.com/auth/userinfo.email openid api""#, #""scope": "api""#,
        #""scope": ["openid", "api"]"#, #""scope": "api,openid""#, #""scope": {"api": true}"#, #""scope": 1"#,
        #""scope": null"#, #""scope": [1]"#, #""token_type": null"#, #""token_type": 1"#, #""id_token": {}"#,
        #""refresh_token": {}"#, #""expires_in": "3600""#, #""expires_in": "3600.5""#, #""expires_in": 1e300"#,
        #""error": null"#, #""error": """#, #""error": false"#, #""error": 0"#, #""error_description": 1"#,
    ])
    func `a member that isn't needed decides nothing`(_ member: String) throws {
        let asked = ["api", "openid", "profile", "email", "address", "phone", "offline_access"]
        for status in [200, 201] {
            let body = #"{"access_token": "at", \#(member)}"#
            let answer = HTTPAnswer(status: status, body: Array(body.utf8))
            let response = try TokenResponse(answer, from: "host", stage: .refresh)
            #expect(response.accessToken == Secret("at"))
            let tokens = IssuerTokens(response, asked: asked)
            // What is stored must serve the next request for the same.
            #expect(tokens.declined.isEmpty && Set(asked).isSubset(of: tokens.scopes))
        }
    }

    @Test func `a scope with a comma is one scope, if it was asked for`() throws {
        let answer = HTTPAnswer(status: 200, body: Array(#"{"access_token": "at", "scope": "a,b"}"#.utf8))
        let response = try TokenResponse(answer, from: "host", stage: .refresh)
        #expect(IssuerTokens(response, asked: ["a,b"]).scopes == ["a,b"])
        #expect(IssuerTokens(response, asked: ["a", "A"]).declined == ["A"])
    }

    @Test func `a form is an answer, too`() throws {
        for (body, token) in [("access_token=a%2Bt&token_type=bearer", "a+t"), (#"{"access_token": "at"}"#, "at")] {
            let type = HTTPAnswer.Field(name: "content-type", value: "application/x-www-form-urlencoded")
            let answer = HTTPAnswer(status: 200, headers: [type], body: Array(body.utf8))
            #expect(try TokenResponse(answer, from: "host", stage: .refresh).accessToken == Secret(token))
        }
    }

    @Test(arguments: [
        (#"{"error": {"code": 401, "message": "disabled"}}"#, "401", "disabled"),
        (#"{"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "gone"}}"#, "unauthenticated", "gone"),
        (#"{"error": {"code": "InvalidToken", "message": "gone"}}"#, "invalidtoken", "gone"),
        (#"{"error": {"type": "OAuthException", "code": 190, "message": "gone"}}"#, "oauthexception", "gone"),
        (#"{"error": "invalid_request", "error_description": ["x"]}"#, "invalid_request", "invalid_request"),
        (#"{"error": 17, "message": "gone"}"#, "17", "gone"), (#"{"message": "gone"}"#, "http_400", "gone"),
        (#"{"errors": [{"message": "x"}]}"#, "http_400", "http_400"),
    ])
    func `a refusal is understood in the forms that servers give it`(body: String, name: String, words: String) throws {
        let answer = HTTPAnswer(status: 400, body: Array(body.utf8))
        let error = #expect(throws: OAuthError.self) { try TokenResponse(answer, from: "host", stage: .refresh) }
        #expect(error?.message == "the authority refuses: \(words)")
        #expect(error.map(Issuing.plain)?.error == name)
    }

    private static let html = HTTPAnswer.Field(name: "content-type", value: "text/html; charset=utf-8")
    private static let via = HTTPAnswer.Field(name: "via", value: "1.1 squid")

    @Test(
        arguments: [
            (401, [], "", true), (403, [], "", true), (403, [via], "", true), (403, [], "Forbidden", true),
            (401, [], #"{"message": "who?"}"#, true), (403, [via], #"{"message": "who?"}"#, true),
            (401, [html], "<p>Unauthorized</p>", true), (403, [html], "<p>Forbidden</p>", false),
            (403, [], "<html>", false), (403, [via], "Forbidden", false), (404, [], "", false), (400, [], "?", false),
        ] as [(Int, [HTTPAnswer.Field], String, Bool)])
    func `a 401 or 403 that no proxy wrote refuses the client, whatever is asked for`(
        status: Int, headers: [HTTPAnswer.Field], body: String, isRefusal: Bool
    ) {
        let answer = HTTPAnswer(status: status, headers: headers, body: Array(body.utf8))
        let stages: [OAuthError.Stage] = [.redemption, .authentication, .device]
        var errors = stages.map { stage in
            #expect(throws: OAuthError.self) { try TokenResponse(answer, from: "host", stage: stage) }
        }
        errors.append(#expect(throws: OAuthError.self) { try DeviceAuthorization(answer, from: "host") })
        for error in errors.map({ $0.map(Issuing.plain) }) {
            #expect(error?.reasons.contains(.clientRefused) == isRefusal, "\(String(describing: error))")
            let words = body.hasPrefix("{") ? "who?" : "no reason given (HTTP \(status))"
            #expect((error?.message == "the authority refuses: \(words)") == isRefusal)
            #expect(error?.hint?.contains("no proxy") != isRefusal || status == 404)
        }
    }

    @Test(
        arguments: [
            ("invalid_request", .interactionRequired, false), ("http_400", .interactionRequired, false),
            ("unknown", .interactionRequired, false), ("access_denied", .interactionRequired, false),
            ("invalid_grant", .interactionRequired, true), ("invalid_token", .interactionRequired, true),
            ("token_expired", .interactionRequired, true), ("expired_token", .interactionRequired, true),
            ("unauthorized_client", .interactionRequired, true), ("bad_refresh_token", .interactionRequired, true),
            ("invalid_client", .invalidRequest, false), ("incorrect_client_credentials", .invalidRequest, false),
            ("server_error", .unavailable, false), ("temporarily_unavailable", .unavailable, false),
        ] as [(String, PluginError.Code, Bool)])
    func `a refused refresh token leads to a sign-in, unless that would be refused, too`(
        error: String, code: PluginError.Code, isDead: Bool
    ) {
        let told = Issuing.plain(OAuthError(ErrorResponse(error: error), at: .refresh))
        #expect(told.code == code)
        #expect(told.reasons.contains(.deadToken) == isDead)
        #expect(told.message.hasPrefix("the authority refuses"))
    }

    @Test(arguments: [
        (401, "", nil, PluginError.Code.interactionRequired), (401, "", "secret", .invalidRequest),
        (403, "Forbidden", nil, .interactionRequired), (401, #"{"error": "invalid_client"}"#, nil, .invalidRequest),
    ])
    func `a renewal without a secret that is refused without a word leads to a sign-in`(
        status: Int, body: String, secret: String?, code: PluginError.Code
    ) {
        let answer = HTTPAnswer(status: status, body: Array(body.utf8))
        let error = #expect(throws: OAuthError.self) { try TokenResponse(answer, from: "host", stage: .refresh) }
        var request = PluginRequest(.renew)
        request.clientSecret = secret.map { Secret($0) }
        let told = error?.pluginError(of: request)
        #expect(told?.code == code && told?.reasons.contains(.deadToken) == false, "\(String(describing: told))")
    }

    @Test(arguments: OAuthVectors.followed("renewal"))
    func `a renewal keeps the account, and the refresh token unless there is a new one`(
        _ vector: VectorCase
    ) async throws {
        var input = vector.input
        if case .object(var members)? = input["json"], let claims = members["id_token"] {
            members["id_token"] = .string(Issuing.idToken(claims))
            input["json"] = .object(members)
        }
        let answer = Issuing.behaviour(input, headers: ["date: Fri, 15 Jan 2027 08:00:00 GMT"])
        try await Issuing.serving({ _ in answer }) { server in
            var session = try Issuing.session(vector, operation: .renew, at: server)
            let account = AccountIdentifier(
                issuer: session.metadata.issuer, subject: vector.text("account_sub") ?? "alice"
            ).text
            session.request.account = account
            let old = try #require(session.request.refreshToken)
            do throws(PluginError) {
                let result = try await session.renew(with: old)
                #expect(vector.isFine)
                #expect(vector.expected("refresh_token") == (result.refreshToken ?? old).reveal())
                #expect(result.account?.homeAccountID == account)
                #expect(result.account?.username.isEmpty == true)
            } catch {
                #expect(vector.code == error.code.rawValue, "\(error.message)")
            }
        }
    }

    @Test(arguments: OAuthVectors.followed("token-error"))
    func `a refusal means what the issuer's kind means by it`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in Issuing.behaviour(vector.input) }) { server in
            let session = try Issuing.session(vector, at: server)
            let grant: TokenGrant =
                switch vector.text("grant") {
                case "refresh_token": .refreshToken(Secret("rt"))
                case "authorization_code": .code(Secret("c"), redirectURI: "http://127.0.0.1", verifier: "v")
                default: .deviceCode(Secret("dc"))
                }
            do throws(OAuthError) {
                _ = try await session.client.redeem(grant)
                Issue.record("this is a refusal")
            } catch {
                let told = session.pluginError(error)
                #expect(vector.code == told.code.rawValue, "\(error.message)")
                if let wait = vector.expect["retry_after"] { #expect(told.retryAfter == wait.wholeNumber) }
                #expect(error.wasAnswered == ((vector.input["status"]?.wholeNumber ?? 0) >= 429))
                let isDead = ["invalid_grant", "unauthorized_client"].contains(vector.expected("reason"))
                let isRenewal = told.code == .interactionRequired && isDead
                #expect(told.reasons.contains(.deadToken) || !isRenewal)
            }
        }
    }

    @Test(arguments: OAuthVectors.followed("id-token").filter { $0.input["userinfo"] == nil })
    func `an ID token says who signed in, here and now`(_ vector: VectorCase) throws {
        let claims = vector.input["claims"] ?? .object([:])
        let text = vector.text("token") ?? Issuing.idToken(claims, header: vector.input["header"] ?? ["alg": "RS256"])
        let session = try Issuing.session(vector)
        do throws(OAuthError) {
            let token = try IDToken(Secret(text))
            var expectation = IDToken.Expectation(
                issuer: vector.text("issuer") ?? "", audience: "c", nonce: vector.text("nonce"))
            expectation.isStrict = true
            let now = vector.input["now"]?.wholeNumber ?? 0
            try token.check(expectation, sent: Date(timeIntervalSince1970: Double(now)))
            #expect(vector.isFine)
            #expect(token.subject == vector.expected("sub"))
        } catch {
            #expect(vector.code == session.code(error), "\(error.message)")
        }
    }

    @Test(arguments: OAuthVectors.followed("id-token").filter { $0.input["userinfo"] != nil })
    func `userinfo of somebody else isn't used`(_ vector: VectorCase) async throws {
        let info = Issuing.behaviour(["json": vector.input["userinfo"] ?? .null])
        try await Issuing.serving({ _ in info }) { server in
            var session = try Issuing.session(vector, at: server)
            session.metadata.endpoints.userinfo = "https://localhost:\(server.port)/userinfo"
            let now = Int64(Date.now.timeIntervalSince1970)
            let token = Issuing.idToken([
                "iss": "https://id.example.com", "sub": .string(try #require(vector.text("id_token_sub"))), "aud": "c",
                "exp": .integer(now + 60), "iat": .integer(now),
            ])
            let answer = Issuing.answer([
                "json": ["access_token": "at", "token_type": "Bearer", "id_token": .string(token)]
            ])
            let response = try TokenResponse(answer, from: "host", stage: .redemption)
            let result = try await session.result(response, nonce: nil)
            #expect(server.requests.first?.contains("Authorization: Bearer at") == true || !server.requests.isEmpty)
            #expect((result.account?.username == "bob") == (vector.expect["userinfo_used"] == .bool(true)))
        }
    }

    @Test(arguments: OAuthVectors.followed("account").filter { $0.input["claims"] == nil })
    func `an account is its issuer's and its own, whoever reads the name`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        let said = vector.input["user"] ?? .object(vector.input)
        let profile = IssuerProfile(try #require(said.members))
        let subject = try #require(profile.subject(session.traits.subjectName))
        let issuer = vector.text("issuer") ?? session.request.authority
        let id = AccountIdentifier(issuer: issuer, subject: subject).text
        #expect(id == vector.expected("home_account_id"))
        #expect(id != vector.expected("differs_from"))
        if let realm = vector.expected("realm") { #expect(session.realm == realm) }
        if let host = vector.expected("environment") { #expect(session.address.hostText == host) }
        if let username = vector.expected("username") { #expect(profile.username == username) }
        if let name = vector.expected("name") { #expect(profile.name == name) }
    }

    @Test(arguments: [
        (#"{"id": 1, "login": "bob", "email": "bob@contoso.com", "name": "Bob"}"#, "bob"),
        (#"{"uuid": "{1}", "username": "bob", "nickname": "Bobby"}"#, "bob"),
        (#"{"sub": "1", "email": "bob@contoso.com", "nickname": "Bobby"}"#, "bob@contoso.com"),
    ])
    func `a host's own name for an account goes before an address`(said: String, username: String) throws {
        let members = try #require(JSONValue(bytes: said.utf8)?.members)
        #expect(IssuerProfile(members).username == username)
    }

    @Test(arguments: OAuthVectors.followed("account").filter { $0.input["claims"] != nil })
    func `a name that people know goes first`(_ vector: VectorCase) throws {
        let claims = try #require(vector.input["claims"])
        let profile = IssuerProfile(try #require(claims.members))
        #expect(profile.username == vector.expected("username"))
    }
}
