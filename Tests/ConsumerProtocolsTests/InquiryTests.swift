import ConsumerProtocols
import CredentialEngine
import Rules
import Testing

/// Each tool's inquiry for a URL, which its own consumer must understand.
@Suite struct InquiryTests {
    /// A tool, and its request for a URL.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable (Inquiry) -> any Consumer
        let inquiry: @Sendable (String, Bool) -> Inquiry
        var place: String? = Self.url
        var isUnattended = true
        /// The tool's prefix for the URL of an index.
        var prefix = ""

        static let url = "https://host.example:8443/a/feed"
        static let host = "https://host.example:8443/"

        init<Tool: Consumer>(
            _ name: String, place: String? = Self.url, isUnattended: Bool = true, prefix: String = "",
            _ make: @escaping @Sendable (Inquiry) -> Tool
        ) {
            (self.name, self.place, self.isUnattended, self.prefix) = (name, place, isUnattended, prefix)
            self.make = make
            inquiry = { Tool.inquiry(for: $0, atTerminal: $1) }
        }

        var testDescription: String { name }

        func asked(_ url: String, atTerminal: Bool = false) -> CredentialRequest? {
            let inquiry = inquiry(prefix + url, atTerminal)
            var consumer = make(inquiry)
            guard case .ask(.get(let request)) = consumer.hear(inquiry).next else { return nil }
            return request
        }
    }

    private static let rows = [
        Row("git", isUnattended: false) { _ in GitConsumer(.get) },
        Row("docker", place: Row.host) { DockerConsumer($0.arguments, version: "1") },
        Row("cargo", isUnattended: false, prefix: "sparse+") { CargoConsumer($0.arguments) },
        Row("go") { GoConsumer($0.arguments) },
        Row("bazel") { BazelConsumer($0.arguments) },
        Row("keyring") { KeyringConsumer($0.arguments, isTyped: false) },
        Row("kubectl") { KubernetesConsumer($0.arguments, environment: $0.environment) },
        Row("terraform", place: Row.host + ".well-known/terraform.json") { TerraformConsumer($0.arguments) },
        Row("pnpm") { PnpmConsumer($0.arguments) },
        Row("aws") { AWSConsumer($0.arguments) },
        Row("gcloud") { GoogleConsumer($0.arguments, [:]) },
        Row("nuget") { NuGetConsumer($0.arguments) },
        Row("az", place: nil) { AzureCLIConsumer($0.arguments, environment: [:], version: "1") },
    ]

    @Test(arguments: rows) func `what a tool asks is what its consumer takes`(row: Row) throws {
        let request = try #require(row.asked(Row.url))
        #expect(request.place == row.place)
        #expect(request.isUnattended == row.isUnattended)
        if row.place == nil { #expect(request.wish.scopes == ["\(Row.url)/.default"]) }
    }

    @Test func `kubectl alone waits for a person at a terminal only`() {
        let waiting = Self.rows.filter { $0.asked(Row.url, atTerminal: true)?.isUnattended == false }.map(\.name)
        #expect(waiting == ["git", "cargo", "kubectl"])
    }

    @Test func `a registry without a sparse index is told that it isn't served`() {
        let inquiry = CargoConsumer.inquiry(for: "https://github.com/rust-lang/crates.io-index", atTerminal: false)
        var consumer = CargoConsumer(inquiry.arguments)
        let turn = consumer.hear(inquiry)
        #expect(turn.next == .end(0))
        #expect(String(decoding: turn.output, as: UTF8.self) == #"{"Err":{"kind":"url-not-supported"}}"# + "\n")
    }

    @Test func `Bazel names servers of gRPC by https`() throws {
        let inquiry = BazelConsumer.inquiry(for: "grpcs://cache.example:8980", atTerminal: false)
        var consumer = BazelConsumer(inquiry.arguments)
        guard case .ask(.get(let request)) = consumer.hear(inquiry).next else {
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
