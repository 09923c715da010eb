import Foundation
import Testing

@Suite struct AuthorizationTests {
    @Test func `a sign-in ends with tokens of the right tenant`() async throws {
        try await withSandbox { sandbox in
            let redirect = try await SignInFlow(sandbox: sandbox).run()
            #expect(redirect.browser.succeeded)
            #expect(redirect.browser.output.isEmpty)
            #expect(redirect.method == "POST")
            #expect(redirect.fields["state"] == "the state")
            let answer = try await SignInFlow(sandbox: sandbox).redeem(redirect)
            #expect(answer.status == 200)
            let identity = claims(of: answer.text("id_token") ?? "")
            let tenant = "c0a70500-0000-4000-8000-00000c0a7050"
            #expect(identity["nonce"] as? String == "the nonce")
            #expect(identity["aud"] as? String == sandbox.clientID)
            #expect(identity["iss"] as? String == "\(sandbox.authority)/\(tenant)/v2.0")
            #expect(identity["preferred_username"] as? String == "alice@contoso.example")
            #expect(answer.text("scope")?.contains("api://sandbox-git/Repo.Read") == true)
            #expect(answer.text("refresh_token") != nil)
        }
    }

    @Test func `a code is good once and only for the one who asked`() async throws {
        try await withSandbox { sandbox in
            let flow = SignInFlow(sandbox: sandbox)
            for (change, code) in [
                (["code_verifier": String(repeating: "w", count: 43)], 501_481),
                (["redirect_uri": "http://localhost:1"], 500_112),
                (["client_id": "fa311100-0000-4000-8000-0000000000a1"], 9_002_313),
                (["code": "made-up"], 9_002_313),
            ] {
                let answer = try await flow.redeem(try await flow.run(), changing: change)
                #expect(answer.status == 400)
                #expect(answer["error_codes"] as? [Int] == [code], "\(change)")
            }
            let redirect = try await flow.run()
            #expect(try await flow.redeem(redirect).status == 200)
            #expect(try await flow.redeem(redirect)["error_codes"] as? [Int] == [54005])
        }
    }

    @Test func `a request that can't be answered by redirect is refused on a page`() async throws {
        try await withSandbox { sandbox in
            for (change, code) in [
                (["client_id": "11111111-1111-1111-1111-111111111111"], "AADSTS700016"),
                (["redirect_uri": "https://evil.example/"], "AADSTS50011"),
                (["redirect_uri": "http://localhost.evil.example/"], "AADSTS50011"),
                (["redirect_uri": "http://localhost:1@evil.example/"], "AADSTS50011"),
                (["redirect_uri": "http://localhost:1/other"], "AADSTS50011"),
                (["client_id": ""], "AADSTS900144"),
            ] {
                var flow = SignInFlow(sandbox: sandbox)
                flow.parameters = change
                let page = try await sandbox.get(flow.url(redirectURI: "http://localhost:1"))
                #expect(page.status == 400)
                #expect(page.body.contains(code), "\(change)")
            }
        }
    }

    @Test func `a redirect URI of another host is the one that is registered`() async throws {
        try await withSandbox { model in
            let known = try String(contentsOfFile: model.directory + "/users.toml", encoding: .utf8)
            let client = """

                [[client]]
                id = "0e800000-0000-4000-8000-00000000f006"
                name = "an application with a page"
                redirect-uris = ["https://app.example/signed-in"]

                """
            try await withSandbox(users: known + client) { sandbox in
                for (uri, status) in [("https://app.example/signed-in", 200), ("https://evil.example/", 400)] {
                    let flow = SignInFlow(sandbox: sandbox, clientID: "0e800000-0000-4000-8000-00000000f006")
                    let page = try await sandbox.get(flow.url(redirectURI: uri))
                    #expect(page.status == status, "\(uri)")
                }
            }
        }
    }

