import Foundation
import Testing

@Suite struct ResourceTests {
    private static let references = "/hello.git/info/refs?service=git-upload-pack"

    @Test(arguments: ["Bearer", "Basic"])
    func `git clones and pushes with a token`(scheme: String) async throws {
        try await withSandbox { sandbox in
            let token = try await SignInFlow(sandbox: sandbox).tokens().text("access_token") ?? ""
            let credential = scheme == "Bearer" ? token : Data("x:\(token)".utf8).base64EncodedString()
            let clone = sandbox.directory + "/clone"
            let remote = "\(sandbox.resource)/contoso/hello.git"
            let cloned = try await Program.git(
                ["clone", "--quiet", remote, clone], sandbox: sandbox, token: "\(scheme) \(credential)")
            #expect(cloned.succeeded, "\(cloned.error)")
            // Larger than git's buffer, so that the push is chunked.
            try noise(count: 3_000_000).write(to: URL(filePath: clone + "/large"))
            for step in [["add", "."], ["commit", "--quiet", "-m", "Add"], ["push", "--quiet", "origin", "main"]] {
                let done = try await Program.git(
                    ["-C", clone] + step, sandbox: sandbox, token: "\(scheme) \(credential)")
                #expect(done.succeeded, "\(step) \(done.error)")
            }
            let head = try await Program.git(
                ["--git-dir", sandbox.directory + "/repositories/contoso/hello.git", "log", "--format=%s"],
                sandbox: sandbox)
            #expect(head.output.hasPrefix("Add\nSay what to try\n"))
        }
    }

    /// Returns incompressible bytes, generated eight at a time.
    private func noise(count: Int) -> Data {
        let words = (0..<count / 8).map { _ in UInt64.random(in: .min ... .max) }
        return words.withUnsafeBytes { Data($0) }
    }

    @Test func `a token opens what it is for and nothing else`() async throws {
        try await withSandbox { sandbox in
            let alice = try await SignInFlow(sandbox: sandbox).tokens().text("access_token") ?? ""
            var toGraph = SignInFlow(sandbox: sandbox)
            toGraph.scope = "User.Read"
            let graph = try await toGraph.tokens().text("access_token") ?? ""
            let dave =
                try await SignInFlow(
                    sandbox: sandbox, realm: "/consumers", user: "dave@outlook.example"
                ).tokens().text("access_token") ?? ""
            for (area, token, status) in [
                ("common", alice, 200), ("contoso", alice, 200), ("fabrikam", alice, 401), ("b2c", alice, 401),
                ("common", graph, 401), ("common", dave, 200), ("contoso", dave, 401), ("contoso", "", 401),
            ] {
                let answer = try await sandbox.get(
                    "\(sandbox.resource)/\(area)\(Self.references)", headers: ["Authorization": "Bearer \(token)"])
                #expect(answer.status == status, "\(area)")
            }
            let me = try await sandbox.get(
                "\(sandbox.resource)/v1.0/me", headers: ["Authorization": "Bearer \(alice)"])
            #expect(me.status == 401)
            #expect((me["error"] as? [String: Any])?["code"] as? String == "InvalidAuthenticationToken")
        }
    }

    @Test func `a path can't be dressed up to get around a check`() async throws {
        try await withSandbox { sandbox in
            let token = try await SignInFlow(sandbox: sandbox).tokens().text("access_token") ?? ""
            for (path, status) in [
                ("/common/hello.git%2f..%2f..%2ffabrikam%2fhello.git/HEAD", 404),
                ("/common/%2e%2e/fabrikam/hello.git/HEAD", 404),
                ("/contoso/guarded%2egit/info/refs?service=git-upload-pack", 401),
                ("/contoso//guarded.git/info/refs?service=git-upload-pack", 401),
            ] {
                let answer = try await sandbox.get(
                    sandbox.resource + path, headers: ["Authorization": "Bearer \(token)"])
                #expect(answer.status == status, "\(path)")
            }
        }
    }

    @Test func `a forged token opens nothing`() async throws {
        try await withSandbox { sandbox in
            let token = try await SignInFlow(sandbox: sandbox).tokens().text("access_token") ?? ""
            let parts = token.split(separator: ".").map(String.init)
            let unsigned = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString().filter { $0 != "=" }
            let kept = parts[0] + "." + parts[1]
            for forged in [
                "\(unsigned).\(parts[1]).", "\(unsigned).\(parts[1]).\(parts[2])", kept + ".",
                kept + "." + String(parts[2].reversed()), "\(parts[0]).\(parts[1].dropLast(4)).\(parts[2])", "a.b.c",
            ] {
                let answer = try await sandbox.get(
                    "\(sandbox.resource)/common\(Self.references)", headers: ["Authorization": "Bearer \(forged)"])
                #expect(answer.status == 401)
            }
        }
    }

    @Test func `without a token the answer says where to get one, and why an old one won't do`() async throws {
        try await withSandbox { sandbox in
            let url = "\(sandbox.resource)/contoso\(Self.references)"
            let bare = try await sandbox.get(url)
            #expect(
                bare.headers("www-authenticate") == [
                    #"Bearer realm="", authorization_uri="\#(sandbox.authority)/contoso.example""#,
                    #"Basic realm="lanyard sandbox""#,
                ])
            try await sandbox.control("POST", "settings", #"{"access_token_lifetime":0}"#)
            let expired = try await SignInFlow(sandbox: sandbox).tokens().text("access_token") ?? ""
            let late = try await sandbox.get(url, headers: ["Authorization": "Bearer \(expired)"])
            #expect(late.status == 401)
            #expect(late.headers("www-authenticate").first?.contains(#"error="invalid_token""#) == true)
        }
    }

    @Test func `a guarded path asks for a claim and opens with it`() async throws {
        try await withSandbox { sandbox in
            let url = "\(sandbox.resource)/contoso/guarded.git/info/refs?service=git-upload-pack"
            let plain = try await SignInFlow(sandbox: sandbox).tokens()
            let refused = try await sandbox.get(
                url, headers: ["Authorization": "Bearer \(plain.text("access_token") ?? "")"])
            #expect(refused.status == 401)
            let challenge = refused.headers("www-authenticate").first ?? ""
            let encoded = challenge.split(separator: "claims=\"").last.map { String($0.dropLast()) } ?? ""
            let wanted = String(decoding: Data(base64Encoded: encoded) ?? Data(), as: UTF8.self)
            #expect(wanted == #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#)

            let silent = try await sandbox.post(
                "\(sandbox.authority)/common/oauth2/v2.0/token",
                [
                    "grant_type": "refresh_token", "client_id": sandbox.clientID, "claims": wanted,
                    "refresh_token": plain.text("refresh_token") ?? "", "scope": SignInFlow.git,
                ])
            #expect(silent.text("error") == "invalid_grant")
            #expect(silent.text("claims") == wanted)

            let proved = try await SignInFlow(sandbox: sandbox, parameters: ["claims": wanted]).tokens()
            let opened = try await sandbox.get(
                url, headers: ["Authorization": "Bearer \(proved.text("access_token") ?? "")"])
            #expect(opened.status == 200)
        }
    }
}
