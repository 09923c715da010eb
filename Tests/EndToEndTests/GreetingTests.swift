import Foundation
import TestSupport
import Testing

/// The output of `lanyard sandbox`, followed exactly as printed.
@Suite struct GreetingTests {
    /// Runs `lanyard sandbox` in a folder and passes on its complete output.
    private static func greeting(
        in home: Home, at folder: String, _ options: [String] = ["--verbose"], _ body: (String) async throws -> Void
    ) async throws {
        let printed = home.folder + "/greeting"
        _ = try await with(
            home.folder + "/bin/lanyard", ["sandbox", "--directory", folder] + options, output: printed,
            environment: home.environment, endedBy: SIGTERM
        ) {
            for _ in 0..<1200 {
                let text = try home.text(printed)
                if text.contains("Ctrl-C ends it.") { return try await body(text) }
                try await Task.sleep(for: .milliseconds(50))
            }
            Issue.record("no greeting within a minute: \(try home.text(printed))")
        }
    }

    /// Returns the indented lines below a heading.
    private static func lines(of text: String, below heading: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return Array(lines.drop { $0 != heading }.dropFirst().prefix { $0.hasPrefix("  ") })
    }

    @Test(arguments: ["sh", "bash", "zsh", "fish"])
    func `each command that is printed works as it is printed`(shell: String) async throws {
        try await Home.with(.unlocked) { home in
            try await Self.greeting(in: home, at: "\(home.folder)/a sand'box") { text in
                let headings = [
                    "Try it in another terminal:",
                    "If that terminal cannot open a browser, let a scripted one sign in:", "Then:",
                ]
                let commands = headings.map { Self.lines(of: text, below: $0) }
                #expect(commands.map(\.count) == [3, 1, 11], "\(text)")
                // fish has no `set -e`; the results of the commands are checked below.
                let script = ((shell == "fish" ? [] : ["set -e"]) + commands.flatMap(\.self)).joined(separator: "\n")
                let ended = try await run(
                    shell, ["-c", script], environment: home.environment, folder: home.folder + "/home")
                #expect(ended.status == 0, "\(script)\n\(ended)")
                for clone in ["hello", "issuer", "forge", "gitea", "pipeline", "machine"] {
                    let file = "\(home.folder)/home/\(clone)/README.md"
                    #expect(FileManager.default.fileExists(atPath: file), "\(ended)")
                }
                #expect(ended.output.contains(#""userPrincipalName":"alice@contoso.example""#), "\(ended)")
                #expect(ended.output.contains("\n* alice@contoso.example "), "\(ended)")
                #expect(text.contains("\n  lanyard aws https://"), "\(text)")
            }
        }
    }

    @Test(arguments: ["sh", "bash", "zsh", "fish"])
    func `the first steps fit on a screen and work as they are printed`(shell: String) async throws {
        try await Home.with(.unlocked) { home in
            try await Self.greeting(in: home, at: "\(home.folder)/a sand'box", []) { text in
                #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 24, "\(text)")
                let all = text.split(separator: "\n").map(String.init)
                let commands = all.filter { $0.hasPrefix("  ") }
                let browser = try #require(commands.last { $0.hasPrefix("  export BROWSER=") })
                // The browser signs in where nobody of the first authority's is known, too.
                let b2c = commands[1].replacing("/common/hello.git", with: "/b2c/hello.git b2c")
                let script = ([commands[0], browser] + commands[1..<4] + [b2c]).joined(separator: "\n")
                let ended = try await run(
                    shell, ["-c", script], environment: home.environment, folder: home.folder + "/home")
                #expect(ended.status == 0, "\(script)\n\(ended)")
                #expect(ended.output.contains(#""userPrincipalName":"alice@contoso.example""#), "\(ended)")
                for clone in ["hello", "b2c"] {
                    let file = "\(home.folder)/home/\(clone)/README.md"
                    #expect(FileManager.default.fileExists(atPath: file), "\(ended)")
                }
            }
        }
    }

