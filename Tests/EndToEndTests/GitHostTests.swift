import Foundation
import TestSupport
import Testing

/// A git host of the sandbox with its own sign-in.
struct GitHost: CustomTestStringConvertible, Sendable {
    let name: String
    /// The host's name in the sandbox's log.
    let logged: String
    /// The authentication scheme of tokens from the system's git and from a newer one.
    let proofs: (system: String, newer: String)
    var testDescription: String { name }

    static let gitLab = GitHost(name: "like GitLab", logged: "issuer", proofs: ("Basic", "Basic"))
    static let gitea = GitHost(name: "like Gitea", logged: "gitea", proofs: ("Basic", "Bearer"))

    static let forgejo = GitHost(name: "like Forgejo", logged: "forgejo", proofs: ("Basic", "Bearer"))
    static let gitHub = GitHost(name: "like GitHub", logged: "forge", proofs: ("Basic", "Basic"))

    /// lanyard's name for the kind of host.
    var kind: String {
        switch logged {
        case "issuer": "gitlab"
        case "forge": "github"
        default: logged
        }
    }

    func place(in sandbox: Sandbox) -> SandboxDescription.Host {
        switch logged {
        case "issuer": sandbox.issuer
        case "gitea": sandbox.gitea
        case "forgejo": sandbox.forgejo
        default: sandbox.forge
        }
    }

    func repository(in sandbox: Sandbox) -> String { place(in: sandbox).url + "/contoso/hello.git" }

    /// Returns the requests to its repositories, and to its authority.
    func requests(_ world: World) async throws -> (git: [Sandbox.Request], authority: [Sandbox.Request]) {
        let all = try await world.sandbox.requests().filter { $0.host == logged }
        return (all.filter { $0.path.contains(".git/") }, all.filter { !$0.path.contains(".git/") })
    }
}

extension World {
    /// Runs the body in a world with the sandbox's own rules for git hosts.
    static func with(hosts: [GitHost], _ body: @escaping @Sendable (World) async throws -> Void) async throws {
        try await with { world in
            try world.configure(hosts: hosts.filter { $0.logged != "forge" }.map { $0.place(in: world.sandbox) })
            if hosts.contains(where: { $0.logged == "forge" }) { try await world.configureGitHub() }
            try await body(world)
        }
    }

    /// Adds a rule for the host like GitHub, and the secret of its app.
    func configureGitHub(scopes: [String] = []) async throws {
        let host = sandbox.forge
        let added = try await lanyard(
            ["rule", "add", host.url, "--authority", host.url, "--kind", "github", "--client-id", host.clientID]
                + scopes.flatMap { ["--scope", $0] })
        #expect(added.status == 0, "\(added)")
        let stored = try await lanyard(["rule", "secret", host.clientID], input: host.clientSecret)
        #expect(stored.status == 0, "\(stored)")
    }

    /// git's arguments to commit what is staged, before the message.
    static let commit = [
        "-c", "user.name=Alice", "-c", "user.email=alice@contoso.example", "commit", "--quiet", "-m",
    ]

    /// Returns the token of the only item of a kind in the keyring.
    func stored(_ kind: String) async throws -> String { try await storedToken(kind, environment) }

    /// Redeems a refresh token as another program would, and returns the status of the answer.
    func redeem(_ refreshToken: String, at endpoint: String, client: String) async throws -> String {
        let form = "grant_type=refresh_token&client_id=\(client)&refresh_token=\(refreshToken)"
        return try await runInside(
            "curl",
            [
                "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--cacert", sandbox.caFile,
                "--data", "@-", endpoint,
            ], input: form
        ).output
    }

    /// Returns a repository's status for a token.
    func status(of token: String, at repository: String) async throws -> String {
        try await runInside(
            "curl",
            [
                "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--cacert", sandbox.caFile,
                "--header", "@-", "\(repository)/info/refs?service=git-upload-pack",
            ], input: "Authorization: Bearer \(token)\n"
        ).output
    }
}

/// Returns the token of the only item of a kind in an environment's keyring.
func storedToken(_ kind: String, _ environment: [String: String]) async throws -> String {
    let found = try await secretTool(["lookup", "kind", kind], environment: environment)
    let record = try? JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any]
    return try #require(record?["secret"] as? String, "\(kind): \(found)")
}

