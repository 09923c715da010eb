import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// The host that behaves like GitHub.
@Suite struct ForgeTests {
    @Test func `an OAuth app's token has no end, and answers are form-encoded unless asked for as JSON`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isForge: true, path: "/below/the/registered/path")
            let redirect = try await flow.run()
            #expect(redirect.fields["state"] == "the state")
            #expect(redirect.fields["iss"] == nil)
            let form = try await flow.redeem(redirect, headers: ["Accept": "*/*"])
            #expect(form.headers("content-type").first?.hasPrefix("application/x-www-form-urlencoded") == true)
            #expect(form.form["access_token"]?.hasPrefix("gho_") == true)
            let json = try await flow.redeem(try await flow.run(), changing: ["grant_type": ""])
            #expect(json.text("token_type") == "bearer")
            #expect(json.text("scope") == "repo")
            #expect(json["expires_in"] == nil)
            #expect(json["refresh_token"] == nil)
        }
    }

    @Test func `errors come with status 200`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isForge: true)
            for (change, error) in [
                (["client_secret": "wrong"], "incorrect_client_credentials"),
                (["client_secret": ""], "incorrect_client_credentials"),
                (["client_id": "nobody"], "incorrect_client_credentials"),
                (["code": "made-up"], "bad_verification_code"),
                (["code_verifier": String(repeating: "w", count: 43)], "bad_verification_code"),
                (["redirect_uri": "http://127.0.0.1:1/"], "redirect_uri_mismatch"),
                (["grant_type": "password"], "unsupported_grant_type"),
            ] {
                let answer = try await flow.redeem(try await flow.run(), changing: change)
                #expect(answer.status == 200)
                #expect(answer.text("error") == error, "\(change)")
                #expect(answer.text("error_uri") != nil)
            }
            for path in ["http://localhost:1/", "http://127.0.0.2:1/", "https://127.0.0.1:1/"] {
                #expect(try await sandbox.get(flow.url(redirectURI: path)).status == 400, "\(path)")
            }
        }
    }

    @Test func `unknown scopes are dropped`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isForge: true, parameters: ["scope": "repo,gist nonsense"])
            let answer = try await flow.tokens()
            #expect(answer.text("scope") == "repo,gist")
        }
    }

    @Test func `a GitHub App's token expires, and its renewal ends it`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isForge: true, clientID: sandbox.description.forge.appClientID)
            let tokens = try await flow.tokens()
            #expect(tokens["expires_in"] as? Int == 3600)
            let access = tokens.text("access_token") ?? ""
            let refresh = tokens.text("refresh_token") ?? ""
            #expect(access.hasPrefix("ghu_"))
            #expect(refresh.hasPrefix("ghr_"))
            #expect(try await flow.renew(refresh).text("error") == "incorrect_client_credentials")
            #expect(try await flow.status(basic("x", access)) == 200)
            let secret = ["client_secret": flow.host.clientSecret]
            let renewed = try await flow.renew(refresh, secret)
            #expect(try await flow.status(basic("x", access)) == 401)
            #expect(try await flow.status(basic("x", renewed.text("access_token") ?? "")) == 200)
            #expect(try await flow.renew(refresh, secret).text("error") == "bad_refresh_token")
        }
    }

    @Test func `a device code needs no secret, nor does its renewal`() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control("POST", "settings", #"{"device_code_interval":30}"#)
            let flow = HostFlow(sandbox: sandbox, isForge: true, clientID: sandbox.description.forge.appClientID)
            let device = try await flow.deviceCode()
            let code = try #require(device.text("device_code"))
            let userCode = try #require(device.text("user_code"))
            #expect(userCode.wholeMatch(of: /[A-Z0-9]{4}-[A-Z0-9]{4}/) != nil)
            #expect(device["verification_uri_complete"] == nil)
            #expect(try await flow.poll(code).text("error") == "authorization_pending")
            let tooFast = try await flow.poll(code)
            #expect(tooFast.text("error") == "slow_down")
            #expect(tooFast["interval"] as? Int == 35)
            let page = try #require(device.text("verification_uri"))
            let browser = try await Program.sandbox(
                ["sign-in", "--as", "alice@contoso.example", "--code", userCode, page], in: sandbox)
            #expect(browser.succeeded, "\(browser.error)")
            let tokens = try await flow.poll(code)
            #expect(tokens.text("access_token")?.hasPrefix("ghu_") == true)
            let renewed = try await flow.renew(tokens.text("refresh_token") ?? "")
            #expect(renewed.text("access_token")?.hasPrefix("ghu_") == true)
            #expect(try await flow.poll("made-up").text("error") == "incorrect_device_code")
            try await sandbox.control("POST", "settings", #"{"device_code_lifetime":0}"#)
            #expect(try await flow.deviceCode().text("error") == "device_flow_disabled")
        }
    }

    @Test func `the API says whose token it is, and ends it`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isForge: true)
            let token = try await flow.tokens().text("access_token") ?? ""
            let address = flow.host.url + "/api/v3/user"
            for scheme in ["Bearer", "token"] {
                let user = try await sandbox.get(address, headers: ["Authorization": "\(scheme) \(token)"])
                #expect(user.text("login") == "alice_contoso")
                #expect(user["id"] as? Int ?? 0 > 0)
                #expect(user.headers("x-oauth-scopes") == ["repo"])
            }
            #expect(try await sandbox.get(address).status == 401)
            let end = "\(flow.host.url)/api/v3/applications/\(flow.client)/token"
            let body = #"{"access_token":"\#(token)"}"#
            let stranger = ["Authorization": basic(flow.client, "wrong")]
            #expect(try await sandbox.send(json: body, to: end, method: .DELETE, headers: stranger).status == 404)
            let owner = ["Authorization": basic(flow.client, flow.host.clientSecret)]
            #expect(try await sandbox.send(json: body, to: end, method: .DELETE, headers: owner).status == 204)
            #expect(try await sandbox.send(json: body, to: end, method: .DELETE, headers: owner).status == 422)
            #expect(try await sandbox.get(address, headers: ["Authorization": "Bearer \(token)"]).status == 401)
            #expect(try await !sandbox.control("GET", "log").body.contains(token))
        }
    }
}
