import Foundation
import TestSupport
import Testing

/// `configure git` and `explain --online` for git hosts with their own sign-in.
@Suite struct GitIssuerTests {
    /// Variables with which nothing opens pages.
    private static let quiet = ["TERM": "dumb"]

    @Test func `configure leads from the registration to the first sign-in and a clone`() async throws {
        try await World.with { world in
            let url = world.sandbox.issuer.url
            let ended = try await world.atTerminal(
                ["lanyard", "configure", "git", url],
                answering: [
                    ("number or name [1]: ", "new"), ("client ID: ", ""),
                    ("client ID: ", world.sandbox.issuer.clientID),
                ], Self.quiet.merging(world.browser(as: "alice@contoso.example")) { $1 })
            #expect(ended.status == 0, "\(ended)")
            for line in [
                "if you have no application at GitLab yet, register one:",
                "\(url)/-/profile/applications", "redirect URI, or callback URL: http://127.0.0.1\n",
                "untick \"Confidential\"", "signed in",
            ] {
                #expect(ended.output.contains(line), "\(line)\n\(ended)")
            }
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(text.contains("authority = \"\(url)\"\n") && text.contains("kind      = \"gitlab\"\n"), "\(text)")
            let clone = try await world.git(["clone", "\(url)/contoso/hello.git"])
            #expect(clone.status == 0, "\(clone)")
        }
    }

