import Foundation
import TestSupport
import Testing

/// The host that behaves like Gitea.
@Suite struct GiteaTests {
    @Test func `discovery names what Gitea has, and nothing else`() async throws {
        try await withSandbox { sandbox in
            let url = sandbox.description.gitea.url
            let document = try await sandbox.get(url + "/.well-known/openid-configuration")
            #expect(document.text("issuer") == url)
            let endpoints = document.json.filter { $0.key.hasSuffix("_endpoint") || $0.key == "jwks_uri" }
            #expect(endpoints.count == 4)
            for (name, address) in endpoints {
                let status = try await sandbox.get(address as? String ?? "").status
                #expect(status != 404, "\(name)")
            }
            let other = try await sandbox.get(url + "/.well-known/oauth-authorization-server")
            #expect(other.status == 404)
        }
    }

    @Test func `a sign-in brings tokens whatever the scopes, and a number as the subject`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isGitea: true, parameters: ["scope": ""])
            let redirect = try await flow.run()
            #expect(redirect.fields["iss"] == nil)
            let plain = try await flow.redeem(redirect)
            #expect(plain.text("refresh_token") != nil)
            #expect(plain["id_token"] == nil)
            let signedIn = try await HostFlow(sandbox: sandbox, isGitea: true, path: "").tokens()
            let subject = claims(of: signedIn.text("id_token") ?? "")["sub"] as? String
            #expect(Int(subject ?? "") != nil)
        }
    }

    @Test func `a wrong verifier and a used refresh token are told as Gitea tells them`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isGitea: true)
            let wrong = try await flow.redeem(
                try await flow.run(), changing: ["code_verifier": String(repeating: "w", count: 43)])
            #expect(wrong.status == 400)
            #expect(wrong.text("error") == "unauthorized_client")
            let refresh = try await flow.tokens().text("refresh_token") ?? ""
            // By default, Gitea accepts them again, Forgejo doesn't.
            for _ in 0..<2 {
                let renewed = try await flow.renew(refresh)
                #expect(renewed.text("refresh_token") != refresh)
                #expect(renewed.status == 200)
            }
            try await sandbox.control("POST", "settings", #"{"single_use_refresh_tokens":1}"#)
            #expect(try await flow.renew(refresh).status == 200)
            #expect(try await flow.renew(refresh).text("error") == "unauthorized_client")
        }
    }

    @Test func `a public client must prove itself by PKCE and be allowed each time`() async throws {
        try await withSandbox { sandbox in
            let bare = HostFlow(sandbox: sandbox, isGitea: true, parameters: ["code_challenge": ""])
            let location = try await sandbox.get(bare.url(redirectURI: "http://127.0.0.1:1")).headers("location").first
            #expect(location?.contains("error=invalid_request") == true)
            let jar = ["--cookies", sandbox.directory + "/cookies"]
            #expect(try await HostFlow(sandbox: sandbox, isGitea: true, browser: jar).run().fields["code"] != nil)
            let again = HostFlow(sandbox: sandbox, isGitea: true, browser: jar + ["--decline"])
            #expect(try await again.run().fields["error"] == "access_denied")
        }
    }

    @Test func `git's remote takes Basic with any name, and Bearer`() async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isGitea: true)
            let bare = try await sandbox.get("\(flow.host.url)/contoso/hello.git/info/refs?service=git-upload-pack")
            #expect(bare.headers("www-authenticate") == [#"Basic realm="Gitea""#])
            let token = try await flow.tokens().text("access_token") ?? ""
            for authorization in ["Bearer \(token)", basic("oauth2", token), basic("anybody", token)] {
                #expect(try await flow.status(authorization, service: "git-receive-pack") == 200)
            }
            #expect(try await flow.status("Bearer x") == 401)
        }
    }
}