    @Test func `a request that is wrong otherwise is answered to the client`() async throws {
        try await withSandbox { sandbox in
            for (change, error) in [
                (["prompt": "none"], "login_required"),
                (["code_challenge": ""], "invalid_request"),
                (["code_challenge_method": "plain"], "invalid_request"),
                (["response_type": "token"], "unsupported_response_type"),
                (["scope": "api://nowhere/Read"], "invalid_resource"),
                (["scope": "api://sandbox-git/Nothing"], "invalid_scope"),
                (["claims": "{"], "invalid_request"),
            ] {
                var flow = SignInFlow(sandbox: sandbox)
                flow.mode = "query"
                flow.parameters = change
                let answer = try await sandbox.get(flow.url(redirectURI: "http://localhost:1"))
                let location = answer.headers("location").first ?? ""
                #expect(location.hasPrefix("http://localhost:1?error=\(error)&"), "\(change) \(answer.status)")
                #expect(location.contains("state=the%20state"))
            }
        }
    }

    @Test func `declining, a wrong password and a foreign tenant end without tokens`() async throws {
        try await withSandbox { sandbox in
            let declined = try await SignInFlow(sandbox: sandbox, browser: ["--decline"]).run()
            #expect(declined.fields["error"] == "access_denied")
            #expect(declined.fields["error_description"]?.hasPrefix("AADSTS65004") == true)
            let wrong = try await SignInFlow(sandbox: sandbox, browser: ["--password", "no"]).run()
            #expect(!wrong.browser.succeeded)
            #expect(wrong.browser.error.contains("AADSTS50126"))
            let foreign = try await SignInFlow(
                sandbox: sandbox, realm: "/fabrikam.example", user: "bob@contoso.example"
            ).run()
            #expect(!foreign.browser.succeeded)
            #expect(foreign.browser.error.contains("AADSTS50020"))
        }
    }

    @Test func `a guest's tokens are the host tenant's, the account stays the same`() async throws {
        try await withSandbox { sandbox in
            let home = try await SignInFlow(sandbox: sandbox).tokens()
            let guest = try await SignInFlow(sandbox: sandbox, realm: "/fabrikam.example").tokens()
            #expect(home.text("client_info") == guest.text("client_info"))
            let claimed = claims(of: guest.text("access_token") ?? "")
            #expect(claimed["tid"] as? String == "fab81ca0-0000-4000-8000-0000fab81ca0")
            #expect(claimed["oid"] as? String == "a11ce000-0000-4000-8000-00000000fab8")
        }
    }

    @Test func `the browser's session signs in silently until it is ended`() async throws {
        try await withSandbox { sandbox in
            let cookies = sandbox.directory + "/cookies.json"
            var flow = SignInFlow(sandbox: sandbox)
            flow.browser = ["--cookies", cookies]
            _ = try await flow.tokens()
            flow.parameters = ["prompt": "none"]
            #expect(try await flow.run().fields["code"] != nil)
            let logout = "\(sandbox.authority)/common/oauth2/v2.0/logout"
            let ended = try await Program.sandbox(["sign-in", "--cookies", cookies, logout], in: sandbox)
            #expect(ended.succeeded)
            #expect(try await flow.run().fields["error"] == "login_required")
        }
    }

    @Test func `a B2C policy has its own accounts and its own ways out`() async throws {
        try await withSandbox { sandbox in
            var flow = SignInFlow(sandbox: sandbox, realm: "/tfp/contosob2c.onmicrosoft.example/b2c_1_susi")
            flow.clientID = sandbox.b2cClientID
            flow.user = "erin@example.net"
            flow.scope = "https://contosob2c.onmicrosoft.example/sandbox-git/Repo.Read openid offline_access"
            let answer = try await flow.tokens()
            #expect(
                claims(of: "-." + (answer.text("client_info") ?? ""))["uid"] as? String
                    == "e8140000-0000-4000-8000-00000000b2c0-b2c_1_susi")
            #expect(claims(of: answer.text("id_token") ?? "")["tfp"] as? String == "B2C_1_susi")
            for (way, code) in [("--cancel", "AADB2C90091"), ("--forgot-password", "AADB2C90118")] {
                flow.browser = [way]
                let fields = try await flow.run().fields
                #expect(fields["error"] == "access_denied")
                #expect(fields["error_description"]?.hasPrefix(code) == true)
            }
        }
    }
}