    @Test func `one screen offers the organisation's app, the sign-in of gh, and registering one`() async throws {
        try await World.with { world in
            let url = world.sandbox.forge.url
            let opened = "\(world.folder)/opened"
            for (name, script) in [
                ("gh", "echo gho_of_gh"), ("browser", "echo \"$1\" >'\(opened)'"),
            ] {
                let path = "\(world.folder)/bin/\(name)"
                try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            }
            let browser = Self.quiet.merging(["BROWSER": "\(world.folder)/bin/browser"]) { $1 }
            let registering = try await world.atTerminal(
                ["lanyard", "configure", "git", url],
                answering: [("number or name [1]: ", "new"), ("client ID: ", "^C")],
                browser)
            let host = url.dropFirst("https://".count)
            let lines = registering.output.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .map { String($0.trimmingPrefix("\r")) }
            let start = try #require(lines.firstIndex { $0.contains("what signs git in there?") }, "\(registering)")
            let offered = lines[(start + 1)...].prefix(4).map {
                $0.split(separator: " ").prefix(2).joined(separator: " ")
            }
            #expect(offered == ["1) app:", "2) gh:", "3) new:", "4) other:"], "\(registering)")
            #expect(lines[start] == "lanyard: \(host) looks like GitHub; what signs git in there?")
            #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(registering)")
            #expect(
                try String(contentsOfFile: opened, encoding: .utf8) == "\(url)/settings/applications/new\n",
                "\(registering)")

            let taken = try await world.atTerminal(
                ["lanyard", "configure", "git", url], answering: [("number or name [1]: ", "gh")], Self.quiet)
            #expect(taken.status == 0, "\(taken)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(text.contains("source    = \"gh\"\n") || text.contains("source = \"gh\"\n"), "\(text)")
            let got = try await world.lanyard(["get"], input: "url=\(url)/contoso/hello.git\n")
            #expect(got.value("password") == "gho_of_gh" && got.value("username") == "x-access-token", "\(got)")
        }
    }

    /// The ID of the app that Gitea and Forgejo register by themselves.
    private static let defaultApp = "a4792ccc-144e-407e-86c9-5e7d8d9c3269"

    @Test(arguments: [("Gitea", GitHost.gitea, ""), ("Forgejo", .forgejo, "/contoso/hello.git")])
    func `where a host has an app of its own, one question and the sign-in lead to a clone`(
        name: String, host: GitHost, repository: String
    ) async throws {
        try await World.with { world in
            let url = host.place(in: world.sandbox).url
            let ended = try await world.atTerminal(
                ["lanyard", "configure", "git", url + repository],
                answering: [("looks like \(name); sign git in there as git-credential-oauth, its own app? [Y/n] ", "")],
                Self.quiet.merging(world.browser(as: "alice@contoso.example")) { $1 })
            #expect(ended.status == 0 && ended.output.contains("signed in as alice_contoso"), "\(ended)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            // The rule is for all repositories of the host, so git needs no path.
            #expect(text.contains("url       = \"\(url)\"\n") && !ended.output.contains("useHttpPath"), "\(ended)")
            #expect(text.contains("client-id = \"git-credential-oauth\"\n"), "\(text)")
            #expect(text.contains("kind      = \"\(name.lowercased())\"\n"), "\(text)")
            let clone = try await world.git(["clone", "\(url)/contoso/hello.git"])
            #expect(clone.status == 0 && clone.errors == "Cloning into 'hello'...\n", "\(clone)")
            let asked = try await host.requests(world).authority
            #expect(
                Set(asked.compactMap { $0.query?["client_id"] ?? $0.form?["client_id"] }) == [Self.defaultApp],
                "\(asked)")

            // The rule asks for no scopes, and an ID token needs openid.
            let token = try await world.lanyard(
                ["token", "--id-token", url], world.browser(as: "alice@contoso.example"))
            #expect(token.status == 0 && token.output.split(separator: ".").count == 3, "\(token)")
            let explained = try await world.lanyard(["explain", "\(url)/contoso/hello.git"])
            #expect(
                explained.output.contains("  client ID  git-credential-oauth, \(Self.defaultApp) ("), "\(explained)")
        }
    }

    @Test func `an app that the server's administrator turned off is refused before a page opens`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"default_apps": 0}"#)
            let url = world.sandbox.gitea.url
            let added = try await world.lanyard(
                ["configure", "git", url, "--kind", "gitea", "--client-id", "git-credential-oauth", "--yes"])
            #expect(added.status == 0, "\(added)")
            let login = try await world.lanyard(["login", url], world.browser(as: "alice@contoso.example"))
            let host = url.dropFirst("https://".count)
            #expect(
                login.errors.contains(
                    """
                    lanyard: error: \(host) does not know the app git-credential-oauth: its administrator has turned it off
                    lanyard: hint: register an application at Gitea: \(url)/user/settings/applications
                    lanyard: hint: its redirect URI, or callback URL: http://127.0.0.1
                    lanyard: hint: create an OAuth2 application; untick "Confidential Client"
                    lanyard: hint: to replace the rule, remove it: lanyard rule remove \(url)
                    lanyard: hint: and set git up again, with the new client ID: lanyard configure git \(url)

                    """), "\(login)")
            #expect(
                try await GitHost.gitea.requests(world).authority.allSatisfy { $0.path != "/login/oauth/authorize" })
        }
    }

    @Test(arguments: [("github", "git-credential-oauth"), ("gitlab", "git-credential-oauth"), ("gitlab", "azure-cli")])
    func `an app of another kind of host is no client ID`(kind: String, name: String) async throws {
        try await Home.with(.unlocked) { home in
            let url = "https://git.contoso.example"
            let rule = ["rule", "add", url, "--authority", url, "--kind", kind, "--client-id"]
            let refused = try await home.lanyard(rule + [name])
            #expect(refused.status != 0 && refused.errors.contains("\(name) is not a client ID"), "\(refused)")
            #expect(try await home.lanyard(rule + ["app"]).status == 0)
            let text = try home.text(home.configFile)
            try home.write(text.replacing("\"app\"", with: "\"git-credential-oauth\""), to: home.configFile)
            let got = try await home.lanyard(["get"], input: "url=\(url)\n")
            #expect(got.errors.contains("git-credential-oauth is not a client ID"), "\(got)")
        }
    }

    @Test func `an app that may show no codes is told what to change`() async throws {
        try await World.with { world in
            let forge = world.sandbox.forge
            let added = try await world.lanyard([
                "rule", "add", forge.url, "--authority", forge.url, "--kind", "github", "--client-id", forge.clientID,
            ])
            #expect(added.status == 0, "\(added)")
            try await world.sandbox.fault(
                #"{"path": "/login/device/code", "status": 400, "body": "{\"error\": \"device_flow_disabled\"}"}"#)
            let login = try await world.lanyard(["login", "--flow", "device-code", forge.url])
            #expect(
                login.errors.contains("tick \"Enable Device Flow\"")
                    && login.errors.contains("lanyard rule secret \(forge.clientID)"), "\(login)")
        }
    }

    @Test func `a policy hides the app, and whoever refuses it is asked step by step`() async throws {
        try await World.with { world in
            let url = world.sandbox.gitea.url
            let policy = "[policy]\nwell-known-clients = []\n"
            let forbidden = try await world.lanyard(
                ["configure", "git", url, "--kind", "gitea", "--client-id", "git-credential-oauth", "--yes"],
                system: policy)
            #expect(forbidden.errors.contains("the app git-credential-oauth is forbidden by"), "\(forbidden)")
            let unnamed = try await world.lanyard(["rule", "add", url, "--authority", url, "--kind", "gitea"])
            #expect(
                unnamed.errors.contains("use one that every Gitea has: --client-id git-credential-oauth"), "\(unnamed)")
            let misspelt = try await world.lanyard(
                ["configure", "git", url, "--kind", "gitea", "--client-id", "git-credential-ouath", "--yes"])
            #expect(
                misspelt.status == 64 && misspelt.errors.contains("did you mean: --client-id git-credential-oauth"),
                "\(misspelt)")
            let ended = try await world.atTerminal(
                ["lanyard", "configure", "git", url],
                answering: [
                    ("its own app? [Y/n] ", "n"), ("what signs git in there?", "other"), ("lanyard: authority", url),
                    ("is it? [Y/n] ", ""),
                    ("client ID [git-credential-oauth]: ", world.sandbox.gitea.clientID), ("go on? [Y/n] ", ""),
                    ("sign in now? [Y/n] ", "n"),
                ], Self.quiet)
            #expect(ended.status == 0 && ended.output.contains("or use an app that it knows already: "), "\(ended)")
        }
    }

    @Test(arguments: [("[]", false), ("[\"azure-cli\"]", false), ("[\"git-credential-oauth\"]", true)])
    func `a policy counts for the app's name and its ID, also in a rule that is written by hand`(
        names: String, isAllowed: Bool
    ) async throws {
        try await World.with { world in
            let url = world.sandbox.gitea.url
            let policy = "[policy]\nwell-known-clients = \(names)\n"
            for (path, client) in [("name", "git-credential-oauth"), ("id", Self.defaultApp)] {
                let rule = ["--authority", url, "--kind", "gitea", "--client-id", client]
                let added = try await world.lanyard(["rule", "add", "\(url)/\(path)"] + rule, system: policy)
                let forbidden = "the app git-credential-oauth is forbidden by"
                #expect((added.status == 0) == isAllowed && added.errors.contains(forbidden) != isAllowed, "\(added)")
                // Without the policy, it is there.
                let written = try await world.lanyard(["rule", "add", "\(url)/\(path)2"] + rule)
                #expect(written.status == 0, "\(written)")
                let got = try await world.lanyard(
                    ["get"], system: policy, world.browser(as: "alice@contoso.example"),
                    input: "url=\(url)/\(path)2/hello.git\n")
                #expect(got.hasNoCredential != isAllowed && got.errors.contains(forbidden) != isAllowed, "\(got)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `an app of the system's leaves only the sign-in of the first clone`(isOfPackage: Bool) async throws {
        try await World.with { world in
            let host = world.sandbox.forge
            let client = "[[client]]\nissuer = \"\(host.url)\"\nkind = \"github\"\nclient-id = \"\(host.clientID)\"\n"
            let certificates = "ca-file = \"\(world.sandbox.caFile)\"\n"
            if isOfPackage {
                let folder = world.folder + "/config.d"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try client.write(toFile: folder + "/50-contoso.toml", atomically: true, encoding: .utf8)
            }
            try (certificates + world.keyringTable).write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let system = isOfPackage ? "" : client
            let url = "\(host.url)/contoso/hello.git"
            let stored = try await world.lanyard(
                ["rule", "secret", host.clientID], system: system, input: host.clientSecret)
            #expect(stored.status == 0, "\(stored)")
            let got = try await world.lanyard(
                ["get"], system: system, world.browser(as: "alice@contoso.example"), input: "url=\(url)\n")
            #expect(got.status == 0 && got.value("password")?.hasPrefix("gho_") == true, "\(got)")
            let listed = try await world.lanyard(["rule", "list"], system: system)
            #expect(listed.output.contains(isOfPackage ? "/config.d/50-contoso.toml:1" : "/config.toml:1"), "\(listed)")
            if isOfPackage {
                let folder = URL(filePath: world.folder + "/config.d")
                try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.path)
                let unread = try await world.lanyard(["rule", "list"], system: system)
                #expect(unread.status != 0 && unread.errors.contains("config.d: cannot be read"), "\(unread)")
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
            }
            let own = client.replacing(host.clientID, with: "own").replacing("\(host.url)\"", with: "\(host.url)/\"")
            try (certificates + world.keyringTable + own).write(
                toFile: world.configFile, atomically: true, encoding: .utf8)
            let replaced = try await world.lanyard(["rule", "list"], system: system)
            #expect(replaced.output.components(separatedBy: "client ID").count == 2, "\(replaced)")
            #expect(replaced.output.contains("own") && !replaced.output.contains(host.clientID), "\(replaced)")
        }
    }

    @Test func `an app without a kind is a rule where a plugin knows the host, and a misspelt kind is named`()
        async throws
    {
        try await World.with { world in
            let folder = world.folder + "/config.d"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            func write(_ issuer: String, _ more: String = "") -> String {
                "[[client]]\nissuer = \"\(issuer)\"\nclient-id = \"contoso\"\n\(more)\n"
            }
            let known = ["https://github.com", "https://gitlab.com", "https://bitbucket.org", "https://codeberg.org"]
            let others = ["https://gitlab.contoso.com", "https://accounts.google.com", "https://id.contoso.com/x"]
            try (known + others).map { write($0) }.joined()
                .write(toFile: folder + "/50-contoso.toml", atomically: true, encoding: .utf8)
            try world.keyringTable.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let listed = try await world.lanyard(["rule", "list"], system: "")
            let urls = listed.output.split(separator: "\n").filter { $0.hasPrefix("https://") }.map(String.init)
            #expect(urls == known, "\(listed)")
            let own = "[[rule]]\nurl = \"https://gitlab.com\"\nauthority = \"https://gitlab.com\"\n"
            try (own + world.keyringTable).write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let status = try await world.lanyard(["status"], system: "")
            #expect(!status.output.contains("unused"), "\(status)")
            let explained = try await world.lanyard(["explain", "https://gitlab.com/contoso/hello.git"], system: "")
            #expect(explained.output.contains("oauth") && explained.output.contains("contoso"), "\(explained)")
            try write("https://gitlab.contoso.com", "kind = \"gitlap\"")
                .write(toFile: folder + "/50-contoso.toml", atomically: true, encoding: .utf8)
            let doctor = try await world.lanyard(["doctor"], system: "")
            #expect(
                doctor.output.contains("no plugin has the kind gitlap") && doctor.output.contains("gitlab?"),
                "\(doctor)")
            let got = try await world.lanyard(["get"], system: "", input: "url=https://gitlab.contoso.com/a/b.git\n")
            #expect(got.errors.contains("did you mean gitlab?"), "\(got)")
        }
    }

    @Test func `login names the first step where nobody can be asked`() async throws {
        try await World.with { world in
            let other = try await world.lanyard(["login", "https://git.other.example/repo"])
            let hint = "lanyard: hint: add one for git: lanyard configure git https://git.other.example/repo\n"
            #expect(other.status == 1 && other.errors.contains(hint), "\(other)")
        }
    }

    @Test func `login leads from nothing to a sign-in at Entra and a clone`() async throws {
        try await World.with { world in
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try text.components(separatedBy: "[[rule]]")[0]
                .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let ended = try await world.atTerminal(
                ["lanyard", "login", url],
                answering: [
                    ("has no rule yet; add one? [Y/n] ", ""),
                    ("authority: ", "\(world.sandbox.authority)/contoso.example"),
                    ("scopes, separated by spaces", "api://sandbox-git/.default"),
                    ("client ID", world.sandbox.clientID),
                    ("go on? [Y/n] ", ""),
                ], Self.quiet.merging(world.browser(as: "alice@contoso.example")) { $1 })
            #expect(ended.status == 0, "\(ended)")
            #expect(ended.output.components(separatedBy: "signed in as alice@contoso.example").count == 2, "\(ended)")
            #expect(!ended.output.contains("next: "), "\(ended)")
            let clone = try await world.git(["clone", url])
            #expect(clone.status == 0, "\(clone)")
        }
    }

    @Test func `login asks for the URL where there are no rules, and signs in once`() async throws {
        try await World.with { world in
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try text.components(separatedBy: "[[rule]]")[0]
                .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let url = world.sandbox.issuer.url
            let browser = Self.quiet.merging(world.browser(as: "alice@contoso.example")) { $1 }
            let ended = try await world.atTerminal(
                ["lanyard", "login"],
                answering: [
                    ("URL of the git server to sign in for", url), ("number or name [1]: ", ""),
                    ("client ID: ", world.sandbox.issuer.clientID),
                ], browser)
            #expect(ended.status == 0, "\(ended)")
            #expect(ended.output.components(separatedBy: "signed in as").count == 2, "\(ended)")
        }
    }

    @Test func `a suggestion that is refused leaves the question open, and a kind answers it`() async throws {
        try await World.with { world in
            let url = world.sandbox.forge.url
            let ended = try await world.atTerminal(
                ["lanyard", "configure", "git", "\(url)/contoso"],
                answering: [
                    ("add one? [Y/n] ", ""), ("looks like GitHub; sign in there? [Y/n] ", "n"),
                    ("authority [", "github"), ("GitHub's own URL [\(url)]: ", "https://elsewhere.example"),
                    ("GitHub's own URL [\(url)]: ", ""), ("client ID: ", world.sandbox.forge.clientID),
                    ("go on? [Y/n] ", ""), ("client secret, or Enter to sign in with a code: ", ""),
                    ("sign in now? [Y/n] ", "n"),
                ], Self.quiet)
            #expect(ended.status == 0, "\(ended)")
            #expect(ended.output.contains("if the server itself does, its kind: github, gitlab, "), "\(ended)")
            #expect(ended.output.contains("type a URL at "), "\(ended)")
            #expect(ended.output.contains("to sign in: lanyard login \(url)/contoso\n"), "\(ended)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(text.contains("authority = \"\(url)\"\n") && text.contains("kind      = \"github\"\n"), "\(text)")
        }
    }

    @Test func `after a first sign-in that failed, configure offers it again`() async throws {
        try await World.with { world in
            let url = world.sandbox.issuer.url
            let browser = Self.quiet.merging(world.browser(as: "alice@contoso.example")) { $1 }
            let refused = try await world.atTerminal(
                ["lanyard", "configure", "git", url],
                answering: [
                    ("number or name [1]: ", ""), ("client ID: ", "nobodys"),
                ], browser)
            #expect(refused.status != 0, "\(refused)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
                .replacing("nobodys", with: world.sandbox.issuer.clientID)
            try text.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let again = try await world.atTerminal(
                ["lanyard", "configure", "git", url], answering: [("sign in now? [Y/n] ", "")], browser)
            #expect(again.status == 0 && again.output.contains("if its client ID is wrong, edit:"), "\(again)")
            let done = try await world.atTerminal(["lanyard", "configure", "git", url], answering: [], browser)
            #expect(done.status == 0 && !done.output.contains("sign in now?"), "\(done)")
        }
    }

    @Test func `another rule for an authority says its kind, unless the option does`() async throws {
        try await World.with(hosts: [.gitLab]) { world in
            let host = world.sandbox.issuer
            let options = ["--authority", host.url, "--client-id", host.clientID, "--scope", "read_repository"]
            let added = try await world.lanyard(["rule", "add", "\(host.url)/contoso/other.git"] + options)
            #expect(added.status == 0, "\(added)")
            let named = try await world.lanyard(
                ["rule", "add", "\(host.url)/contoso/named.git", "--kind", "oidc"] + options)
            #expect(named.status == 0, "\(named)")
            let rules = try String(contentsOfFile: world.configFile, encoding: .utf8)
                .components(separatedBy: "[[rule]]\n")
            for (path, kind) in [("other", "gitlab"), ("named", "oidc")] {
                let rule = try #require(rules.first { $0.contains("/contoso/\(path).git\"") }, "\(rules)")
                #expect(rule.contains("kind      = \"\(kind)\"\n"), "\(rule)")
            }
            let unregistered = try await world.lanyard(
                ["rule", "add", "\(host.url)/contoso/new.git", "--authority", host.url, "--register", "--yes"])
            #expect(unregistered.status != 0, "\(unregistered)")
        }
    }

    @Test func `a client secret is asked for once, shown nowhere, and opens the browser`() async throws {
        try await World.with { world in
            let (url, secret) = (world.sandbox.forge.url, world.sandbox.forge.clientSecret)
            let ended = try await world.atTerminal(
                ["lanyard", "configure", "git", url],
                answering: [
                    ("number or name [1]: ", ""), ("client ID: ", world.sandbox.forge.clientID),
                    ("client secret, or Enter to sign in with a code: ", secret),
                ], Self.quiet.merging(world.browser(as: "alice@contoso.example")) { $1 })
            #expect(ended.status == 0 && ended.output.contains("signed in as"), "\(ended)")
            #expect(!ended.output.contains(secret), "\(ended)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(!text.contains(secret))
            let clone = try await world.git(["clone", "\(url)/contoso/hello.git"])
            #expect(clone.status == 0, "\(clone)")
        }
    }

    @Test func `what a server says of itself maps nothing`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.issuer.url)/contoso/hello.git"
            let silent = try await world.lanyard(["explain", url])
            #expect(silent.status == 0 && !silent.output.contains("server"), "\(silent)")
            #expect(try await world.sandbox.requests().isEmpty)

            let asked = try await world.lanyard(["explain", "--online", url])
            #expect(asked.status == 0, "\(asked)")
            for line in [
                "wants Basic as \"GitLab\"", "wants Bearer as \"GitLab\"",
                "describes itself at \(world.sandbox.issuer.url)/.well-known/oauth-protected-resource\n",
                "lanyard would print nothing",
                "to sign in to GitLab here: lanyard configure git \(world.sandbox.issuer.url)\n",
            ] { #expect(asked.output.contains(line), "\(line)\n\(asked)") }
            let requests = try await world.sandbox.requests()
            #expect(requests.map(\.path) == ["/contoso/hello.git/info/refs"], "\(requests)")
            #expect(requests.allSatisfy { $0.authorization == nil }, "\(requests)")

            let json = try await world.lanyard(["explain", "--online", "--json", url])
            let server = try #require(
                (try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])?["server"]
                    as? [String: Any])
            #expect(
                server["resourceMetadata"] as? String
                    == "\(world.sandbox.issuer.url)/.well-known/oauth-protected-resource")
            #expect((server["challenges"] as? [[String: Any]])?.first?["scheme"] as? String == "basic")
            let got = try await world.lanyard(["get"], input: "url=\(url)\nwwwauth[]=Basic realm=\"GitLab\"\n")
            #expect(got.status == 0 && got.output.isEmpty, "\(got)")
        }
    }

    /// Creates a git that plays a server's answers.
    private static func git(_ home: Home, _ trace: String, status: Int = 128) throws {
        try home.write(trace, to: home.folder + "/trace")
        try home.program(
            "git",
            "for word; do [ \"$word\" = ls-remote ] && { cat '\(home.folder)/trace' >&2; exit \(status); }; done\n"
                + "exec /usr/bin/git \"$@\"")
    }

    @Test(arguments: [
        (
            "1 http.c:1 <= Recv header: www-authenticate: Bearer resource_metadata=\"https://evil.example/\u{1B}[31m\"\r\n",
            "describes itself at https://evil.example/?[31m, which is another host"
        ),
        (
            "fatal: unable to access 'https://git.contoso.example/x/': Could not resolve host: git\n",
            "could not be asked: Could not resolve host: git\n"
        ),
        (
            "fatal: unable to access 'https://git.contoso.example/x/': The requested URL returned error: 403\n",
            "names no way to sign in: unable to access"
        ),
        ("", "names no way to sign in: git got no answer"),
        ("1 http.c:1 <= Recv header: X-Www-Authenticate: Basic realm=\"GitLab\"\r\n", "names no way to sign in"),
    ])
    func `an answer is shown as a fact, whatever it is`(trace: String, line: String) async throws {
        try await Home.with { home in
            try Self.git(home, trace)
            let ended = try await home.lanyard(["explain", "--online", "https://git.contoso.example/x"])
            #expect(ended.status == 0 && ended.output.contains(line), "\(ended)")
            #expect(!ended.output.contains("\u{1B}") && !ended.output.contains("GitLab"), "\(ended)")
        }
    }

    @Test func `a server that serves everybody wants nothing`() async throws {
        try await Home.with { home in
            try Self.git(home, "", status: 0)
            let ended = try await home.lanyard(["explain", "--online", "https://git.contoso.example/x"])
            #expect(ended.output.contains("wants no sign-in"), "\(ended)")
        }
    }

    @Test(arguments: [
        ("https://github.com", [String](), "https://github.com/settings/applications/new"),
        ("https://git.contoso.example", ["--kind", "gitlab"], "https://git.contoso.example/-/profile/applications"),
    ])
    func `without a client ID, a rule for a git host says where one is registered`(
        url: String, options: [String], page: String
    ) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["rule", "add", url] + options)
            #expect(ended.status == 1 && ended.errors.contains(page), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
        }
    }

    @Test func `a git host that looks like a known one is not taken for it`() async throws {
        try await Home.with { home in
            let words = ["rule", "add", "https://glthub.com", "--kind", "github", "--client-id", "app"]
            let warning = "glthub.com looks like github.com, but is a different host"
            let refused = try await home.lanyard(words)
            #expect(refused.status == 64 && refused.errors.contains(warning), "\(refused)")
            let declined = try await home.lanyardAtTerminal(words, [("use glthub.com anyway? [y/N] ", "")])
            #expect(declined.status == 1 && declined.output.contains(warning), "\(declined)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
            let trusted = try await home.lanyard(words + ["--trust-authority"])
            #expect(trusted.status == 0, "\(trusted)")
        }
    }

    @Test func `a server that can't be asked is no reason to suggest an authority`() async throws {
        try await Home.with { home in
            try Self.git(home, "fatal: unable to access 'https://git.contoso.example/x/': Connection refused\n")
            let ended = try await home.lanyardAtTerminal(
                ["configure", "git", "https://git.contoso.example/x"],
                [("add one? [Y/n] ", ""), ("authority: ", ""), ("authority: ", "^D")])
            let reason = "git.contoso.example could not be asked how to sign in: Connection refused"
            let words = ended.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(ended.status == 1 && words.contains(reason), "\(ended)")
            #expect(words.contains("type an authority, or Ctrl-C to cancel"), "\(ended)")
            #expect(words.contains("nothing was changed: a rule needs an authority"), "\(ended)")
            #expect(!ended.output.contains("--") && !ended.output.contains("microsoft"), "\(ended)")
        }
    }

    @Test func `a mistyped kind is answered with the nearest one`() async throws {
        try await Home.with { home in
            let add = ["rule", "add", "https://git.contoso.example", "--client-id", "app"]
            let refused = try await home.lanyard(add + ["--kind", "gitlabb"])
            #expect(refused.status == 64 && refused.errors.contains("no plugin knows the kind gitlabb\n"), "\(refused)")
            #expect(refused.errors.contains("did you mean: --kind gitlab\n"), "\(refused)")
            #expect(refused.errors.contains("the kinds are aad, adfs, b2c, "), "\(refused)")
            for mistyped in ["gitla", "gitlba", "GITLA"] {
                let near = try await home.lanyard(add + ["--kind", mistyped])
                #expect(near.errors.contains("did you mean: --kind gitlab\n"), "\(near)")
            }
            let empty = try await home.lanyard(add + ["--kind", ""])
            #expect(empty.status == 64 && empty.errors.contains("error: the kind is empty\n"), "\(empty)")
            let misplaced = try await home.lanyard(add + ["--authority", "gitlab"])
            #expect(misplaced.status == 64 && misplaced.errors.contains(": --kind gitlab\n"), "\(misplaced)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))

            try Self.git(home, "")
            let asked = try await home.lanyardAtTerminal(
                add, [("authority: ", "gtilab"), ("did you mean the kind gitlab? [Y/n] ", "")])
            #expect(asked.status == 0, "\(asked)")
            #expect(try home.text(home.configFile).contains("kind      = \"gitlab\"\n"))
            #expect(try await home.lanyard(["rule", "remove", "https://git.contoso.example"]).status == 0)
            #expect(try await home.lanyard(add + ["--kind", "GitLab"]).status == 0)
        }
    }

    @Test func `if the keyring fails, configure says what is done and how to go on`() async throws {
        try await World.with(.noBus) { world in
            for (url, client) in [
                (world.sandbox.forge.url, world.sandbox.forge.clientID),
                (world.sandbox.issuer.url, world.sandbox.issuer.clientID),
            ] {
                let isForge = url == world.sandbox.forge.url
                let ended = try await world.atTerminal(
                    ["lanyard", "configure", "git", url],
                    answering: [
                        ("number or name [1]: ", ""), ("client ID: ", client),
                        ("create the sealed keyring? [Y/n] ", "n"),
                    ],
                    Self.quiet)
                let words = ended.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                let lack = (isForge ? "no client secret is kept and " : "") + "nobody has signed in"
                #expect(
                    ended.status != 0 && words.contains("git is set up and the rule is written, but \(lack); "),
                    "\(ended)")
                #expect(
                    words.contains("once the keyring works, continue with: lanyard configure git \(url)"), "\(ended)")
            }
        }
    }

    @Test(arguments: [
        ("https://gist.github.com", "https://github.com"),
        ("https://chromium.googlesource.com", "https://accounts.google.com"),
    ])
    func `a git host that takes another's tokens has that for its authority`(
        url: String, authority: String
    ) async throws {
        try await Home.with { home in
            let explained = try await home.lanyard(["explain", url]).output
            let command = "here: lanyard configure git \(url)\n"
            #expect(explained.components(separatedBy: command).count == 2, "\(explained)")
            let other = try await home.lanyard(
                ["rule", "add", "https://git.example", "--authority", authority, "--client-id", "app"])
            #expect(other.status == 0, "\(other)")
            let added = try await home.lanyardAtTerminal(["rule", "add", url], [("client ID [app]: ", "")])
            #expect(added.status == 0 && added.output.contains("; using \(authority)"), "\(added)")
            let rules = try home.text(home.configFile).components(separatedBy: "[[rule]]\n")
            let rule = try #require(rules.last)
            #expect(rule.contains("url       = \"\(url)\"\nauthority = \"\(authority)\"\n"), "\(rule)")
        }
    }

    @Test func `the rule for a known git host needs no more than a client ID`() async throws {
        try await Home.with { home in
            let added = try await home.lanyard(["rule", "add", "https://gitlab.com/group", "--client-id", "app"])
            #expect(added.status == 0, "\(added)")
            let text = try home.text(home.configFile)
            #expect(text.contains("authority = \"https://gitlab.com\"\n") && !text.contains("kind"), "\(text)")
            #expect(try await home.lanyard(["rule", "list"]).output.contains("read_repository write_repository"))
        }
    }
}
