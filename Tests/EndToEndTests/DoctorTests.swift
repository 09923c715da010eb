import Foundation
import TestSupport
import Testing

/// `doctor`, in every possible state of the user's environment.
@Suite struct DoctorTests {
    private struct Check: Decodable {
        let check: String
        let level: String
        let text: String
        let remedies: [String]
    }

    private struct Report: Decodable {
        let lanyard: String
        let failures: Int
        let warnings: Int
        let checks: [Check]

        func check(_ name: String) -> Check? { checks.first { $0.check == name } }
    }

    private func doctor(_ home: Home, _ extra: [String: String] = [:], _ options: [String] = []) async throws -> (
        Report, Ended
    ) {
        let ended = try await home.lanyard(["doctor", "--json"] + options, extra)
        let report = try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8))
        #expect(ended.status == (report.failures == 0 ? 0 : 1), "\(ended)")
        #expect(report.failures == report.checks.count { $0.level == "fail" })
        for check in report.checks where check.level == "fail" { #expect(!check.remedies.isEmpty, "\(check)") }
        return (report, ended)
    }

    @Test(arguments: [
        (KeyringFixture.State.unlocked, "keyring.state", "pass", "unlocked"),
        (.locked, "keyring.state", "fail", "the keyring is locked"),
        (.neverUnlocked, "keyring.state", "fail", "the keyring is locked"),
        (.noKeyring, "keyring.state", "fail", "there is no default keyring yet"),
        (.noBus, "keyring.bus", "fail", "there is no D-Bus session, so no keyring can be reached"),
        (.staleBus, "keyring.bus", "fail", "DBUS_SESSION_BUS_ADDRESS does not lead to a bus"),
        (.noProvider, "keyring.provider", "fail", "no keyring service is installed or running"),
        (.hung, "keyring.state", "fail", "the keyring service does not answer"),
    ])
    func `tells every state of the keyring in bounded time`(
        state: KeyringFixture.State, check: String, level: String, text: String
    ) async throws {
        try await Home.with(state) { home in
            let start = ContinuousClock.now
            let (report, _) = try await doctor(home)
            #expect(ContinuousClock.now - start < .seconds(10))
            let found = try #require(report.check(check))
            #expect(found.level == level && found.text.hasPrefix(text), "\(found)")
            if [.unlocked, .locked, .hung].contains(state) {
                #expect(report.check("keyring.provider")?.text.hasPrefix("gnome-keyring-daemon 4") == true)
            }
        }
    }

    @Test(arguments: [KeyringFixture.State.noBus, .staleBus, .noProvider])
    func `identities need no keyring, unless it has their secret`(state: KeyringFixture.State) async throws {
        try await Home.with(state) { home in
            let git = try await home.lanyard(["configure", "git", "--identity", "environment"])
            #expect(git.status == 0, "\(git)")
            let (report, _) = try await doctor(home)
            #expect(report.failures == 0, "\(report)")
            #expect(report.check("keyring")?.level == "pass" && report.check("keyring.bus") == nil, "\(report)")
            #expect(report.check("sign-in")?.level == "pass", "\(report)")

            let user =
                "[[rule]]\nurl = \"https://git.example\"\nauthority = \"https://login.microsoftonline.com/x\"\n"
            let rule = user + "client-id = \"azure-cli\"\nscopes = [\"s\"]\n"
            try home.write(rule, to: home.configFile)
            #expect(try await doctor(home).0.failures > 0)
            #expect(try await doctor(home, ["CI": "true"]).0.check("keyring")?.level == "pass")
            try home.write(rule + "identity = \"machine\"\n", to: home.configFile)
            #expect(try await doctor(home).0.check("keyring")?.level == "pass")
            try home.write(
                """
                default-identity = "kept"
                [[identity]]
                name = "kept"
                authority = "https://login.microsoftonline.com/contoso.example"
                client-id = "a9911ca7-0000-4000-8000-0000000000e5"
                secret = true

                """, to: home.configFile)
            #expect(try await doctor(home).0.failures > 0)
        }
    }

    @Test func `what to run is told once, though it helps with several findings`() async throws {
        try await Home.with(.noBus) { home in
            let remedy = "export XDG_RUNTIME_DIR="
            let (report, _) = try await doctor(home, ["XDG_RUNTIME_DIR": ""])
            #expect(report.checks.count { check in check.remedies.contains { $0.contains(remedy) } } > 1)
            let shown = try await home.lanyard(["doctor"], ["XDG_RUNTIME_DIR": ""])
            #expect(shown.output.components(separatedBy: remedy).count == 2, "\(shown)")
        }
    }

    @Test(arguments: [[:], ["CODESPACES": "true"]])
    func `without a runtime directory, that is what answers can't be kept without`(extra: [String: String]) async throws
    {
        try await Home.with(.noBus) { home in
            let (report, _) = try await doctor(home, extra.merging(["XDG_RUNTIME_DIR": ""]) { $1 })
            let memory = try #require(report.check("memory"))
            #expect(memory.text == "without a runtime directory, every get asks the keyring")
            #expect(memory.remedies.count == 1 && memory.remedies[0].contains("export XDG_RUNTIME_DIR="), "\(memory)")
        }
    }

    @Test func `a locked keyring is a warning where somebody can be asked`() async throws {
        try await Home.with(.locked) { home in
            let (report, _) = try await doctor(home, ["DISPLAY": ":99"])
            #expect(report.check("keyring.state")?.level == "warn")
            #expect(report.check("browser")?.level == "warn")
            try home.program("xdg-open", "exit 0")
            #expect(try await doctor(home, ["DISPLAY": ":99"]).0.check("browser")?.level == "pass")
        }
    }

    @Test(arguments: [nil, "https://git.contoso.example"])
    func `a helper that git can't find is told with its remedy`(place: String?) async throws {
        try await Home.with(.unlocked) { home in
            let url = place ?? "https://git.contoso.example"
            let end = place.map { " \($0)" } ?? ""
            let folders = ["alone", "own"].map { "\(home.folder)/\($0)" }
            for (folder, name) in zip(folders, ["lanyard", "git-credential-lanyard"]) {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/\(name)", withDestinationPath: Built.lanyard)
            }
            let configure = ["configure", "git", "--yes"] + [place].compactMap(\.self)
            #expect(try await home.lanyard(configure).status == 0)
            let alone = ["PATH": "\(folders[0]):\(Programs.folder)"]
            let remedy = "lanyard unconfigure git\(end) && lanyard configure git\(end)"
            let (report, ended) = try await doctor(home, alone)
            let finding = try #require(report.check("git.helpers"))
            #expect(finding.level == "fail" && finding.remedies == [remedy], "\(finding)")
            #expect(finding.text.hasPrefix("git can't find git-credential-lanyard, "), "\(finding)")
            #expect(ended.status == 1, "\(ended)")
            let explained = try await home.lanyard(["explain", url], alone)
            #expect(explained.output.contains("asks lanyard, but can't find git-credential-lanyard"), "\(explained)")
            #expect((explained.output + explained.errors).contains(remedy), "\(explained)")

            // git searches its own programs first.
            let own = alone.merging(["GIT_EXEC_PATH": folders[1]]) { $1 }
            #expect(try await doctor(home, own).0.check("git.helpers")?.level == "pass")
            let among = try await home.lanyard(["explain", url], own)
            #expect(!among.output.contains("can't find"), "\(among)")

            #expect(try await home.lanyard(["unconfigure"] + configure.dropFirst(), alone).status == 0)
            #expect(try await home.lanyard(configure, alone).status == 0)
            #expect(try await doctor(home, alone).0.check("git.helpers")?.level == "pass")
        }
    }

    @Test func `what is wrong with git is told with its remedy`() async throws {
        try await Home.with(.unlocked) { home in
            #expect(try await doctor(home).0.check("git.helpers")?.remedies == ["lanyard configure git"])
            try await home.git(["config", "--global", "credential.helper", "!f() { echo password=geheim; }; f"])
            try await home.git(["config", "--global", "credential.interactive", "never"])
            try await home.git(["config", "--global", "http.proxy", "http://alice:geheim@proxy.example:3128"])
            try await home.lanyard(["configure", "git", "--yes"])
            let (report, ended) = try await doctor(home)
            #expect(report.check("git.helpers")?.text.hasPrefix("git asks a shell command, lanyard") == true)
            #expect(report.check("git.interactive")?.level == "warn")
            #expect(report.check("proxy")?.text == "http://proxy.example:3128 (git's http.proxy)")
            #expect(!ended.output.contains("geheim"))
            try home.write(
                "[[rule]]\nurl = \"https://git.example/a\"\nauthority = \"https://login.microsoftonline.com\"\nscopes = [\"s\"]\n"
                    + "[[rule]]\nurl = \"https://gitlab.com/api\"\nauthority = \"https://gitlab.com\"\nscopes = [\"read_api\"]\n",
                to: home.configFile)
            let (wrong, text) = try await doctor(home)
            #expect(!text.output.contains("rules for https://gitlab.com"), "\(text)")
            #expect(wrong.check("git.path")?.remedies == ["lanyard configure git https://git.example"])
            #expect(wrong.check("git.path")?.level == "warn")
            try await home.git(["config", "--global", "--unset-all", "credential.helper"])
            #expect(try await doctor(home).0.check("git.path") == nil)
            #expect(wrong.check("rule")?.text.contains("no plugin supports https://login.microsoftonline.com") == true)
            try home.write(
                "[[rule]]\nurl = \"https://git.example\"\nauthority = \"https://login.microsoftonline.com/common\"\nscopes = [\"s\"]\n"
                    + "client-id = \"azure-cli\"\nquery-parameters = { p = \"x\" }\n",
                to: home.configFile)
            let rule = try await doctor(home).0.check("rule")
            #expect(rule?.text.contains("the parameter `p` can only be set by lanyard") == true)
            try home.write("flow = 3\n", to: home.configFile)
            let (broken, _) = try await doctor(home)
            #expect(
                broken.check("configuration")?.text.hasSuffix("config.toml:1: `flow` must be a string in quotes")
                    == true)
            #expect(try await doctor(home, ["PATH": home.folder + "/bin"]).0.check("git")?.level == "fail")
        }
    }

    private struct Helpers: CustomTestStringConvertible, Sendable {
        let lines: String
        var git = "2.45.0"
        let level: String
        var remedy: String?
        var testDescription: String { "\(lines.split(whereSeparator: \.isNewline).joined(separator: " ")), git \(git)" }

        static let host = "[credential \"https://git.contoso.example\"]\n"
        static let all = "[credential]\n"
        static let lanyard = "helper = lanyard\n"
        static let everywhere = "lanyard configure git --only"
        static let there = "lanyard configure git https://git.contoso.example/team --only"
        static let rows = [
            Helpers(lines: all + lanyard, level: "pass"),
            Helpers(lines: all + "helper = store\n" + lanyard, level: "fail", remedy: everywhere),
            Helpers(lines: all + lanyard + "helper = store\n", level: "fail", remedy: everywhere),
            Helpers(lines: all + lanyard + "helper = cache --timeout 9\n", level: "fail", remedy: everywhere),
            Helpers(lines: all + lanyard + "helper = /usr/lib/x/git-credential-libsecret\n", level: "fail"),
            Helpers(lines: all + lanyard + "helper = !git credential-store\n", level: "fail"),
            Helpers(lines: all + lanyard + host + "helper = store\n", level: "fail", remedy: there),
            Helpers(lines: all + "helper = store\n" + host + lanyard, level: "fail", remedy: there),
            Helpers(lines: host + lanyard + all + "helper = store\n", level: "fail", remedy: there),
            Helpers(lines: all + "helper = store\n" + host + "helper =\n" + lanyard, level: "pass"),
            Helpers(lines: all + "helper = store\nhelper =\n" + lanyard, level: "pass"),
            Helpers(lines: all + lanyard + "[credential \"https://x.example\"]\nhelper = store\n", level: "pass"),
            Helpers(
                lines: all + lanyard + host + "helper =\nhelper = manager\n", level: "warn",
                remedy: "lanyard configure git https://git.contoso.example/team"),
            Helpers(
                lines: all + lanyard + host + "helper =\nhelper = oauth\n" + lanyard, level: "warn",
                remedy: "lanyard configure git https://git.contoso.example --only"),
            Helpers(lines: all + lanyard + "helper = oauth\n", level: "pass"),
            Helpers(lines: all + lanyard + "helper = !/usr/bin/gh auth git-credential\n", level: "pass"),
            Helpers(lines: all + lanyard + "helper = store\n", git: "2.46.0", level: "pass"),
            Helpers(lines: all + "helper = store\n" + lanyard, git: "2.46.0", level: "warn", remedy: everywhere),
            Helpers(
                lines: all + "helper = store\n" + host + lanyard, git: "2.46.0", level: "warn",
                remedy: "lanyard configure git https://git.contoso.example --only"),
        ]
    }

    @Test(arguments: Helpers.rows)
    private func `a helper that git hands tokens to is a failure`(_ row: Helpers) async throws {
        try await Home.with { home in
            try home.pretendGit(row.git)
            try home.write(row.lines, to: home.gitFile)
            try home.write(
                """
                [[rule]]
                url = "https://git.contoso.example/team"
                authority = "https://login.microsoftonline.com/contoso.com"
                client-id = "11111111-2222-3333-4444-555555555555"
                scopes = ["a/.default"]
                """, to: home.configFile)
            let finding = try #require(try await doctor(home).0.check("git.helpers"))
            #expect(finding.level == row.level, "\(finding)")
            if let remedy = row.remedy { #expect(finding.remedies.first == remedy, "\(finding)") }
        }
    }

    @Test(arguments: [
        ("2.39.5 (Apple Git-154)", "warn", "2.39.5; git before 2.41 hides server challenges"),
        ("2.41.0", "pass", "2.41.0; sends tokens as passwords"), ("2.46-rc1", "pass", "2.46; supports tokens"),
        ("2.45.0.windows.1", "pass", "2.45.0; sends tokens as passwords"),
    ])
    func `a git that hides server challenges is a warning only if a tenant is left to them`(
        version: String, level: String, text: String
    ) async throws {
        try await Home.with { home in
            try home.pretendGit(version)
            #expect(try await doctor(home).0.check("git")?.level == "pass")
            let authority = "https://login.microsoftonline.com/"
            for (tenant, isLeftOpen) in [("organizations", true), ("contoso.com", false)] {
                try home.write("authority = \"\(authority)\(tenant)\"\nclient-id = \"id\"\n", to: home.configFile)
                let git = try #require(try await doctor(home).0.check("git"))
                #expect(git.level == (isLeftOpen ? level : "pass"), "\(git)")
                if isLeftOpen { #expect(git.text.hasPrefix(text), "\(git)") }
                #expect(git.remedies.contains { $0.contains("TENANT") } == (git.level == "warn"))
            }
        }
    }

    @Test(arguments: [
        ("http://alice:ge@heim@proxy.example:3128", "pass", "http://proxy.example:3128 (https_proxy)"),
        ("alice:geheim@Proxy.example", "pass", "http://proxy.example:1080 (https_proxy)"),
        ("https://alice:geheim@proxy.example:8443", "pass", "https://proxy.example:8443 (https_proxy)"),
        ("socks5://alice:geheim@proxy.example", "pass", "socks5://proxy.example:1080 (https_proxy)"),
        ("ftp://alice:geheim@proxy.example", "fail", "https_proxy names no proxy of a kind that curl knows"),
        ("http://alice:geheim@h:99999", "fail", "https_proxy names a proxy with a port that can't be one"),
        ("http://alice:geheim@", "fail", "https_proxy names no proxy of a kind that curl knows"),
    ])
    func `a proxy is the one that sign-ins use`(url: String, level: String, text: String) async throws {
        try await Home.with(.unlocked) { home in
            let (report, ended) = try await doctor(home, ["https_proxy": url])
            let check = try #require(report.check("proxy"))
            #expect(check.level == level && check.text == text)
            #expect(!ended.output.contains("heim") && !ended.output.contains("alice"))
        }
    }

    @Test func `a report names nobody`() async throws {
        try await Home.with(.unlocked) { home in
            try home.write(
                """
                client-id = "11111111-2222-3333-4444-555555555555"
                [[rule]]
                url = "https://git.contoso.example/alice-wonder"
                authority = "https://login.contoso.example"
                kind = "another"
                scopes = ["s"]
                account = "alice@contoso.example"
                """, to: home.configFile)
            let names = [
                "USER": "alicew", "LOGNAME": "alicew", "HTTPS_PROXY": "http://alicew:geheim@proxy.contoso.example",
            ]
            let ended = try await home.lanyard(["doctor", "--report"], names)
            for word in ["alicew", "alice", "geheim", "contoso", home.environment["HOME"] ?? "none"] {
                #expect(!ended.output.lowercased().contains(word), "\(word): \(ended)")
            }
            #expect(ended.output.contains("https://HOST/…"), "\(ended)")
            let own = String(cString: try #require(getpwuid(geteuid())).pointee.pw_dir)
            for (folder, shown) in [("/home/zoe", "/home/USER/"), (own, "~/")] {
                let missing = ["LANYARD_CONFIG": folder + "/lanyard.toml"]
                let named = try await home.lanyard(["doctor", "--report"], missing)
                #expect(named.output.contains(" \(shown)lanyard.toml"), "\(named)")
            }
            #expect(ended.lines.first?.hasPrefix("pass  system") == true)
            #expect(ended.output.contains("pass  TERM"), "\(ended)")
        }
    }

    /// Settings with a name wherever one can be, of which some are right.
    private static let named = [
        """
        account = "acme-account"
        agent = "/acme-folder/acme-agent.sock"
        authority = "https://login.microsoftonline.com/acme-tenant"
        browser = "/acme-folder/acme-browser --profile acme-profile"
        ca-file = "/acme-folder/acme-ca.pem"
        client-id = "acme-client"
        default-identity = "acme-default"
        group = "acme.group"
        known-authorities = ["acme-known.example"]
        """,
        """
        authority = "https://login.microsoftonline.com/acme-tenant"
        client-id = "11111111-2222-3333-4444-555555555555"
        ca-file = "/acme-folder/acme-ca.pem"
        [[identity]]
        name = "acme-one"
        authority = "https://login.microsoftonline.com/acme-tenant"
        client-id = "acme-app"
        certificate = "/nowhere/acme-certificate.pem"
        [[identity]]
        name = "acme-two"
        authority = "https://acme-issuer.example"
        client-id = "acme-app-two"
        assertion = "command:/acme-folder/acme-program --for acme-word"
        [[identity]]
        name = "acme-three"
        authority = "https://login.microsoftonline.com/acme-tenant"
        client-id = "acme-app-three"
        assertion = "file:/nowhere/acme-assertion"
        [[forward]]
        name = "acme-forward"
        urls = ["https://acme-git.example/acme-path"]
        [[client]]
        issuer = "https://acme-issuer.example"
        client-id = "acme-client"
        [[rule]]
        url = "https://acme-git.example/acme-path"
        authority = "https://acme-issuer.example"
        client-id = "acme-rule-client"
        scopes = ["acme-scope"]
        account = "acme-account"
        [[rule]]
        url = "https://*.acme-other.example:8443/acme-path"
        authority = "https://login.microsoftonline.com/acme-tenant"
        identity = "acme-missing"
        scopes = ["api://acme-api/.default"]
        """,
        "account = 7\n[[identity]]\nname = 'acme one'\nacme-key = 'acme-value'\nauthority = acme-bare\n",
        "[[rule]]\nurl = \"acme git\"\n", "flow = \"acme-flow\"\n",
        "[[rule]]\nurl = \"https://acme-x.example\"\nkind = \"acme-kind\"\n",
    ]

    @Test(arguments: named) func `a report has none of the names that settings have`(settings: String) async throws {
        try await Home.with(.unlocked) { home in
            try home.write(settings, to: home.configFile)
            try home.write(
                "[credential \"https://acme-git.example\"]\n\thelper = /acme-folder/git-credential-acme\n",
                to: home.gitFile)
            let variables = [
                "BROWSER": "/acme-folder/acme-viewer --new acme-window", "SSL_CERT_FILE": "/acme-folder/acme-roots.pem",
                "LANYARD_ACCOUNT": "acme-other-account", "LANYARD_IDENTITY": "acme-chosen",
                "HTTPS_PROXY": "http://acme-user:acme-password@acme-proxy:3128", "XDG_DATA_HOME": "/acme-folder/data",
                "AZURE_TENANT_ID": "acme-tenant", "AZURE_CLIENT_ID": "acme-azure", "DISPLAY": ":99",
                "AZURE_CLIENT_CERTIFICATE_PATH": "/acme-folder/acme-azure.pem",
            ]
            for extra in [[:], variables] {
                for options in [[], ["--json"]] {
                    let ended = try await home.lanyard(["doctor", "--report"] + options, extra)
                    #expect(ended.output.contains("git.helpers"), "\(ended)")
                    #expect(!ended.output.lowercased().contains("acme"), "\(ended)")
                    #expect(!ended.output.contains("11111111-2222"), "\(ended)")
                }
            }
        }
    }

    @Test func `problems come first, and all is shown on request`() async throws {
        try await Home.with(.locked) { home in
            let (report, _) = try await doctor(home)
            let passing = report.checks.filter { $0.level == "pass" }.map(\.check)
            try #require(report.warnings > 0 && passing.count > 5)
            let brief = try await home.lanyard(["doctor"])
            let words = brief.lines.filter { !$0.hasPrefix(" ") }.map { $0.prefix(4) }
            let expected = [("fail", report.failures), ("warn", report.warnings), ("pass", 1)]
            #expect(words == expected.flatMap { Array(repeating: $0.prefix(4), count: $1) }, "\(brief)")
            let wrong = report.checks.filter { $0.level != "pass" }.map(\.check)
            let unique = passing.reduce(into: [String]()) { if !$0.contains($1), !wrong.contains($1) { $0.append($1) } }
            #expect(brief.lines.last == "pass  \(unique.joined(separator: ", "))", "\(brief)")
            #expect(brief.errors.hasSuffix("to see every check: lanyard doctor --all\n"), "\(brief)")
            let all = try await home.lanyard(["doctor", "--all"])
            for check in report.checks { #expect(all.output.contains(check.text), "\(check)") }
            #expect(all.status == brief.status)
        }
    }

    @Test func `without a terminal it is git that cannot ask, and login that can`() async throws {
        try await Home.with(.unlocked) { home in
            let terminal = try #require(try await doctor(home, ["CI": ""]).0.check("terminal"))
            #expect(terminal.level == "warn" && terminal.text.hasPrefix("there is none, so git cannot ask"))
            #expect(terminal.remedies.first?.contains("standard error: lanyard login URL") == true, "\(terminal)")
            #expect(try await doctor(home, ["CI": "", "BROWSER": "/bin/true"]).0.check("terminal")?.level == "pass")
        }
    }
}
