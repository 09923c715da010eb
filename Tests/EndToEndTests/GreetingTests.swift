import Foundation
import KeyringFixture
import Testing

/// What `lanyard sandbox` prints, done as it is printed.
@Suite struct GreetingTests {
    /// Runs `lanyard sandbox` in a folder and hands over what it prints, once all is printed.
    private static func greeting(in home: Home, at folder: String, _ body: (String) async throws -> Void) async throws {
        let printed = home.folder + "/greeting"
        try home.write("", to: printed)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: home.folder + "/bin/lanyard")
        process.arguments = ["sandbox", "serve", "--directory", folder]
        process.environment = home.environment
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: printed))
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        for _ in 0..<1200 {
            let text = try home.text(printed)
            if text.contains("Ctrl-C ends it.") { return try await body(text) }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("no greeting within a minute: \(try home.text(printed))")
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
                let made = try FileManager.default.contentsOfDirectory(atPath: folder + "/repositories")
                    .filter { FileManager.default.fileExists(atPath: "\(folder)/repositories/\($0)/hello.git") }
                let named = Self.lines(of: text, below: "Repositories:").map { $0.split(separator: "/")[2] }
                #expect(named.map(String.init).sorted() == made.sorted())
                #expect(made.contains("common"))
                #expect(try home.text(folder + "/ca.pem").hasSuffix("-----END CERTIFICATE-----\n"))
            }
        }
    }
}
