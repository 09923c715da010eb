import CredentialEngine
import Model
import Rules
import Testing
import Tools

/// Each tool's invocation for a URL, which its own tool must understand.
@Suite struct InvocationTests {
    /// A tool, and its request for a URL.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable (Invocation) -> any ToolProtocol
        let invocation: @Sendable (String, Bool) -> Invocation
        var place: String? = Self.url
        var isUnattended = true
        /// The tool's prefix for the URL of an index.
        var prefix = ""

        static let url = "https://host.example:8443/a/feed"
        static let host = "https://host.example:8443/"

        init<Tool: ToolProtocol>(
            _ name: String, place: String? = Self.url, isUnattended: Bool = true, prefix: String = "",
            _ make: @escaping @Sendable (Invocation) -> Tool
        ) {
            (self.name, self.place, self.isUnattended, self.prefix) = (name, place, isUnattended, prefix)
            self.make = make
            invocation = { Tool.invocation(for: $0, of: "", atTerminal: $1) }
        }

        var testDescription: String { name }

        func asked(_ url: String, atTerminal: Bool = false) -> CredentialRequest? {
            let invocation = invocation(prefix + url, atTerminal)
            var tool = make(invocation)
            guard case .ask(.get(let request)) = tool.begin(with: invocation).next else { return nil }
            return request
        }
    }

    private static let rows = [
        Row("git", isUnattended: false) { _ in GitProtocol(.get) },
        Row("docker", place: Row.host) { DockerProtocol($0.arguments, version: "1") },
        Row("cargo", isUnattended: false, prefix: "sparse+") { CargoProtocol($0.arguments) },
        Row("go") { GoProtocol($0.arguments) },
        Row("bazel") { BazelProtocol($0.arguments) },
        Row("keyring") { KeyringProtocol($0.arguments, isTyped: false) },
        Row("kubectl") { KubectlProtocol($0.arguments, environment: $0.environment) },
        Row("terraform", place: Row.host + ".well-known/terraform.json") { TerraformProtocol($0.arguments) },
        Row("pnpm") { PnpmProtocol($0.arguments) },
        Row("aws") { AWSProtocol($0.arguments) },
        Row("gcloud") { GoogleProtocol($0.arguments, [:]) },
        Row("nuget") { NuGetProtocol($0.arguments) },
        Row("az", place: nil) { AzureCLIProtocol($0.arguments, environment: [:], version: "1") },
        Row("azd", place: nil) { AzureDeveloperCLIProtocol($0.arguments) },
    ]

    @Test(arguments: rows) func `what a tool asks is what its tool takes`(row: Row) throws {
        let request = try #require(row.asked(Row.url))
        #expect(request.place == row.place)
        #expect(request.isUnattended == row.isUnattended)
        if row.place == nil { #expect(request.explicit.scopes == ["\(Row.url)/.default"]) }
    }

    @Test func `kubectl alone waits for a user at a terminal only`() {
        let waiting = Self.rows.filter { $0.asked(Row.url, atTerminal: true)?.isUnattended == false }.map(\.name)
        #expect(waiting == ["git", "cargo", "kubectl"])
    }

    @Test func `a registry without a sparse index is told that it isn't served`() {
        let invocation = CargoProtocol.invocation(
            for: "https://github.com/rust-lang/crates.io-index", of: "cargo", atTerminal: false)
        var tool = CargoProtocol(invocation.arguments)
        let turn = tool.begin(with: invocation)
        #expect(turn.next == .end(0))
        #expect(String(decoding: turn.output, as: UTF8.self) == #"{"Err":{"kind":"url-not-supported"}}"# + "\n")
    }

    @Test func `Bazel names servers of gRPC by https`() throws {
        let invocation = BazelProtocol.invocation(for: "grpcs://cache.example:8980", of: "bazel", atTerminal: false)
        var tool = BazelProtocol(invocation.arguments)
        guard case .ask(.get(let request)) = tool.begin(with: invocation).next else {
            Issue.record("nothing is asked")
            return
        }
        #expect(request.place == "https://cache.example:8980/")
    }

    @Test func `what a tool never asks for is no question`() {
        let silent = Self.rows.filter { $0.asked("http://host.example/") == nil }.map(\.name)
        #expect(silent == ["go"])
    }
}