/// Clones from git hosts other than Entra's.
@Suite struct GitHostTests {
    static let hosts = [GitHost.gitLab, .gitea]
    private static let alice = "alice_contoso"
    private static let bob = "bob_contoso"

    @Test(arguments: hosts, GitProgram.all)
    func `a clone signs in once, each refresh token is used once, and then a fetch is silent`(
        host: GitHost, program: GitProgram
    ) async throws {
        try await World.with(hosts: [host]) { world in
            // So short that the token is due immediately; refresh tokens are single-use, and a renewal revokes the
            // previous access token.
            let rotating = #""single_use_refresh_tokens": 1, "renewal_ends_access_token": 1"#
            try await world.sandbox.set(#"{"access_token_lifetime": 30, \#(rotating)}"#)
            let url = host.repository(in: world.sandbox)
            let clone = try await world.git(
                ["clone", "--quiet", url, "hello"], world.browser(as: Self.alice), by: program)
            #expect(clone.status == 0, "\(clone)")
            #expect(FileManager.default.fileExists(atPath: world.folder + "/work/hello/README.md"))
            let first = try await host.requests(world)
            #expect(first.authority.count(grant: "authorization_code") == 1)
            let proof = program.path == GitProgram.system.path ? host.proofs.system : host.proofs.newer
            #expect(Set(first.git.map(\.authorization)) == [nil, proof], "\(first.git)")

            for lifetime in [30, 3600] {
                try await world.sandbox.clearLog()
                try await world.sandbox.set(#"{"access_token_lifetime": \#(lifetime)}"#)
                let renewed = try await world.git(["-C", "hello", "fetch"], by: program)
                #expect(renewed.status == 0 && renewed.errors.isEmpty, "\(renewed)")
                #expect(try await host.requests(world).authority.compactMap(\.grantType) == ["refresh_token"])
            }
            try await world.sandbox.clearLog()
            for _ in 0..<2 {
                let silent = try await world.git(["-C", "hello", "fetch"], by: program)
                #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent)")
            }
            #expect(try await host.requests(world).authority.isEmpty)
        }
    }

    @Test func `a push goes through as well`() async throws {
        let hosts = [GitHost.gitLab, .gitea, .forgejo, .gitHub]
        try await World.with(hosts: hosts) { world in
            for host in hosts {
                let browser = world.browser(as: Self.alice)
                let clone = try await world.git(
                    ["clone", "-q", host.repository(in: world.sandbox), host.logged], browser)
                #expect(clone.status == 0, "\(clone)")
                let identity = ["-c", "user.name=Alice", "-c", "user.email=alice@contoso.example"]
                try await world.git(
                    ["-C", host.logged] + identity + ["commit", "-q", "--allow-empty", "-m", "A change"])
                let push = try await world.git(["-C", host.logged, "push", "-q", "origin", "HEAD:refs/heads/topic"])
                #expect(push.status == 0, "\(push)")
            }
        }
    }

    @Test func `a renewal that ends the token before it happens once, however many ask`() async throws {
        try await World.with(hosts: [.gitLab]) { world in
            try await world.sandbox.set(
                #"{"access_token_lifetime": 30, "single_use_refresh_tokens": 1, "renewal_ends_access_token": 1}"#)
            let url = GitHost.gitLab.repository(in: world.sandbox)
            #expect(try await world.git(["clone", "-q", url, "hello"], world.browser(as: Self.alice)).status == 0)
            let old = try await world.stored("accesstoken")
            try await world.sandbox.clearLog()
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            // The first request is held; the others wait for its lock, or find the token that it stored.
            try await world.sandbox.fault(#"{"path": "/oauth/token", "hold": true, "times": 1}"#)
            async let one = world.git(["-C", "hello", "ls-remote", "-q"])
            async let two = world.git(["-C", "hello", "ls-remote", "-q"])
            async let three = world.git(["-C", "hello", "ls-remote", "-q"])
            try await world.sandbox.untilHeld()
            try await world.sandbox.clearFaults()
            let ended = try await [one, two, three]
            #expect(ended.allSatisfy { $0.status == 0 && $0.errors.isEmpty }, "\(ended)")
            #expect(try await GitHost.gitLab.requests(world).authority.compactMap(\.grantType) == ["refresh_token"])
            #expect(try await world.status(of: old, at: url) == "401")
            #expect(try await world.status(of: world.stored("accesstoken"), at: url) == "200")
        }
    }

    @Test func `a token is asked for the resource that its rule names, and is no other's`() async throws {
        try await World.with { world in
            let host = world.sandbox.issuer
            let places = ["a", "b"].map { (url: "\(host.url)/\($0)", resource: "\(host.url)/api/\($0)") }
            let rules = places.map { place in
                """
                [[rule]]
                url = "\(place.url)"
                authority = "\(host.url)"
                kind = "oidc"
                client-id = "\(host.clientID)"
                scopes = ["read_repository"]
                resource-indicators = ["\(place.resource)"]

                """
            }
            try world.configure(after: rules.joined())
            let first = try await world.lanyard(["token", places[0].url], world.browser(as: Self.alice))
            #expect(first.status == 0, "\(first)")
            // The same sign-in serves both, each with a separate token.
            let second = try await world.lanyard(["token", places[1].url])
            #expect(second.status == 0 && second.output != first.output, "\(second)")
            let requests = try await world.sandbox.requests().filter { $0.host == "issuer" }
            #expect(requests.compactMap { $0.query?["resource"] } == [places[0].resource], "\(requests)")
            #expect(requests.compactMap { $0.form?["resource"] } == places.map(\.resource), "\(requests)")
            try await world.sandbox.clearLog()
            for (place, token) in zip(places, [first, second]) {
                let again = try await world.lanyard(["token", place.url])
                #expect(again.output == token.output, "\(again)")
            }
            #expect(try await world.sandbox.requests().isEmpty)
        }
    }

    @Test func `a refresh token that somebody else used up asks for a sign-in, and loses no account`() async throws {
        try await World.with(hosts: [.gitea]) { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 30, "single_use_refresh_tokens": 1}"#)
            let url = GitHost.gitea.repository(in: world.sandbox)
            #expect(try await world.git(["clone", "-q", url, "one"], world.browser(as: Self.alice)).status == 0)
            let endpoint = world.sandbox.gitea.url + "/login/oauth/access_token"
            let client = world.sandbox.gitea.clientID
            #expect(try await world.redeem(world.stored("refreshtoken"), at: endpoint, client: client) == "200")
            let alone = try await world.git(["clone", "-q", url, "two"])
            let hint = "lanyard: hint: sign in: lanyard login \(world.sandbox.gitea.url)/"
            #expect(alone.status == 128 && alone.errors.contains(hint), "\(alone)")
            #expect(try await AccountChoiceTests.accounts(world).map { $0["username"] as? String } == [Self.alice])
            let again = try await world.git(["clone", "-q", url, "two"], world.browser(as: Self.alice))
            #expect(again.status == 0, "\(again)")
        }
    }

    /// Runs the body in a world with GitHub's rule, and signs in; passes the scopes of the sign-ins.
    private static func withGitHub(
        offlineAccess: Int, _ body: @escaping @Sendable (World, String, [String?]) async throws -> Void
    ) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 30, "offline_access": \#(offlineAccess)}"#)
            try await world.configureGitHub()
            let host = world.sandbox.forge
            let login = try await world.lanyard(["login", host.url], world.browser(as: alice))
            #expect(login.status == 0, "\(login)")
            let pages = try await world.sandbox.requests().filter {
                $0.path == "/login/oauth/authorize" && $0.query?["client_id"] != nil
            }
            try await body(world, host.url, pages.map { $0.query?["scope"] })
        }
    }

    @Test func `GitHub's tokens end and are renewed by whoever comes first`() async throws {
        try await Self.withGitHub(offlineAccess: 1) { world, url, scopes in
            #expect(scopes == ["offline_access repo gist workflow"])
            try await world.sandbox.clearLog()
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<64 { group.addTask { try await world.lanyard(["token", url]).output } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1 && tokens.first?.hasPrefix("gho_") == true)
            let asked = try await world.sandbox.requests().compactMap(\.grantType)
            #expect(asked == ["refresh_token"])
        }
    }

    @Test(arguments: [GitHost.gitLab, .gitea, .forgejo, .gitHub])
    func `the same sign-in serves git-lfs`(host: GitHost) async throws {
        try await World.with(hosts: [host]) { world in
            let url = host.repository(in: world.sandbox)
            let (work, copy) = ("\(world.folder)/work/hello", "\(world.folder)/work/copy")
            let cloned = try await world.git(["clone", "--quiet", url, work], world.browser(as: Self.alice))
            #expect(cloned.status == 0, "\(cloned)")
            try "*.bin filter=lfs diff=lfs merge=lfs -text\n".write(
                toFile: work + "/.gitattributes", atomically: true, encoding: .utf8)
            let content = Data((0..<5000).map { _ in UInt8.random(in: .min ... .max) })
            try content.write(to: URL(fileURLWithPath: work + "/file.bin"))
            let name = "large-\(UUID().uuidString)"
            for arguments in [
                ["lfs", "install", "--local"], ["checkout", "--quiet", "-b", name], ["add", "."],
                World.commit + ["Add a large file"], ["push", "--quiet", "origin", name],
            ] {
                let ended = try await world.git(["-C", work] + arguments)
                #expect(ended.status == 0, "\(arguments) \(ended)")
            }
            let again = try await world.git(["clone", "--quiet", "--no-checkout", url, copy])
            #expect(again.status == 0, "\(again)")
            for arguments in [["lfs", "install", "--local"], ["checkout", "--quiet", name]] {
                let ended = try await world.git(["-C", copy] + arguments)
                #expect(ended.status == 0, "\(arguments) \(ended)")
            }
            #expect(FileManager.default.contents(atPath: copy + "/file.bin") == content)
            let asked = try await world.sandbox.requests().filter { $0.host == host.logged }
            let files = asked.filter { $0.path.contains("/info/lfs/objects") && $0.status == 200 }
            #expect(Set(files.map(\.method)) == ["POST", "PUT", "GET"], "\(asked)")
            #expect(asked.count(grant: "authorization_code") == 1, "\(asked)")
        }
    }

    @Test func `a rule for a code host serves its registries, with the scopes that these need`() async throws {
        try await Home.with { home in
            for (url, doors) in [
                (
                    "https://github.com",
                    [
                        ("https://ghcr.io", "repo gist workflow write:packages "),
                        ("https://gist.github.com", "repo gist workflow "),
                    ]
                ),
                (
                    "https://gitlab.com",
                    [("https://registry.gitlab.com", "read_repository write_repository read_registry")]
                ),
            ] {
                for (door, _) in doors {
                    let without = try await home.lanyard(["explain", door, "--for", "docker"])
                    #expect(without.output.contains("none maps this URL"), "\(without)")
                }
                let added = try await home.lanyard(["rule", "add", url, "--client-id", "app", "--authority", url])
                #expect(added.status == 0, "\(added)")
                for (door, scopes) in doors {
                    let explained = try await home.lanyard(["explain", door, "--for", "docker"])
                    let words = explained.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    #expect(words.contains("rule \(url), at ") && words.contains("scopes \(scopes)"), "\(explained)")
                }
            }
        }
    }

    @Test func `the registries of a code host take its app's rule and client, too`() async throws {
        try await Home.with { home in
            let key = home.folder + "/key.pem"
            try "key".write(toFile: key, atomically: true, encoding: .utf8)
            for arguments in [
                ["identity", "add", "bot", "--authority", "https://github.com", "--client-id", "Iv23"]
                    + ["--certificate", key],
                ["rule", "add", "https://github.com", "--identity", "bot"],
                ["rule", "add", "https://gitlab.com", "--client-id", "app", "--authority", "https://gitlab.com"],
                [
                    "rule", "add", "https://gitlab.com/api", "--authority", "https://gitlab.com", "--scope", "read_api",
                ],
            ] {
                let added = try await home.lanyard(arguments)
                #expect(added.status == 0, "\(arguments) \(added)")
            }
            let explained = try await home.lanyard(["explain", "https://ghcr.io", "--for", "docker"])
            let words = explained.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(
                words.contains("rule https://github.com, at ") && words.contains("scopes write:packages"),
                "\(explained)")
            let listed = try await home.lanyard(["rule", "list"])
            let ids = listed.output.split(separator: "\n").filter { $0.hasSuffix("app") && $0.contains("client ID") }
            #expect(ids.count == 2, "\(listed)")
        }
    }

    @Test(arguments: [(0, 1), (2, 2)])
    func `a GitHub without tokens that end is asked for one of the other kind, once`(
        offlineAccess: Int, signIns: Int
    ) async throws {
        try await Self.withGitHub(offlineAccess: offlineAccess) { world, url, scopes in
            #expect(scopes.count == signIns && (signIns == 1 || scopes.last == "repo gist workflow"), "\(scopes)")
            let status = try await world.lanyard(["status", url])
            #expect(status.output.contains("valid until it is revoked"), "\(status)")
            let doctor = try await world.lanyard(["doctor", "--all"])
            #expect(doctor.output.contains("are valid until they are revoked"), "\(doctor)")
        }
    }

    @Test func `signing out has the host take back the tokens`() async throws {
        try await World.with(hosts: Self.hosts) { world in
            let url = GitHost.gitLab.repository(in: world.sandbox)
            #expect(try await world.lanyard(["login", url], world.browser(as: Self.alice)).status == 0)
            let refresh = try await world.stored("refreshtoken")
            let token = try await world.stored("accesstoken")
            #expect(try await world.status(of: token, at: url) == "200")
            try await world.sandbox.clearLog()
            let logout = try await world.lanyard(["logout"])
            #expect(logout.status == 0 && logout.errors == "lanyard: signed out \(Self.alice)\n", "\(logout)")
            let asked = try await GitHost.gitLab.requests(world).authority
            #expect(asked.map(\.path) == ["/oauth/revoke"] && asked.allSatisfy { $0.status == 200 }, "\(asked)")
            #expect(try await world.status(of: token, at: url) == "401")
            let issuer = world.sandbox.issuer
            #expect(try await world.redeem(refresh, at: issuer.url + "/oauth/token", client: issuer.clientID) == "400")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)

            // A sign-out succeeds even if the host doesn't support revocation, or can't be reached.
            #expect(
                try await world.lanyard(
                    ["login", GitHost.gitea.repository(in: world.sandbox)], world.browser(as: Self.alice)
                ).status == 0)
            #expect(try await world.lanyard(["logout"]).errors == "lanyard: signed out \(Self.alice)\n")
            #expect(try await world.lanyard(["login", url], world.browser(as: Self.alice)).status == 0)
            try await world.sandbox.fault(#"{"path": "/oauth/revoke", "status": 500, "body": "oops"}"#)
            let failed = try await world.lanyard(["logout"])
            #expect(failed.status == 0 && failed.errors.contains("did not revoke the tokens: "), "\(failed)")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
        }
    }

    @Test func `the URL's user name selects one of two accounts on a host`() async throws {
        try await World.with(hosts: [.gitLab]) { world in
            let url = GitHost.gitLab.repository(in: world.sandbox)
            for user in [Self.alice, Self.bob] {
                let login = try await world.lanyard(["login", url, "--account", user], world.browser(as: user))
                #expect(login.status == 0, "\(login)")
            }
            for user in [Self.alice, Self.bob] {
                let named = url.replacing("https://", with: "https://\(user)@")
                for program in GitProgram.all {
                    try await world.sandbox.clearLog()
                    let clone = try await world.git(["clone", "-q", named, "\(user) \(program.name)"], by: program)
                    #expect(clone.status == 0 && clone.errors.isEmpty, "\(clone)")
                    let served = try await GitHost.gitLab.requests(world).git.filter { $0.status == 200 }.map(\.user)
                    #expect(Set(served) == [user.replacing("_contoso", with: "@contoso.example")], "\(served)")
                }
            }
        }
    }

    @Test func `the URL's user name gets nobody else's token`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let host = GitHost.gitLab.place(in: world.sandbox)
            try world.configure(hosts: [host])
            let url = GitHost.gitLab.repository(in: world.sandbox)
            func named(_ user: String) -> String { url.replacing("https://", with: "https://\(user)@") }
            #expect(try await world.lanyard(["login", url], world.browser(as: Self.alice)).status == 0)
            // These names mean no account, or Alice's; the answers are cached, but not for other requests.
            for user in [nil, "git", "oauth2", "Personal%20Access%20Token", Self.alice.uppercased()] {
                let clone = try await world.git(["clone", "-q", user.map(named) ?? url, "of \(user ?? "nobody")"])
                #expect(clone.status == 0 && clone.errors.isEmpty, "\(clone)")
            }
            for program in GitProgram.all {
                try await world.sandbox.clearLog()
                let clone = try await world.git(["clone", "-q", named(Self.bob), "of bob"], by: program)
                let error = "the account \(Self.bob) has not signed in; these have: \(Self.alice)\n"
                let hint = "lanyard: hint: sign in: lanyard login \(host.url)/ --account \(Self.bob)\n"
                #expect(clone.status == 128 && clone.errors.contains(error + hint), "\(clone)")
                // git itself may try his name without a password.
                let answers = try await GitHost.gitLab.requests(world).git.map(\.status)
                #expect(Set(answers) == [401], "\(program.name): \(answers)")
            }
            let explained = try await world.lanyard(["explain", named(Self.bob)])
            let others = "\(Self.bob) has not signed in; these have: \(Self.alice)"
            #expect(explained.output.contains(others), "\(explained)")
            let status = try await world.lanyard(["status", named(Self.bob)])
            #expect(status.status == 2, "\(status)")

            // Whoever is present is asked to sign in as him.
            let wrong = try await world.git(["clone", "-q", named(Self.bob), "of bob"], world.browser(as: Self.alice))
            let instead = "\(Self.alice) signed in instead of \(Self.bob)\n"
            #expect(wrong.status == 128 && wrong.errors.contains(instead), "\(wrong)")
            let address = host.url.dropFirst("https://".count)
            let inURL = "calls you \(Self.alice); name that in the URL: https://\(Self.alice)@\(address)/"
            #expect(wrong.errors.contains(inURL) && !wrong.errors.contains("lanyard use"), "\(wrong)")
            let typed = try await world.lanyard(
                ["login", url, "--account", "alice@contoso.example"], world.browser(as: Self.alice))
            let calls = "calls you \(Self.alice); to use it: lanyard use \(Self.alice)\n"
            #expect(typed.status == 1 && typed.errors.contains(calls), "\(typed)")
            try await world.sandbox.clearLog()
            let right = try await world.git(["clone", "-q", named(Self.bob), "of bob"], world.browser(as: Self.bob))
            #expect(right.status == 0, "\(right)")
            let asked = try await GitHost.gitLab.requests(world)
            let hints = asked.authority.compactMap { $0.query?["login_hint"] }
            #expect(hints.contains(Self.bob), "\(asked.authority)")
            #expect(Set(asked.git.filter { $0.status == 200 }.map(\.user)) == ["bob@contoso.example"], "\(asked.git)")
        }
    }

    @Test(arguments: [(GitHost.gitLab, [String]()), (.gitea, ["refresh_token"])])
    func `a token that its renewal ends isn't renewed early`(host: GitHost, grants: [String]) async throws {
        try await World.with(hosts: [host]) { world in
            // Less than the five minutes that others have left at renewal, and far more than this takes.
            try await world.sandbox.set(#"{"access_token_lifetime": 290}"#)
            let url = host.repository(in: world.sandbox)
            #expect(try await world.git(["clone", "-q", url, "hello"], world.browser(as: Self.alice)).status == 0)
            try await world.sandbox.clearLog()
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            for _ in 0..<2 {
                let fetch = try await world.git(["-C", "hello", "fetch"])
                #expect(fetch.status == 0 && fetch.errors.isEmpty, "\(fetch)")
            }
            #expect(try await host.requests(world).authority.compactMap(\.grantType) == grants)
        }
    }

    @Test func `a rule for a path selects one of two accounts on a host`() async throws {
        try await World.with { world in
            let host = world.sandbox.issuer
            let rules = [("alice_contoso", "contoso"), ("carol_fabrikam", "fabrikam")].map { user, path in
                """
                [[rule]]
                url = "\(host.url)/\(path)"
                authority = "\(host.url)"
                kind = "gitlab"
                client-id = "\(host.clientID)"
                scopes = ["read_repository", "write_repository"]
                account = "\(user)"
                """
            }
            try world.configure(after: rules.joined(separator: "\n"))
            _ = try await world.git(["config", "--global", "credential.\(host.url).useHttpPath", "true"])
            for (user, path) in [("alice_contoso", "contoso"), ("carol_fabrikam", "fabrikam")] {
                let clone = try await world.git(
                    ["clone", "-q", "\(host.url)/\(path)/hello.git", path], world.browser(as: user))
                #expect(clone.status == 0, "\(clone)")
            }
            try await world.sandbox.clearLog()
            for path in ["contoso", "fabrikam", "contoso"] {
                let fetch = try await world.git(["-C", path, "fetch"])
                #expect(fetch.status == 0 && fetch.errors.isEmpty, "\(fetch)")
            }
            #expect(try await GitHost.gitLab.requests(world).authority.isEmpty)
        }
    }

    @Test func `accounts of all issuers stand side by side`() async throws {
        try await World.with(hosts: Self.hosts) { world in
            let entra = "\(world.sandbox.resource)/contoso/hello.git"
            let gitLab = GitHost.gitLab.repository(in: world.sandbox)
            let gitea = GitHost.gitea.repository(in: world.sandbox)
            let signIns = [
                (entra, "alice@contoso.example"), (gitLab, Self.alice), (gitLab, Self.bob), (gitea, Self.bob),
            ]
            for (url, user) in signIns {
                let login = try await world.lanyard(["login", url, "--account", user], world.browser(as: user))
                #expect(login.status == 0, "\(login)")
            }
            let accounts = try await AccountChoiceTests.accounts(world)
            #expect(
                Set(accounts.map { "\($0["username"] ?? "") \($0["kind"] ?? "")" }) == [
                    "alice@contoso.example work-or-school", "alice_contoso gitlab", "bob_contoso gitlab",
                    "bob_contoso gitea",
                ], "\(accounts)")
            #expect(accounts.allSatisfy { $0["canRenew"] as? Bool == true }, "\(accounts)")
            #expect(Set(accounts.compactMap { $0["homeAccountId"] as? String }).count == 4)
            let used = try await Self.used(world, [entra, gitLab, gitea])
            #expect(used == ["alice@contoso.example", Self.bob, Self.bob])

            // A choice for one host doesn't affect another.
            #expect(try await world.lanyard(["use", Self.alice, gitLab]).status == 0)
            #expect(try await Self.used(world, [gitLab, gitea]) == [Self.alice, Self.bob])
            let table = try await world.lanyard(["status", "--accounts"])
            #expect(table.output.contains("GitLab") && table.output.contains("Gitea"), "\(table)")

            // Equal names are distinguished by their hosts, and the suggested commands work.
            let both = try await world.lanyard(["logout", "--browser", Self.bob])
            #expect(both.status == 64, "\(both)")
            for host in Self.hosts.map({ $0.place(in: world.sandbox).url }) {
                #expect(
                    both.errors.contains("lanyard logout --browser --authority \(host) \(Self.bob)\n"), "\(both)")
            }
            // The shells offer each name with its host, which is unambiguous everywhere.
            let offered = try await answered {
                try await world.lanyard(["complete", "fish", "lanyard", "logout", ""])
            }
            for (host, url) in zip(Self.hosts, [gitLab, gitea]) {
                let name = "\(Self.bob)@\(host.place(in: world.sandbox).url.dropFirst("https://".count))"
                #expect(offered.output.contains("\n\(name)\t\(Self.bob), "), "\(offered)")
                let token = try await world.lanyard(["token", "--account", name, url])
                #expect(token.status == 0 && !token.output.isEmpty, "\(token)")
            }
            let chosen = try await world.lanyard(["use", "--authority", world.sandbox.gitea.url, Self.bob])
            #expect(chosen.status == 0 && !chosen.errors.contains("stays in use"), "\(chosen)")
            // So do the hints of other commands.
            let foreign = "\(Self.bob)@\(world.sandbox.gitea.url.dropFirst("https://".count))"
            let only = try await world.lanyard(["logout", "--client-id", "none", foreign])
            let client = world.sandbox.gitea.clientID.lowercased()
            let there = "sign it out there: lanyard logout --client-id \(client) \(foreign)\n"
            #expect(only.status == 1 && only.errors.contains(there), "\(only)")
            #expect(only.errors.hasSuffix("or everywhere: lanyard logout --forget \(foreign)\n"), "\(only)")
            let forAll = try await world.lanyard(["use", "alice@contoso.example"])
            #expect(forAll.status == 0 && !forAll.errors.contains("stays in use"), "\(forAll)")

            let entraOnly = try await world.lanyard(["logout", "alice@contoso.example"])
            #expect(entraOnly.status == 0, "\(entraOnly)")
            #expect(try await Self.used(world, [gitLab, gitea]) == [Self.alice, Self.bob])
            let rest = try await world.lanyard(["logout", "--all"])
            #expect(rest.status == 0 && rest.errors.split(separator: "\n").count == 3, "\(rest)")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
        }
    }

    /// Returns the account that `status` shows for each URL.
    private static func used(_ world: World, _ urls: [String]) async throws -> [String] {
        var users: [String] = []
        for url in urls {
            let ended = try await world.lanyard(["status", "--json", url])
            let json = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
            let rule = (json?["rules"] as? [[String: Any]])?.first
            #expect(rule?["step"] as? String == "answer", "\(ended)")
            users.append(rule?["account"] as? String ?? "")
        }
        return users
    }
}

