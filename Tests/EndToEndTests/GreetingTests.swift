import Foundation
import TestSupport
import Testing

/// What `lanyard sandbox` prints, done as it is printed.
@Suite struct GreetingTests {
    /// Runs `lanyard sandbox` in a folder and hands over what it prints, once all is printed.
    private static func greeting(in home: Home, at folder: String, _ body: (String) async throws -> Void) async throws {
        let printed = home.folder + "/greeting"
        _ = try await with(
            home.folder + "/bin/lanyard", ["sandbox", "serve", "--directory", folder], output: printed,
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

    /// The indented lines below a heading.
    private static func lines(of text: String, below heading: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return Array(lines.drop { $0 != heading }.dropFirst().prefix { $0.hasPrefix("  ") })
    }

    @Test(arguments: ["sh", "bash", "zsh"])
    func `each command that is printed works as it is printed`(shell: String) async throws {
        try await Home.with(.unlocked) { home in
            try await Self.greeting(in: home, at: "\(home.folder)/a sand'box") { text in
                let headings = [
                    "Try it in another terminal:",
                    "If that terminal cannot open a browser, let a scripted one sign in:", "Then:",
                ]
                let commands = headings.map { Self.lines(of: text, below: $0) }
                #expect(commands.map(\.count) == [2, 1, 5], "\(text)")
                let script = (["set -e"] + commands.flatMap(\.self)).joined(separator: "\n")
                let ended = try await run(
                    shell, ["-c", script], environment: home.environment, folder: home.folder + "/home")
                #expect(ended.status == 0, "\(script)\n\(ended)")
                #expect(FileManager.default.fileExists(atPath: home.folder + "/home/hello/README.md"))
                #expect(ended.output.contains(#""userPrincipalName":"alice@contoso.example""#), "\(ended)")
                #expect(ended.output.contains("token_endpoint"), "\(ended)")
            }
        }
    }

    @Test func `every repository is named, and the certificate's last line ends`() async throws {
        try await Home.with { home in
            let folder = home.folder + "/sandbox"
            try await Self.greeting(in: home, at: folder) { text in
                let named = Self.lines(of: text, below: "Repositories:").map { String($0.dropFirst(2)) }
                for repository in named {
                    let asked = try await run(
                        "curl",
                        [
                            "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--cacert",
                            folder + "/ca.pem", repository + "/info/refs?service=git-upload-pack",
                        ], environment: home.environment)
                    #expect(asked.output == "401", "\(repository): \(asked)")
                }
                // The configuration has a rule for each, and one for Graph.
                let rules = try home.text(folder + "/config.toml").split(separator: "\n").filter {
                    $0.hasPrefix("url = ")
                }
                #expect(named.count == rules.count - 1 && Set(named).count == named.count, "\(text)")
                #expect(try home.text(folder + "/ca.pem").hasSuffix("-----END CERTIFICATE-----\n"))
            }
        }
    }
}
