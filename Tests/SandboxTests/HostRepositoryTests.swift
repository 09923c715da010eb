import Foundation
import TestSupport
import Testing

/// The git remotes of the hosts with their own sign-in.
@Suite struct HostRepositoryTests {
    @Test func `the answer without a token says which host this is`() async throws {
        try await withSandbox { sandbox in
            for (host, challenges) in [
                (
                    sandbox.description.issuer,
                    [
                        #"Basic realm="GitLab""#,
                        #"Bearer realm="GitLab", resource_metadata="\#(sandbox.description.issuer.url)"#
                            + #"/.well-known/oauth-protected-resource""#,
                    ]
                ), (sandbox.description.forge, [#"Basic realm="GitHub""#]),
            ] {
                let answer = try await sandbox.get("\(host.url)/contoso/hello.git/info/refs?service=git-upload-pack")
                #expect(answer.status == 401)
                #expect(answer.headers("www-authenticate") == challenges)
            }
            let issuer = sandbox.description.issuer.url
            let metadata = try await sandbox.get(issuer + "/.well-known/oauth-protected-resource")
            #expect(metadata.text("resource") == issuer)
            #expect(metadata["authorization_servers"] as? [String] == [issuer])
        }
    }

    @Test func `each host takes the token in its own way`() async throws {
        try await withSandbox { sandbox in
            for isForge in [false, true] {
                let flow = HostFlow(sandbox: sandbox, isForge: isForge)
                let token = try await flow.tokens().text("access_token") ?? ""
                for (authorization, issuer, forge) in [
                    ("Bearer \(token)", 200, 401), (basic("oauth2", token), 200, 200), (basic("git", token), 401, 200),
                    (basic("x-access-token", token), 401, 200), (basic("oauth2", token + "x"), 401, 401),
                    (basic("oauth2", ""), 401, 401), ("Bearer", 401, 401), ("Basic !", 401, 401),
                ] {
                    #expect(
                        try await flow.status(authorization) == (isForge ? forge : issuer),
                        "\(isForge) \(authorization)")
                }
            }
        }
    }

    @Test(arguments: [false, true]) func `git clones and pushes`(isForge: Bool) async throws {
        try await withSandbox { sandbox in
            let flow = HostFlow(sandbox: sandbox, isForge: isForge)
            let token = try await flow.tokens().text("access_token") ?? ""
            let clone = sandbox.directory + "/clone"
            // git itself sends two requests: the first without the token.
            let name = isForge ? "x-access-token" : "oauth2"
            let remote = flow.host.url.replacing("https://", with: "https://\(name):\(token)@") + "/contoso/hello.git"
            for step in [
                ["clone", "--quiet", remote, clone], ["-C", clone, "commit", "--quiet", "--allow-empty", "-m", "Add"],
                ["-C", clone, "push", "--quiet", "origin", "main"],
            ] {
                let done = try await Program.git(step, sandbox: sandbox)
                #expect(done.succeeded, "\(done.error)")
            }
            let folder = isForge ? "forge.host" : "issuer.host"
            let head = try await Program.git(
                ["--git-dir", "\(sandbox.directory)/repositories/\(folder)/contoso/hello.git", "log", "--format=%s"],
                sandbox: sandbox)
            #expect(head.output.hasPrefix("Add\nSay what to try\n"))
        }
    }

    @Test func `a repository is there only for the people of its organization`() async throws {
        try await withSandbox { sandbox in
            for isForge in [false, true] {
                for (user, contoso, fabrikam) in [
                    ("alice_contoso", 200, 200), ("bob_contoso", 200, 404), ("carol_fabrikam", 404, 200),
                ] {
                    let flow = HostFlow(sandbox: sandbox, isForge: isForge, user: user)
                    let token = basic("oauth2", try await flow.tokens().text("access_token") ?? "")
                    #expect(try await flow.status(token, owner: "contoso") == contoso)
                    #expect(try await flow.status(token, owner: "fabrikam") == fabrikam)
                    #expect(try await flow.status(token, owner: "nobody") == 404)
                    #expect(try await flow.status(token, owner: "contoso/..%2fcontoso") == 404)
                }
            }
        }
    }

    @Test func `scopes and resources of a token are heeded`() async throws {
        try await withSandbox { sandbox in
            let reader = HostFlow(sandbox: sandbox, parameters: ["scope": "read_repository"])
            let read = "Bearer \(try await reader.tokens().text("access_token") ?? "")"
            #expect(try await reader.status(read) == 200)
            #expect(try await reader.status(read, service: "git-receive-pack") == 403)

            let contosoOnly = sandbox.description.issuer.url + "/contoso/"
            let narrow = HostFlow(sandbox: sandbox, parameters: ["resource": contosoOnly])
            let contoso = "Bearer \(try await narrow.tokens().text("access_token") ?? "")"
            #expect(try await narrow.status(contoso) == 200)
            #expect(try await narrow.status(contoso, owner: "fabrikam") == 401)

            let nothing = HostFlow(sandbox: sandbox, isForge: true, parameters: ["scope": "gist"])
            let gist = basic("x", try await nothing.tokens().text("access_token") ?? "")
            #expect(try await nothing.status(gist) == 403)
        }
    }

    @Test func `a token of one host opens nothing at another`() async throws {
        try await withSandbox { sandbox in
            let issuer = HostFlow(sandbox: sandbox)
            let forge = HostFlow(sandbox: sandbox, isForge: true)
            let entra = try await SignInFlow(sandbox: sandbox).tokens().text("access_token") ?? ""
            let token = try await issuer.tokens().text("access_token") ?? ""
            #expect(try await forge.status(basic("oauth2", token)) == 401)
            #expect(try await issuer.status("Bearer \(entra)") == 401)
            let resource = try await sandbox.get(
                "\(sandbox.resource)/contoso/hello.git/info/refs?service=git-upload-pack",
                headers: ["Authorization": "Bearer \(token)"])
            #expect(resource.status == 401)
        }
    }
}
