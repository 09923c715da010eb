import Foundation
import TestSupport
import Testing

/// `explain --for` shows exactly what the tool then receives, without the secret.
@Suite struct ExplainToolTests {
    /// A tool, and how the real one runs lanyard.
    struct Asker: Sendable, CustomTestStringConvertible {
        let name: String
        let program: String
        let arguments: @Sendable (_ url: String) -> [String]
        var input: @Sendable (_ url: String) -> String = { _ in "" }
        var environment: @Sendable (_ url: String) -> [String: String] = { _ in [:] }

        var testDescription: String { name }
    }

    private static let askers = [
        Asker(name: "docker", program: "docker-credential-lanyard", arguments: { _ in ["get"] }, input: \.host),
        Asker(
            name: "bazel", program: "bazel-credential-lanyard", arguments: { _ in ["get"] },
            input: { #"{"uri": "\#($0)"}"# }),
        Asker(
            name: "cargo", program: "cargo-credential-lanyard", arguments: { _ in ["--cargo-plugin"] },
            input: { #"{"v":1,"kind":"get","operation":"read","registry":{"index-url":"sparse+\#($0)"}}"# + "\n" }),
        Asker(name: "go", program: "lanyard", arguments: { ["goauth", $0] }),
        Asker(name: "pip", program: "keyring", arguments: { ["--mode=creds", "--output=json", "get", $0] }),
        Asker(
            name: "kubectl", program: "lanyard", arguments: { _ in ["kubectl"] },
            environment: {
                let kind = #""kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1""#
                let spec = #"{"interactive": false, "cluster": {"server": "\#($0)"}}"#
                return ["KUBERNETES_EXEC_INFO": "{\(kind), \"spec\": \(spec)}"]
            }),
        Asker(
            name: "terraform", program: "terraform-credentials-lanyard", arguments: { ["get", $0.host] }),
        Asker(name: "pnpm", program: "lanyard", arguments: { ["pnpm", $0] }),
        Asker(name: "gcloud", program: "lanyard", arguments: { ["gcloud", $0] }),
        Asker(
            name: "git", program: "lanyard", arguments: { _ in ["get"] },
            input: { "url=\($0)\ncapability[]=authtype\ncapability[]=state\n" }),
    ]

    private func explain(_ home: Home, _ arguments: String...) async throws -> [String: Any] {
        try explanation(try await home.lanyard(["explain", "--json"] + arguments))
    }

    private func explanation(_ ended: Ended) throws -> [String: Any] {
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        let whole = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
        return try #require(whole["for"] as? [String: Any])
    }

    @Test func `with a token it is what each tool reads`() async throws {
        try await World.with { world in
            try await world.signIn("alice@contoso.example")
            // terraform and docker send no path.
            try world.configure(rule: world.sandbox.resource, at: "common")
            try await world.lanyard(["login", world.sandbox.resource], world.browser(as: "alice@contoso.example"))
            let url = "\(world.sandbox.resource)/common/hello.git"
            // gcloud takes only web tokens, and this authority's are opaque.
            for asker in Self.askers where asker.name != "gcloud" {
                let whole = asker.name == "docker" || asker.name == "terraform" ? world.sandbox.resource : url
                let token = try await world.lanyard(["token", whole]).output.trimmingCharacters(in: .newlines)
                #expect(token.count > 100)
                let typed = (asker.name == "cargo" ? "sparse+" : "") + whole
                let said = try explanation(try await world.lanyard(["explain", "--json", typed, "--for", asker.name]))
                let gets = try #require(said["gets"] as? String)
                #expect(gets.contains("an access token"), "\(asker) \(gets)")
                let real = try await run(asker, whole, in: world)
                #expect(real.status == 0, "\(asker) \(real)")
                let reads = try #require(said["reads"] as? [String])
                #expect(reads.joined().contains("…") && !reads.joined().contains(token), "\(asker) \(reads)")
                let basic = try #require(try? Regex(#"Basic [A-Za-z0-9+/=]+"#))
                var masked = real.output.replacing(token, with: "…").replacing(basic, with: "Basic …")
                masked = masked.replacing(try Regex(#"state\[\]=lanyard:.*"#), with: "state[]=lanyard:X")
                let expected = reads.map { $0.replacing(/state\[\]=lanyard:.*/, with: "state[]=lanyard:X") }
                #expect(
                    masked.split(separator: "\n").suffix(expected.count) == expected.map { $0[...] }, "\(asker) \(real)"
                )
            }
        }
    }

    private func run(_ asker: Asker, _ url: String, in world: World) async throws -> Ended {
        let link = "\(world.folder)/bin/\(asker.program)"
        if !FileManager.default.fileExists(atPath: link) {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.lanyard)
        }
        return try await world.runInside(
            link, asker.arguments(url), input: asker.input(url),
            environment: world.environment.merging(asker.environment(url)) { $1 })
    }

    @Test func `nobody is asked for a tool that can't wait, and it says what to do`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let browser = world.browser(as: "alice@contoso.example")
            let git = try await world.lanyard(["explain", url, "--for", "git"], browser)
            #expect(git.output.contains("\nfor git, lanyard would ask you to sign in in the browser\n"), "\(git)")
            #expect(git.output.contains("\ngit gets an access token\n"), "\(git)")
            let bazel = try await world.lanyard(["explain", url, "--for", "bazel"], browser)
            #expect(bazel.output.contains("\nfor bazel, lanyard would give no answer: "), "\(bazel)")
            #expect(bazel.output.contains("\nbazel gets no credential, and the reason on stderr\n"), "\(bazel)")
            #expect(bazel.output.contains("can't wait for you to sign in, and gets an answer within 10 seconds"))
            #expect(bazel.output.contains(": lanyard login \(url)\n"), "\(bazel)")
            #expect(!bazel.output.contains("git does not ask"), "\(bazel)")
            #expect(bazel.output.contains("bazel does not ask lanyard yet: lanyard configure bazel\n"), "\(bazel)")
            let docker = try explanation(
                try await world.lanyard(["explain", "--json", world.sandbox.resource, "--for", "docker"], browser))
            #expect(docker["gets"] as? String == "no credential", "\(docker)")
        }
    }

    @Test func `a registry's token is what docker gets, and nothing for terraform or AWS`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            let url = world.sandbox.exchanges
            let before = try await world.lanyard(["explain", url, "--for", "docker"])
            #expect(
                before.output.contains("docker gets a credential that lanyard will exchange the token for\n"),
                "\(before)")
            let answer = try await world.docker("get").output
            let after = try await world.lanyard(["explain", "\(url)/a/repository", "--for", "docker"])
            let name = "00000000-0000-0000-0000-000000000000"
            let gets = "docker gets the user name \(name) and a credential that your token was exchanged for\n"
            #expect(
                after.output.contains("for docker, lanyard would answer ") && after.output.contains("\n\(gets)"),
                "\(after)")
            #expect(after.output.contains("  asks       for \(url)/\n"), "\(after)")
            let secret = try #require(answer.firstMatch(of: /"Secret":"([^"]+)"/)?.1)
            #expect(after.output.contains(answer.replacing(secret, with: "…")), "\(after)")
            #expect(!after.output.contains(secret))
            let aws = try await world.lanyard(["explain", url, "--for", "aws"])
            #expect(aws.output.contains("aws gets no credential: \(url) doesn't give AWS keys\n"), "\(aws)")
            #expect(aws.output.contains(#": exchange = "aws-sts""#), "\(aws)")
            let terraform = try await world.lanyard(["explain", url, "--for", "tofu"])
            #expect(terraform.output.contains("\ntofu gets "), "\(terraform)")
        }
    }

    @Test func `passwords are found as the tool's protocol finds them`() async throws {
        try await Home.with(.unlocked) { home in
            for (path, password) in [("", "wide"), ("feed/npm", "near")] {
                let input = "url=https://pkgs.example/\(path)\nusername=u\npassword=\(password)-secret\n"
                _ = try await TestSupport.run(
                    "\(home.folder)/bin/lanyard", ["store"], input: input, environment: home.environment,
                    folder: home.folder)
            }
            let url = "https://pkgs.example/feed/npm/registry/"
            let pnpm = try await explain(home, url, "--for", "pnpm")
            #expect(pnpm["gets"] as? String == "an Authorization header with a password (Basic, user name u)")
            #expect(pnpm["reads"] as? [String] == ["Basic …"])
            #expect(
                (pnpm["asks"] as? [String])?.contains(
                    "uses the password stored for it, or for the nearest place above it")
                    == true)
            let uv = try await explain(home, url, "--for", "uv")
            #expect(uv["gets"] as? String == "the user name u and a password" && uv["status"] as? Int == 0, "\(uv)")
            let kubectl = try await explain(home, url, "--for", "kubectl")
            #expect(
                kubectl["gets"] as? String
                    == "no credential: what is stored for \(url) is no token, and clusters take no passwords")
            let shown = try await home.lanyard(["explain", url, "--for", "kubectl"])
            #expect(
                shown.output.contains("\nfor kubectl, lanyard would find a credential that kubectl can't use\n")
                    && shown.output.contains(": lanyard rule add \(url) --authority URL "), "\(shown)")
            let terraform = try await explain(home, url, "--for", "terraform")
            #expect(
                terraform["gets"] as? String == "no credential" && terraform["reads"] as? [String] == ["{}"],
                "\(terraform)")
            let go = try await explain(home, "http://pkgs.example/", "--for", "go")
            #expect(
                go["gets"] as? String == "no credential" && go["asks"] as? [String] == ["for nothing at such a URL"])
            let docker = try await explain(home, "https://other.example/", "--for", "podman")
            #expect(docker["reads"] as? [String] == ["credentials not found in native keychain"])
            #expect(docker["status"] as? Int == 1 && docker["configured"] as? String == "doesn't use lanyard")
            let az = try await explain(home, "https://management.azure.com/", "--for", "azure-cli")
            #expect(
                az["asks"] as? [String] == [
                    "for a token by its scopes", "can't wait for you to sign in, and gets an answer within 8 seconds",
                ])
            let all = try await home.lanyard(["explain", url, "--for", "pnpm"])
            #expect(!all.output.contains("-secret") && all.errors.isEmpty, "\(all)")
        }
    }

    @Test func `docker is looked at for this host, and a rule is suggested for what it can name`() async throws {
        try await Home.with(.unlocked) { home in
            func docker(_ url: String, _ tool: String = "docker") async throws -> String {
                try await home.lanyard(["explain", url, "--for", tool]).output
            }
            _ = try await home.lanyard(["configure", "docker", "https://a.example", "--yes"])
            #expect(try await docker("https://a.example/team/image", "helm").contains(" uses lanyard\n"))
            let other = try await docker("https://b.example")
            #expect(other.contains("uses lanyard for https://a.example, but not here\n"), "\(other)")
            #expect(
                other.contains("docker does not ask lanyard here yet: lanyard configure docker https://b.example\n"),
                "\(other)")
            try home.write(
                #"{"credsStore": "lanyard", "credHelpers": {"c.example": "pass"}}"#,
                to: "\(home.folder)/home/.docker/config.json")
            #expect(try await docker("https://b.example").contains(" uses lanyard\n"))
            #expect(try await docker("https://c.example").contains(#"asks "pass" here, not lanyard"#))
            let terraform = try await docker("https://app.example/team", "terraform")
            #expect(terraform.contains("lanyard rule add https://app.example --authority"), "\(terraform)")
        }
    }

    @Test func `rules that need a path say whether the tool sends it, and a long list is cut`() async throws {
        try await Home.with(.unlocked) { home in
            let rules = (1...8).map { number in
                "[[rule]]\nurl = \"https://a.example/\(number)\"\nauthority = \"https://login.microsoftonline.com/x.example\"\n"
                    + "client-id = \"azure-cli\"\nscopes = [\"s\"]\n"
            }
            try home.write(rules.joined(), to: home.configFile)
            let docker = try await home.lanyard(["explain", "https://a.example/1", "--for", "docker"]).output
            #expect(docker.contains("https://a.example/5: it needs a path, which docker never sends\n"), "\(docker)")
            #expect(!docker.contains("a.example/6") && docker.contains(" and 3 more; --all lists them\n"), "\(docker)")
            let git = try await home.lanyard(["explain", "https://a.example/1", "--for", "git"]).output
            #expect(git.contains("it needs a path, which git does not send\n"), "\(git)")
            let all = try await home.lanyard(["explain", "https://a.example", "--all"]).output
            #expect(all.contains("https://a.example/8: it needs a path, and the URL has none\n"), "\(all)")
        }
    }

    @Test func `a token by its scopes is signed in to by a command that can be run`() async throws {
        try await World.with { world in
            try world.configure(
                before: "authority = \"\(world.sandbox.authority)/contoso.example\"\nclient-id = \"azure-cli\"\n")
            let az = try await world.lanyard(["explain", "https://management.azure.com/", "--for", "azure-cli"]).output
            #expect(az.contains("lanyard login --authority ") && !az.contains("the request'"), "\(az)")
        }
    }

    @Test func `cargo is served for sparse indexes only, and explain says so`() async throws {
        try await Home.with(.unlocked) { home in
            _ = try await TestSupport.run(
                "\(home.folder)/bin/lanyard", ["store"], input: "url=https://crates.example/\nusername=u\npassword=p\n",
                environment: home.environment, folder: home.folder)
            let sparse = try await explain(home, "sparse+https://crates.example/index/", "--for", "cargo")
            #expect((sparse["gets"] as? String)?.contains("a password") == true, "\(sparse)")
            let git = try await explain(home, "https://github.com/rust-lang/crates.io-index", "--for", "cargo")
            #expect(git["gets"] as? String == "no credential", "\(git)")
            #expect(git["reads"] as? [String] == [#"{"Err":{"kind":"url-not-supported"}}"#], "\(git)")
            let shown = try await home.lanyard(["explain", "https://crates.example/index/", "--for", "cargo"])
            #expect(
                shown.output.contains(": lanyard explain sparse+https://crates.example/index/ --for cargo\n"),
                "\(shown)")
            #expect(!shown.output.contains("rule add"), "\(shown)")
        }
    }

    @Test func `what a tool can't be given is not promised`() async throws {
        try await Home.with(.unlocked) { home in
            let aws = try await home.lanyard(["explain", "https://sts.example/arn:aws:iam::1:role/r", "--for", "aws"])
            #expect(aws.output.contains("uses no stored password\n"), "\(aws)")
            #expect(aws.output.contains("for aws, lanyard would return nothing: no rule maps the URL\n"), "\(aws)")
            #expect(aws.output.contains(" --scope SCOPE --exchange aws-sts\n"), "\(aws)")
            let bazel = try await home.lanyard(["explain", "grpcs://cache.example:8980", "--for", "bazel"])
            #expect(
                bazel.output.hasPrefix("https://cache.example:8980/\n") && !bazel.output.contains("has https"),
                "\(bazel)")
            let uv = try await home.lanyard(["explain", "https://pypi.example/simple/", "--for", "uv"])
            #expect(uv.output.contains("authenticate = \"always\"\n"), "\(uv)")
            let named = try await home.lanyard(["explain", "https://me@pypi.example/simple/", "--for", "uv"])
            #expect(!named.output.contains("authenticate"), "\(named)")
        }
    }

    @Test(arguments: ["podman", "docker"])
    func `Docker Hub is looked up by the tool's own name for it`(_ tool: String) async throws {
        try await Home.with(.unlocked) { home in
            _ = try await home.lanyard(["configure", tool, "docker.io", "--yes"])
            for url in ["docker.io", "https://index.docker.io/v1/"] {
                let ended = try await home.lanyard(["explain", url, "--for", tool])
                #expect(ended.output.contains(" uses lanyard\n") && !ended.output.contains("does not ask"), "\(ended)")
            }
        }
    }

    @Test func `az's answer has a tenant and an end before there is a token`() async throws {
        try await World.with { world in
            try world.configure(
                before: "authority = \"\(world.sandbox.authority)/contoso.example\"\nclient-id = \"azure-cli\"\n")
            let resource = "https://management.core.windows.net/"
            let before = try explanation(
                try await world.lanyard(
                    ["explain", "--json", resource, "--for", "azure-cli"], world.browser(as: "alice@contoso.example")))
            #expect((before["gets"] as? String)?.hasPrefix("no credential") == true, "\(before)")
            let login = try await world.lanyard(
                ["login", "--resource", resource], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let other = try explanation(
                try await world.lanyard(["explain", "--json", "https://management.azure.com/", "--for", "azure-cli"]))
            let reads = (other["reads"] as? [String] ?? []).joined()
            #expect(reads.contains("\"expiresOn\"") && !reads.contains("\"tenant\" : \"\""), "\(other)")
            #expect(!reads.contains("\"tenant\": \"\"") && !reads.contains("9999"), "\(other)")
        }
    }

    @Test func `an unknown tool is met with the known ones`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["explain", "https://a.example", "--for", "dockr"])
            #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
            for name in ["'dockr'", "one of the following: git, docker, podman, ", ", azd\n"] {
                #expect(ended.errors.contains(name), "\(ended)")
            }
        }
    }
}

extension String {
    /// The host and port of a URL.
    fileprivate var host: String { String(split(separator: "/")[1]) }
}
