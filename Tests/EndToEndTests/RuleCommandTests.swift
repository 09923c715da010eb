import Foundation
import TestSupport
import Testing

/// `rule add`, `rule list` and `rule remove`.
@Suite struct RuleCommandTests {
    private static let options = [
        "--authority", "https://login.microsoftonline.com/contoso.com", "--client-id",
        "11111111-2222-3333-4444-555555555555",
    ]

    @Test func `a file that LANYARD_CONFIG names is made`() async throws {
        try await Home.with { home in
            let file = "\(home.folder)/home/new/mine.toml"
            let variable = ["LANYARD_CONFIG": file]
            let missing = try await home.lanyard(["rule", "list"], variable)
            #expect(
                missing.status != 0 && missing.errors.contains("lanyard rule add makes it"), "\(missing)")
            let added = try await home.lanyard(
                ["rule", "add", "https://dev.azure.com/contoso"] + Self.options, variable)
            #expect(added.status == 0, "\(added)")
            #expect(try home.text(file).contains("https://dev.azure.com/contoso"))
        }
    }

    @Test func `a relative HOME is no place for rules`() async throws {
        try await Home.with { home in
            let nowhere = ["HOME": ".", "XDG_CONFIG_HOME": ""]
            let added = try await home.lanyard(
                ["rule", "add", "https://dev.azure.com/contoso"] + Self.options, nowhere)
            #expect(added.status == 1 && added.errors.contains("there is no place for it"), "\(added)")
            let left = try FileManager.default.contentsOfDirectory(atPath: home.folder + "/home")
            #expect(!left.contains("~") && !left.contains(".config"), "\(left)")
            // Nor is a file read that somebody put into the working directory.
            try home.write("browser = 1\n", to: home.folder + "/home/.config/lanyard/config.toml")
            let listed = try await home.lanyard(["rule", "list"], nowhere)
            #expect(listed.status == 0, "\(listed)")
        }
    }

    @Test func `rules are added, listed and removed`() async throws {
        try await Home.with { home in
            let url = "https://dev.azure.com/contoso"
            let added = try await home.lanyard(["rule", "add", url] + Self.options)
            #expect(added.status == 0 && added.output.isEmpty, "\(added)")
            let next = "lanyard: next: lanyard login \(url)\nlanyard: if it is for git: git does not "
            let configure = "yet: lanyard configure git \(url)\n"
            #expect(added.errors.hasSuffix("\(next)ask lanyard for this host \(configure)"), "\(added)")
            #expect(try home.text(home.configFile).hasPrefix("#:schema file://"))
            let json = try await home.lanyard(["rule", "list", "--json"])
            let rules = try #require(
                try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
            #expect(rules.count == 1)
            #expect(rules.first?["url"] as? String == url)
            #expect(rules.first?["scopes"] as? [String] == ["499b84ac-1321-427f-aa17-267ca6975798/.default"])
            #expect(rules.first?["line"] as? Int == 3)
            let twice = ["rule", "add", "HTTPS://dev.azure.com:443/contoso/"] + Self.options
            let same = try await home.lanyard(twice)
            #expect(same.status == 0 && same.errors.contains("the rule for \(url) is there already, at "), "\(same)")
            let other = try await home.lanyard(twice + ["--scope", "another"])
            #expect(other.status == 1)
            #expect(other.errors.hasPrefix("lanyard: error: there is a rule for \(url) already, at "), "\(other)")
            #expect(try await home.lanyard(["rule", "remove", url]).status == 0)
            #expect(try await home.lanyard(["rule", "list"]).errors.contains("there are no rules"))
            let gone = try await home.lanyard(["rule", "remove", url])
            #expect(gone.status == 1 && gone.errors.contains("there is no rule for \(url)"), "\(gone)")
            // Like a user who added the helper to the file by hand.
            try await home.git(["config", "--global", "credential.helper", "lanyard"])
            let again = try await home.lanyard(["rule", "add", url] + Self.options)
            #expect(again.errors.hasSuffix("\(next)send the path of \(url) \(configure)"), "\(again)")
            let exchanged = try await home.lanyard(
                ["rule", "add", "https://registry.example/team", "--exchange", "acr"] + Self.options
                    + ["--scope", "s"])
            #expect(exchanged.status == 0 && !exchanged.errors.contains("git"), "\(exchanged)")
        }
    }

    @Test(arguments: [
        (["login"], "no rule says yet"), (["token", "--json"], "no rule says yet"),
        (["rule", "add", "git.example"], "a rule needs an authority"),
        (["rule", "add", "https://europe-west4-npm.pkg.dev"], "--identity google"),
        (
            ["rule", "add", "git.example", "--authority", "https://login.microsoftonline.com"],
            "no plugin supports the authority"
        ),
        (["rule", "add", "git.example", "--authority", "https://login.microsoftonline.com/x"], "a rule needs a scope"),
        (
            ["rule", "add", "git.example", "--authority", "https://login.microsoftonline.com/x", "--scope", "a b"],
            "a scope cannot contain spaces"
        ),
        (
            ["rule", "add", "dev.azure.com", "--authority", "https://login.microsoftonline.com/x"],
            "no client ID is configured"
        ),
        (
            ["rule", "add", "sts.amazonaws.com", "--scope", "s", "--exchange-parameter", "rol=x"] + options,
            "the exchange aws-sts has no parameter rol"
        ),
        (
            ["rule", "add", "git.example", "--scope", "s", "--exchange-parameter", "role=x"] + options,
            "the exchange none has no parameter role"
        ),
        (["rule", "add", "http:// x"], "is not a URL"),
        (["rule", "add", "https://bob:geheim@git.example/x"] + options, "the URL contains a password"),
        (["configure", "git", "https://bob:geheim@git.example/x", "--yes"] + options, "the URL contains a password"),
        (["rule", "add", "git.example", "--redirect-port", "80"], "a redirect port is a number"),
        (["rule", "add", "git.example", "--query-parameter", "state=1"], "can only be set by lanyard"),
        (
            ["rule", "add", "git.example", "--query-parameter", "client_info=1"] + options,
            "can only be set by lanyard"
        ),
    ])
    func `what is missing or wrong is said, and nothing is written`(arguments: [String], message: String) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(arguments)
            #expect(ended.status != 0 && ended.errors.contains(message), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: "), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
        }
    }

    @Test func `an exchange is written, listed and checked`() async throws {
        try await Home.with { home in
            let url = "https://registry.contoso.com"
            let added = try await home.lanyard(["rule", "add", url] + Self.options + ["--exchange", "acr"])
            #expect(added.status == 0, "\(added)")
            #expect(try home.text(home.configFile).contains("exchange  = \"acr\"\n"))
            let listed = try await home.lanyard(["rule", "list"]).output
            #expect(
                listed.contains(/\n    exchange +acr\n/) && listed.contains(".default (the exchange's)\n"), "\(listed)")
            #expect(try await home.lanyard(["rule", "list", "--json"]).output.contains(#""exchange" : "acr""#))
            let explained = try await home.lanyard(["explain", url]).output
            #expect(explained.contains("acr, at registry.contoso.com\n"), "\(explained)")

            let typed = ["--exchange", "acme", "--scope", "s"]
            let unknown = try await home.lanyard(["rule", "add", "https://x.example"] + Self.options + typed)
            #expect(unknown.status == 64 && unknown.errors.contains("has no exchange acme"), "\(unknown)")
            #expect(
                unknown.errors.contains(
                    "hint: it has acr, aws-codeartifact, aws-ecr, aws-ecr-public, aws-sso, aws-sts\n"), "\(unknown)")
            // AWS accepts whatever token the rule selects.
            let open = try await home.lanyard(
                ["rule", "add", "https://y.example"] + Self.options + ["--exchange", "aws-sts"])
            #expect(open.status != 0 && open.errors.contains("a rule needs a scope"), "\(open)")
            #expect(open.errors.contains("the host trusts") && !open.errors.contains("Azure DevOps"), "\(open)")
            #expect(try await home.lanyard(["rule", "list", "--json"]).output.contains("example") == false)
        }
    }

    @Test func `what shapes a sign-in is written, listed and checked`() async throws {
        try await Home.with { home in
            let shape = [
                "--domain-hint", "contoso.com", "--query-parameter", "dc=ESTS-1", "--redirect-port", "8400",
                "--reset-policy", "B2C_1_reset",
            ]
            let added = try await home.lanyard(["rule", "add", "https://dev.azure.com/contoso"] + Self.options + shape)
            #expect(added.status == 0, "\(added)")
            let listed = try await home.lanyard(["rule", "list"]).output
            for line in ["domain     contoso.com", "parameter  dc=ESTS-1", "port       8400", "reset      B2C_1_reset"]
            {
                #expect(listed.contains("    \(line)\n"), "\(listed)")
            }
            let json = try await home.lanyard(["rule", "list", "--json"]).output
            #expect(json.contains("\"B2C_1_reset\"") && json.contains("\"queryParameters\""), "\(json)")
        }
    }

    @Test func `rules that the system's policy locks stay as they are`() async throws {
        try await Home.with { home in
            let system = home.folder + "/system.toml"
            try home.write("[policy]\nlock = [\"rule\"]\n", to: system)
            for command in [
                ["rule", "add", "https://dev.azure.com"] + Self.options, ["rule", "remove", "https://x.example"],
            ] {
                let ended = try await run(
                    Built.checkout + "/Tests/TestSupport/Scripts/with-system-file",
                    [system, "\(home.folder)/bin/lanyard"] + command, environment: home.environment)
                #expect(ended.status == 1)
                #expect(
                    ended.errors == """
                        lanyard: error: rules are locked by /etc/lanyard/config.toml
                        lanyard: hint: ask the administrator of this machine

                        """)
                #expect(!FileManager.default.fileExists(atPath: home.configFile))
            }
        }
    }

    @Test func `a resource goes by its name or its identifier`() async throws {
        try await Home.with { home in
            for (url, resource) in [("https://a.example", "azure devops"), ("https://b.example", "api://b")] {
                let ended = try await home.lanyard(["rule", "add", url, "--resource", resource] + Self.options)
                #expect(ended.status == 0, "\(ended)")
            }
            let text = try home.text(home.configFile)
            #expect(text.contains("scopes    = [\"499b84ac-1321-427f-aa17-267ca6975798/.default\"]"))
            #expect(text.contains("scopes    = [\"api://b/.default\"]"))
        }
    }

    // MARK: - Authorities and URLs

    @Test(arguments: [
        ("https://login.microsoftonlin.com/contoso.com", "https://login.microsoftonline.com/contoso.com"),
        ("login.contoso.example/contoso.com", nil),
    ])
    func `a host that nothing names must be vouched for`(authority: String, right: String?) async throws {
        try await Home.with { home in
            let rule = ["rule", "add", "https://dev.azure.com", "--authority", authority] + Self.options.suffix(2)
            let refused = try await home.lanyard(rule)
            #expect(refused.status == 64 && refused.errors.contains("no plugin knows the host login."), "\(refused)")
            #expect(refused.errors.contains("did you mean: --authority ") == (right != nil), "\(refused)")
            if let right { #expect(refused.errors.contains("--authority \(right)\n"), "\(refused)") }
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
            #expect(try await home.lanyard(rule + ["--trust-authority"]).status == 0)
            // The next rule can use the names in this one.
            let next = ["rule", "add", "https://graph.microsoft.com", "--authority", authority]
            #expect(try await home.lanyard(next + Self.options.suffix(2)).status == 0)
            let doctor = try await home.lanyard(["doctor"])
            #expect(doctor.output.contains(", which looks like ") == (right != nil), "\(doctor)")
            let explained = try await home.lanyard(["explain", "https://dev.azure.com"])
            #expect(explained.output.contains("looks like") == (right != nil), "\(explained)")
        }
    }

    @Test(arguments: [
        ("", "https://login.microsoftonline.com/x.example"), ("n", "https://login.microsoftonlin.com/x.example"),
    ])
    func `at a terminal it asks which of two hosts is meant`(answer: String, authority: String) async throws {
        try await Home.with { home in
            let rule = ["--authority", "login.microsoftonlin.com/x.example"] + Self.options.suffix(2)
            let more = answer.isEmpty ? [] : [("use login.microsoftonlin.com anyway? [y/N] ", "y")]
            let ended = try await home.lanyardAtTerminal(
                ["rule", "add", "https://dev.azure.com"] + rule,
                [("use https://login.microsoftonline.com/x.example? [Y/n] ", answer)] + more)
            #expect(ended.status == 0, "\(ended)")
            #expect(try home.text(home.configFile).contains("authority = \"\(authority)\"\n"))
        }
    }

    @Test(arguments: [("", false), ("n", false), ("y", true)])
    func `at a terminal a rule for the same URLs is replaced if that is wanted`(
        answer: String, isReplaced: Bool
    ) async throws {
        try await Home.with { home in
            let url = "https://dev.azure.com/contoso"
            for other in [url, "https://dev.azure.com/fabrikam"] {
                #expect(try await home.lanyard(["rule", "add", other] + Self.options).status == 0)
            }
            let old = try home.text(home.configFile)
            let ended = try await home.lanyardAtTerminal(
                ["rule", "add", url + "/"] + Self.options + ["--scope", "another"], [("replace it? [y/N] ", answer)])
            #expect((ended.status == 0) == isReplaced, "\(ended)")
            #expect(ended.output.contains("there is a rule for \(url) already"), "\(ended)")
            let text = try home.text(home.configFile)
            #expect(isReplaced ? text.contains("\"another\"") : text == old, "\(text)")
            let rules = try await home.lanyard(["rule", "list", "--json"])
            let all = try JSONSerialization.jsonObject(with: Data(rules.output.utf8)) as? [[String: Any]]
            #expect(all?.count == 2, "\(rules)")
        }
    }

    @Test func `a host that nobody vouches for is not written`() async throws {
        try await Home.with { home in
            let rule = ["--authority", "https://login.contoso.example/x.example"] + Self.options.suffix(2)
            let ended = try await home.lanyardAtTerminal(
                ["rule", "add", "https://dev.azure.com"] + rule, [("use login.contoso.example anyway? [y/N] ", "")])
            #expect(ended.status == 1 && ended.output.contains("you did not confirm it"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
        }
    }

    @Test func `a wrong answer is followed by the question again`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyardAtTerminal(
                ["rule", "add", "https://git.example"],
                [("authority: ", "a b"), ("authority: ", "^D")])
            #expect(ended.status == 1 && ended.output.contains("a b is neither a domain nor a URL"), "\(ended)")
            #expect(ended.output.contains("error: nothing was changed: a rule needs an authority"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
            let whole = try await home.lanyardAtTerminal(
                ["rule", "add", "https://git.example"],
                [
                    ("authority: ", "login.microsoftonline.com"), ("authority: ", "contoso.example"),
                    ("scopes, separated by spaces", ""), ("scopes, separated by spaces", "rule add --scope x"),
                    ("scopes, separated by spaces", "azure devops"),
                    ("client ID [azure-cli]: ", "azur-cli"), ("client ID [azure-cli]: ", ""),
                ])
            #expect(whole.status == 0, "\(whole)")
            for error in [
                "is not a client ID", "type a scope, or Ctrl-C to cancel", "--scope is an option, not a scope",
                "did you mean azure-cli?",
            ] {
                #expect(whole.output.contains(error), "\(whole)")
            }
            let text = try home.text(home.configFile)
            #expect(text.contains("authority = \"https://login.microsoftonline.com/contoso.example\"\n"), "\(text)")
            #expect(text.contains("client-id = \"azure-cli\"\n") && text.contains("499b84ac"), "\(text)")
        }
    }

    @Test(arguments: ["http", "ftp", "ssh"])
    func `tokens go nowhere without encryption`(scheme: String) async throws {
        try await Home.with { home in
            let url = "\(scheme)://git.example/x"
            let commands = [["rule", "add", url] + Self.options, ["configure", "git", url, "--yes"] + Self.options]
            for command in commands {
                let ended = try await home.lanyard(command + ["--scope", "s"])
                #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
                #expect(ended.errors.contains("https"), "\(ended)")
                for file in [home.gitFile, home.configFile] { #expect(!FileManager.default.fileExists(atPath: file)) }
            }
            let login = try await home.lanyard(["login", url])
            let why = scheme == "ssh" ? "is an address for ssh" : "tokens are not sent over \(scheme)"
            #expect(login.errors.contains(why) && login.errors.contains(" https://git.example/x\n"), "\(login)")
            #expect(!login.errors.contains("rule add"), "\(login)")
            let explained = try await home.lanyard(["explain", url])
            #expect(!explained.output.contains("rule add"), "\(explained)")
        }
    }

    @Test func `this machine needs no encryption, and passwords none anywhere`() async throws {
        try await Home.with { home in
            let local = ["rule", "add", "http://localhost:8080", "--scope", "s"] + Self.options
            #expect(try await home.lanyard(local).status == 0)
            let git = try await home.lanyard(["configure", "git", "http://git.example", "--yes"])
            #expect(git.status == 0 && !git.errors.contains("rule add"), "\(git)")
        }
    }
}