    @Test func `its configuration of git clones each repository, and keeps what is the user's own`() async throws {
        try await Home.with(.unlocked) { home in
            let folder = home.folder + "/sandbox"
            try home.write("[user]\n\tname = Alice\n[credential]\n\thelper = other\n", to: home.gitFile)
            try await Self.greeting(in: home, at: folder) { text in
                var environment = home.environment
                environment["GIT_CONFIG_GLOBAL"] = folder + "/gitconfig"
                environment["LANYARD_CONFIG"] = folder + "/config.toml"
                let secret = try #require(
                    Self.lines(of: text, below: "Then:").first { $0.contains("lanyard rule secret ") })
                let kept = try await run("/bin/sh", ["-c", secret], environment: environment)
                #expect(kept.status == 0, "\(kept)")
                for repository in Self.repositories(in: text) {
                    let user = Self.user(of: repository)
                    environment["BROWSER"] = "lanyard sandbox sign-in --ca \(folder)/ca.pem --as \(user)"
                    let cloned = try await run(
                        "git", ["clone", "--quiet", repository, user], environment: environment, folder: home.folder)
                    #expect(cloned.status == 0, "\(cloned)")
                    // One folder per user, and no account that is already signed in.
                    try FileManager.default.removeItem(atPath: "\(home.folder)/\(user)")
                    _ = try await run("lanyard", ["logout", "--all"], environment: environment)
                }
                let name = try await run(
                    "git", ["config", "user.name"], environment: environment, folder: home.folder)
                #expect(name.output == "Alice\n")
                // Other hosts keep their helpers.
                let helpers = try await run(
                    "git", ["config", "--get-urlmatch", "credential.helper", "https://other.example"],
                    environment: environment, folder: home.folder)
                #expect(helpers.output == "other\n", "\(helpers)")
            }
        }
    }

    @Test func `a shell whose sandbox has ended is told how to go on`() async throws {
        try await Home.with(.unlocked) { home in
            let folder = "\(home.folder)/a sand'box"
            var lines = ""
            try await Self.greeting(in: home, at: folder) { text in
                let browser = "If that terminal cannot open a browser, let a scripted one sign in:"
                lines =
                    try home.text(folder + "/env.sh")
                    + Self.lines(of: text, below: browser).joined(separator: "\n")
            }
            try FileManager.default.removeItem(atPath: folder)
            let script = """
                unset GIT_CONFIG_GLOBAL LANYARD_CONFIG BROWSER
                variables() { env | grep -v '^_=' | sort; }
                before=$(variables)
                \(lines)
                lanyard rule add https://contoso.com 2>/dev/null && exit 3
                told=$(lanyard status --accounts 2>&1) && exit 4
                echo "$told"
                eval "${told##*hint: run: }"
                [ "$(variables)" = "$before" ] && lanyard status --accounts
                """
            let ended = try await run("/bin/sh", ["-c", script], environment: home.environment, folder: home.folder)
            #expect(ended.status == 0, "\(ended)")
            #expect(
                ended.output.hasPrefix(
                    "lanyard: error: \(folder)/config.toml: the sandbox that this shell uses has ended\n"))
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    private static func repositories(in text: String) -> [String] {
        lines(of: text, below: "Repositories:").map { String($0.dropFirst(2)) }
    }

    /// Returns a user who may read a repository.
    private static func user(of repository: String) -> String {
        let people = [
            "/fabrikam/": "carol@fabrikam.example", "/northwind/": "frank@northwind.example",
            "/b2c/": "erin@example.net",
        ]
        return people.first { repository.contains($0.key) }?.value ?? "alice@contoso.example"
    }

    @Test func `every repository is named, and the certificate's last line ends`() async throws {
        try await Home.with { home in
            let folder = home.folder + "/sandbox"
            try await Self.greeting(in: home, at: folder) { text in
                let named = Self.repositories(in: text)
                for repository in named {
                    let asked = try await run(
                        "curl",
                        [
                            "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--cacert",
                            folder + "/ca.pem", repository + "/info/refs?service=git-upload-pack",
                        ], environment: home.environment)
                    #expect(asked.output == "401", "\(repository): \(asked)")
                }
                // The configuration has a rule for each, and others for Graph, the registry and clouds.
                let rules = try home.text(folder + "/config.toml").split(separator: "\n").filter {
                    $0.hasPrefix("url = ") && !$0.contains("amazonaws.com") && !$0.contains("pkg.dev")
                }
                #expect(named.count == rules.count - 3 && Set(named).count == named.count, "\(text)")
                #expect(try home.text(folder + "/ca.pem").hasSuffix("-----END CERTIFICATE-----\n"))
            }
        }
    }
}
