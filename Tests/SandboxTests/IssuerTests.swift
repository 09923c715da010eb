import Foundation
import JWTKit
import TestSupport
import Testing

/// The standard OpenID Connect issuer.
@Suite struct IssuerTests {
    @Test func `discovery names each endpoint, at both well-known addresses`() async throws {
        try await withSandbox { sandbox in
            let issuer = sandbox.description.issuer.url
            let addresses = ["openid-configuration", "oauth-authorization-server"].map { "\(issuer)/.well-known/\($0)" }
            let document = try await sandbox.get(addresses[0])
            let other = try await sandbox.get(addresses[1])
            func sorted(_ json: [String: Any]) throws -> Data {
                try JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
            }
            #expect(try sorted(other.json) == sorted(document.json))
            #expect(document.text("issuer") == issuer)
            #expect(document["authorization_response_iss_parameter_supported"] as? Bool == true)
            let endpoints = document.json.filter { $0.key.hasSuffix("_endpoint") || $0.key == "jwks_uri" }
            #expect(endpoints.count == 8)
            for (name, address) in endpoints {
                let address = try #require(address as? String)
                #expect(address.hasPrefix(issuer + "/"))
                let status = try await sandbox.get(address).status
                #expect(status != 404, "\(name)")
            }
            try await sandbox.control("POST", "settings", #"{"registration":0,"device_code_lifetime":0}"#)
            let less = try await sandbox.get(addresses[0])
            #expect(less["registration_endpoint"] == nil)
            #expect(less["device_authorization_endpoint"] == nil)
            #expect(try await sandbox.send(json: "{}", to: "\(issuer)/oauth/register").status == 404)
        }
    }

    @Test func `a sign-in brings a code, the state and who answers`() async throws {
        try await withSandbox { sandbox in
            let issuer = sandbox.description.issuer.url
            let flow = HostFlow(sandbox: sandbox)
            let redirect = try await flow.run()
            #expect(redirect.fields["state"] == "the state")
            #expect(redirect.fields["iss"] == issuer)
            let answer = try await flow.redeem(redirect)
            #expect(answer.text("token_type") == "Bearer")
            #expect(answer["expires_in"] as? Int == 3600)
            let claims = claims(of: answer.text("id_token") ?? "")
            #expect(claims["iss"] as? String == issuer)
            #expect(claims["aud"] as? String == flow.client)
            #expect(claims["nonce"] as? String == "the nonce")
            #expect(claims["preferred_username"] as? String == "alice_contoso")
            let info = try await sandbox.get(
                issuer + "/oauth/userinfo", headers: ["Authorization": "Bearer \(answer.text("access_token") ?? "")"])
            #expect(info.text("sub") == claims["sub"] as? String)
            #expect(info.text("email") == "alice@contoso.example")
            #expect(try await sandbox.get(issuer + "/oauth/userinfo").status == 401)
        }
    }

    @Test func `the published key signs ID tokens`() async throws {
        struct Signed: JWTPayload {
            var iss: String
            func verify(using algorithm: some JWTAlgorithm) {}
        }
        try await withSandbox { sandbox in
            let issuer = sandbox.description.issuer.url
            let token = try await HostFlow(sandbox: sandbox).tokens().text("id_token") ?? ""
            let keys = try await sandbox.get(issuer + "/oauth/discovery/keys").body
            let collection = try await JWTKeyCollection().add(jwksJSON: keys)
            #expect(try await collection.verify(token, as: Signed.self).iss == issuer)
            let parts = token.split(separator: ".").map(String.init)
            let forged = "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))"
            await #expect(throws: (any Error).self) { try await collection.verify(forged, as: Signed.self) }
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var parameters: [String: String]
        /// The error; nil if the page shows one instead of redirecting.
        var error: String?
    }

    @Test(arguments: [
        Refused(testDescription: "an unknown client", parameters: ["client_id": "nobody"]),
        Refused(testDescription: "another path", parameters: ["redirect_uri": "http://127.0.0.1:1/elsewhere"]),
        Refused(testDescription: "localhost on any port", parameters: ["redirect_uri": "http://localhost:1/"]),
        Refused(testDescription: "another host", parameters: ["redirect_uri": "http://127.0.0.1.evil.example/"]),
        Refused(testDescription: "a fragment", parameters: ["redirect_uri": "http://127.0.0.1:1/#x"]),
        Refused(
            testDescription: "no challenge", parameters: ["code_challenge": ""], error: "invalid_request"),
        Refused(
            testDescription: "a plain challenge", parameters: ["code_challenge_method": "plain"],
            error: "invalid_request"),
        Refused(
            testDescription: "an implicit grant", parameters: ["response_type": "token"],
            error: "unsupported_response_type"),
        Refused(testDescription: "an unknown scope", parameters: ["scope": "openid root"], error: "invalid_scope"),
        Refused(
            testDescription: "another resource", parameters: ["resource": "https://contoso.example/"],
            error: "invalid_target"),
        Refused(testDescription: "no page allowed", parameters: ["prompt": "none"], error: "login_required"),
    ])
    func `a wrong request is refused`(_ refused: Refused) async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, parameters: refused.parameters)
            let answer = try await sandbox.get(flow.url(redirectURI: "http://127.0.0.1:1/"))
            guard let error = refused.error else {
                #expect(answer.status == 400)
                #expect(answer.headers("location") == [])
                return
            }
            let location = try #require(answer.headers("location").first)
            let redirect = fields(of: String(location.drop { $0 != "?" }.dropFirst()))
            #expect(location.hasPrefix("http://127.0.0.1:1/?"))
            #expect(redirect["error"] == error)
            #expect(redirect["iss"] == sandbox.description.issuer.url)
            #expect(redirect["state"] == "the state")
        }
    }

    @Test func `a parameter that comes twice is refused`() async throws {
        try await withSandbox { sandbox in
            let url = HostFlow(sandbox: sandbox).url(redirectURI: "http://127.0.0.1:1/") + "&nonce=another"
            let location = try await sandbox.get(url).headers("location").first
            #expect(location?.contains("error=invalid_request") == true)
        }
    }

    @Test(arguments: ["", "/"]) func `a registered loopback address matches on any port`(path: String) async throws {
        try await withSandbox { sandbox in
            let tokens = try await HostFlow(sandbox: sandbox, path: path).tokens()
            #expect(tokens.status == 200)
        }
    }

    @Test func `a code is good once, for its client, redirect and verifier`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox)
            for change in [
                ["code_verifier": String(repeating: "w", count: 43)], ["code_verifier": ""],
                ["redirect_uri": "http://127.0.0.1:1/"], ["code": "made-up"],
            ] {
                let answer = try await flow.redeem(try await flow.run(), changing: change)
                #expect(answer.status == 400, "\(change)")
                #expect(answer.text("error") == "invalid_grant", "\(change)")
            }
            let redirect = try await flow.run()
            let first = try await flow.redeem(redirect)
            #expect(first.status == 200)
            #expect(try await flow.redeem(redirect).text("error") == "invalid_grant")
            // The sender of the code's second use may be a thief, so the first one's tokens are revoked, too.
            #expect(try await flow.status("Bearer \(first.text("access_token") ?? "")") == 401)
        }
    }

    @Test func `a client with a secret sends it as Basic, form-encoded`() async throws {
        try await withSandbox { sandbox in
            let host = sandbox.description.issuer
            let client = try #require(host.confidentialClientID)
            let flow = HostFlow(sandbox: sandbox, clientID: client)
            let encoded = basic(percentEncoded(client), percentEncoded(host.clientSecret))
            for (authorization, changes, status) in [
                (encoded, ["client_id": ""], 200), (encoded, [:], 200),
                (basic(client, host.clientSecret), [:], 401), (basic(client, "wrong"), [:], 401), (nil, [:], 401),
                (nil, ["client_secret": host.clientSecret], 401),
                (encoded, ["client_secret": host.clientSecret], 400),
            ] as [(String?, [String: String], Int)] {
                let headers = authorization.map { ["Authorization": $0] } ?? [:]
                let answer = try await flow.redeem(try await flow.run(), changing: changes, headers: headers)
                #expect(answer.status == status, "\(changes) \(answer.body)")
                if status == 401 {
                    #expect(answer.text("error") == "invalid_client")
                    #expect(answer.headers("www-authenticate").first?.hasPrefix("Basic ") == true)
                }
            }
        }
    }

    @Test(arguments: [
        ("openid", false), ("openid offline_access", true), ("read_repository", true), ("write_repository", true),
    ])
    func `a refresh token comes if it is asked for, and with a token for repositories`(
        scope: String, comes: Bool
    ) async throws {
        try await withSandbox { sandbox in
            let tokens = try await HostFlow(sandbox: sandbox, parameters: ["scope": scope]).tokens()
            #expect((tokens.text("refresh_token") != nil) == comes)
        }
    }

    @Test func `without rotation a refresh token stays`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox)
            let tokens = try await flow.tokens()
            let refresh = try #require(tokens.text("refresh_token"))
            for _ in 0..<2 {
                let renewed = try await flow.renew(refresh)
                #expect(renewed["refresh_token"] == nil)
                #expect(renewed.text("access_token") != tokens.text("access_token"))
                #expect(claims(of: renewed.text("id_token") ?? "")["nonce"] == nil)
            }
            #expect(try await flow.status("Bearer \(tokens.text("access_token") ?? "")") == 200)
            let narrow = try await flow.renew(refresh, ["scope": "read_repository"])
            #expect(narrow.text("scope") == "read_repository")
        }
    }

    @Test func `with rotation a refresh token is good once, and its second use ends the sign-in`() async throws {
        try await withSandbox { sandbox in
            let settings = #"{"single_use_refresh_tokens":1,"renewal_ends_access_token":1,"id_token_at_renewal":0}"#
            try await sandbox.control("POST", "settings", settings)
            let flow = HostFlow(sandbox: sandbox)
            let tokens = try await flow.tokens()
            let refresh = try #require(tokens.text("refresh_token"))
            let renewed = try await flow.renew(refresh)
            let next = try #require(renewed.text("refresh_token"))
            #expect(next != refresh)
            #expect(renewed["id_token"] == nil)
            #expect(try await flow.status("Bearer \(tokens.text("access_token") ?? "")") == 401)
            #expect(try await flow.status("Bearer \(renewed.text("access_token") ?? "")") == 200)
            #expect(try await flow.renew(refresh).text("error") == "invalid_grant")
            #expect(try await flow.renew(next).text("error") == "invalid_grant")
            #expect(try await flow.status("Bearer \(renewed.text("access_token") ?? "")") == 401)
        }
    }

    @Test func `a device code waits for its user`() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control("POST", "settings", #"{"device_code_interval":0}"#)
            let flow = HostFlow(sandbox: sandbox)
            let device = try await flow.deviceCode()
            let code = try #require(device.text("device_code"))
            let userCode = try #require(device.text("user_code"))
            let page = try #require(device.text("verification_uri_complete"))
            #expect(page == "\(device.text("verification_uri") ?? "")?user_code=\(userCode)")
            #expect(try await flow.poll(code).text("error") == "authorization_pending")
            let browser = try await Program.sandbox(["sign-in", "--as", flow.user, page], in: sandbox)
            #expect(browser.succeeded, "\(browser.error)")
            let tokens = try await flow.poll(code)
            #expect(tokens.status == 200)
            #expect(tokens.text("refresh_token") != nil)
            #expect(try await flow.poll(code).text("error") == "invalid_grant")

            let declined = try await flow.deviceCode()
            let other = try #require(declined.text("verification_uri_complete"))
            _ = try await Program.sandbox(["sign-in", "--as", flow.user, "--decline", other], in: sandbox)
            #expect(try await flow.poll(declined.text("device_code") ?? "").text("error") == "access_denied")

            try await sandbox.control("POST", "settings", #"{"device_code_interval":30}"#)
            let fast = try await flow.deviceCode().text("device_code") ?? ""
            #expect(try await flow.poll(fast).text("error") == "authorization_pending")
            #expect(try await flow.poll(fast).text("error") == "slow_down")
        }
    }

    @Test func `a program can register itself`() async throws {
        try await withSandbox { sandbox in
            let address = sandbox.description.issuer.url + "/oauth/register"
            let answer = try await sandbox.send(
                json: """
                    {"redirect_uris":["http://127.0.0.1/own"],"client_name":"a test","application_type":"native",\
                    "token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}
                    """, to: address)
            #expect(answer.status == 201)
            #expect(answer["client_secret"] == nil)
            let client = try #require(answer.text("client_id"))
            let flow = HostFlow(sandbox: sandbox, clientID: client, path: "/own")
            #expect(try await flow.tokens().text("refresh_token") != nil)
            #expect(try await flow.deviceCode().text("error") == "unauthorized_client")

            let secret = try await sandbox.send(json: #"{"redirect_uris":["http://127.0.0.1/"]}"#, to: address)
            #expect(secret.text("token_endpoint_auth_method") == "client_secret_basic")
            #expect(secret.text("client_secret") != nil)
            for (json, error) in [
                ("{}", "invalid_client_metadata"), ("[", "invalid_client_metadata"),
                (#"{"redirect_uris":["https://contoso.example/"]}"#, "invalid_redirect_uri"),
                (#"{"redirect_uris":[]}"#, "invalid_redirect_uri"),
                (
                    #"{"redirect_uris":["http://127.0.0.1/"],"token_endpoint_auth_method":"private_key_jwt"}"#,
                    "invalid_client_metadata"
                ),
            ] {
                #expect(try await sandbox.send(json: json, to: address).text("error") == error, "\(json)")
            }
        }
    }

    @Test func `revocation ends a token, and with a refresh token the whole sign-in`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox)
            let address = flow.host.url + "/oauth/revoke"
            func revoke(_ token: String, by client: String? = nil) async throws -> Int {
                try await sandbox.post(address, ["client_id": client ?? flow.client, "token": token]).status
            }
            let tokens = try await flow.tokens()
            let access = tokens.text("access_token") ?? ""
            let refresh = tokens.text("refresh_token") ?? ""
            #expect(try await revoke(access, by: "nobody") == 401)
            #expect(try await flow.status("Bearer \(access)") == 200)
            #expect(try await revoke(access) == 200)
            #expect(try await flow.status("Bearer \(access)") == 401)
            let renewed = try await flow.renew(refresh).text("access_token") ?? ""
            #expect(try await revoke(refresh) == 200)
            #expect(try await flow.status("Bearer \(renewed)") == 401)
            #expect(try await flow.renew(refresh).text("error") == "invalid_grant")
            #expect(try await revoke("made-up") == 200)
        }
    }

    @Test func `a browser stays signed in until its session ends`() async throws {
        try await withSandbox { sandbox in
            let jar = sandbox.directory + "/cookies"
            let signIn = HostFlow(sandbox: sandbox, browser: ["--cookies", jar])
            let token = try await signIn.tokens().text("id_token") ?? ""
            let flow = HostFlow(sandbox: sandbox, parameters: ["prompt": "none"], browser: ["--cookies", jar])
            #expect(try await flow.run().fields["code"] != nil)
            let logout = try await SignInFlow.redirect(in: sandbox, browser: ["--cookies", jar]) { port in
                let back = "http://127.0.0.1:\(port)/"
                return (
                    back,
                    "\(flow.host.url)/oauth/logout?id_token_hint=\(token)&state=s&post_logout_redirect_uri="
                        + percentEncoded(back)
                )
            }
            #expect(logout.fields == ["state": "s"])
            #expect(try await flow.run().fields["error"] == "login_required")
        }
    }

    @Test func `a declined consent is told`() async throws {
        try await withSandbox { sandbox in
            let declined = try await HostFlow(sandbox: sandbox, browser: ["--decline"]).run()
            #expect(declined.fields["error"] == "access_denied")
        }
    }

    @Test func `issuer, nonce and state can be forged, and iss left out`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox)
            for forged in ["https://evil.example", ""] {
                try await sandbox.control(
                    "POST", "faults", #"{"path":"/oauth/authorize","issuer":"\#(forged)","times":1}"#)
                #expect(try await flow.run().fields["iss"] == (forged.isEmpty ? nil : forged))
            }
            try await sandbox.control("POST", "faults", #"{"path":"/oauth/token","nonce":"forged","times":1}"#)
            let token = try await flow.tokens().text("id_token") ?? ""
            #expect(claims(of: token)["nonce"] as? String == "forged")
            try await sandbox.control("POST", "faults", #"{"path":"openid-conf","issuer":"https://evil.example"}"#)
            let document = try await sandbox.get(flow.host.url + "/.well-known/openid-configuration")
            #expect(document.text("issuer") == "https://evil.example")
        }
    }

    @Test func `faults, the log and revoking are for the issuer too`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox)
            let tokens = try await flow.tokens()
            let refresh = tokens.text("refresh_token") ?? ""
            try await sandbox.control("POST", "faults", #"{"path":"/oauth/token","status":503,"times":1}"#)
            #expect(try await flow.renew(refresh).status == 503)
            #expect(try await flow.renew(refresh).status == 200)
            let log = try await sandbox.control("GET", "log").body
            #expect(log.contains(#""host":"issuer""#))
            #expect(log.contains(#""user":"alice@contoso.example""#))
            for secret in [refresh, tokens.text("access_token") ?? "?", SignInFlow.verifier] {
                #expect(!log.contains(secret))
            }
            try await sandbox.control("POST", "revoke", #"{"username":"bob@contoso.example"}"#)
            #expect(try await flow.renew(refresh).status == 200)
            try await sandbox.control("POST", "revoke", #"{"username":"alice@contoso.example"}"#)
            #expect(try await flow.renew(refresh).text("error") == "invalid_grant")
            #expect(try await flow.status("Bearer \(tokens.text("access_token") ?? "")") == 401)
        }
    }
}