/// The host that behaves like GitHub, where a client without its secret signs in with a device code.
@Suite struct ForgeDeviceTests {
    private static let forge = GitHost(name: "like GitHub", logged: "forge", proofs: ("Basic", "Basic"))
    private static let alice = "alice_contoso"

    /// Runs the body in a world in which Alice is signed in with a device code, for one of the forge's clients.
    private static func withAlice(
        client: @escaping @Sendable (SandboxDescription.Host) -> String?, settings: String = "{}",
        _ body: @escaping @Sendable (World, String) async throws -> Void
    ) async throws {
        try await World.with { world in
            let forge = world.sandbox.forge
            try world.configure(
                after: """
                    [[rule]]
                    url = "\(forge.url)"
                    authority = "\(forge.url)"
                    kind = "github"
                    client-id = "\(try #require(client(forge)))"
                    scopes = ["repo"]

                    """)
            try await world.sandbox.set(#"{"device_code_interval": 1}"#)
            try await world.sandbox.set(settings)
            let url = Self.forge.repository(in: world.sandbox)
            try await world.signInByDevice(url, as: alice)
            try await body(world, url)
        }
    }

    @Test(arguments: GitProgram.all)
    func `an OAuth app's token has no end, and is a password to every git`(program: GitProgram) async throws {
        try await Self.withAlice(client: { $0.clientID }, settings: #"{"offline_access": 0}"#) { world, url in
            try await world.sandbox.clearLog()
            let clone = try await world.git(["clone", "-q", url, "hello"], by: program)
            #expect(clone.status == 0 && clone.errors.isEmpty, "\(clone)")
            let asked = try await Self.forge.requests(world)
            #expect(asked.authority.isEmpty, "\(asked)")
            #expect(Set(asked.git.map(\.authorization)) == [nil, "Basic"], "\(asked.git)")
            let account = try #require(try await AccountChoiceTests.accounts(world).first)
            #expect(account["username"] as? String == Self.alice && account["kind"] as? String == "github")
            #expect(account["canRenew"] as? Bool == false)
        }
    }

    @Test func `a GitHub App's token is renewed, which ends the one before it`() async throws {
        let settings = #"{"access_token_lifetime": 30}"#
        try await Self.withAlice(client: { $0.appClientID }, settings: settings) { world, url in
            let old = try await world.stored("accesstoken")
            try await world.sandbox.clearLog()
            try await world.sandbox.set(#"{"access_token_lifetime": 28800}"#)
            let clone = try await world.git(["clone", "-q", url, "hello"])
            #expect(clone.status == 0 && clone.errors.isEmpty, "\(clone)")
            let asked = try await Self.forge.requests(world).authority
            #expect(asked.compactMap(\.grantType) == ["refresh_token"], "\(asked)")
            #expect(try await world.stored("accesstoken") != old)
            let fetch = try await world.git(["-C", "hello", "fetch"])
            #expect(fetch.status == 0 && fetch.errors.isEmpty, "\(fetch)")
            #expect(try await Self.forge.requests(world).authority.count == asked.count)
        }
    }
}

extension World {
    /// Signs a user in with a device code, which is typed into another browser.
    func signInByDevice(_ url: String, as user: String) async throws {
        let terminal = try PseudoTerminal()
        let ended = try await terminal.run(
            "\(folder)/bin/lanyard", ["login", "--flow", "device-code", url], environment: environment
        ) { terminal in
            try await terminal.sees("waiting for the code to be entered")
            let lines = terminal.lines
            let page = try #require(lines.firstIndex { $0.hasPrefix("https://") }, "\(terminal.text)")
            let code = try #require(lines.firstIndex { $0.hasPrefix("lanyard: and enter this code") })
            let typed = try await run(
                Built.sandbox,
                ["sign-in", "--ca", self.sandbox.caFile, "--as", user, "--code", lines[code + 1], lines[page]],
                environment: self.environment)
            #expect(typed.status == 0, "\(typed)")
        }
        #expect(ended.status == 0, "\(ended) \(terminal.text)")
    }
}
