import Addresses
import Files
import FoundationEssentials
import Glibc
import Secrets
import Testing

@testable import PluginConformance
@testable import PluginHost
@testable import PluginWire

/// Checks that the examples in the pages about plugins are what is tested.
struct DocumentationTests {
    private let checkout: String
    private let page: String

    init() throws {
        checkout = FileTrust.parent(of: FileTrust.parent(of: FileTrust.parent(of: #filePath)))
        page = try contents(of: checkout + "/docs/plugin-machines.md")
    }

    /// Returns the text of the only code block in that language.
    private func block(_ language: String) throws -> String {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "```\(language)"))
        let end = try #require(lines[start...].firstIndex(of: "```"))
        return lines[(start + 1)..<end].joined(separator: "\n") + "\n"
    }

    @Test(arguments: [("tutorial", 120), ("protocol", 300)])
    func `a page that everybody reads is short`(_ name: String, _ most: Int) throws {
        let lines = try contents(of: checkout + "/docs/plugin-\(name).md").split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count - 1 <= most)
    }

    @Test func `the page of issuers has every host of the manifest`() throws {
        let page = try contents(of: checkout + "/docs/issuers.md")
        let rows = PluginRegistry.firstParty.plugins.flatMap(\.issuers)
        #expect(!rows.isEmpty)
        for host in rows.flatMap({ $0.hosts + $0.gitHosts }) {
            #expect(page.contains(host.hasPrefix("*.") ? String(host.dropFirst(2)) : host), "\(host)")
        }
    }

    @Test func `the tutorial's password file works`() async throws {
        let tutorial = try contents(of: checkout + "/docs/plugin-tutorial.md")
        let folder = try TestFolder()
        for (language, name, mode) in [("toml", "plugin.toml", 0o644), ("sh", "notes.sh", 0o755)]
            as [(String, String, mode_t)]
        {
            let start = try #require(tutorial.firstRange(of: "```\(language)\n"))
            let end = try #require(tutorial[start.upperBound...].firstRange(of: "```"))
            let text = String(tutorial[start.upperBound..<end.lowerBound])
            if language == "sh" { #expect(text.split(separator: "\n").count <= 10) }
            try folder.write("notes/\(name)", text, mode: mode)
        }
        try folder.write(".notes", "git.example carol geheim\n")
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "LANYARD_PLUGIN_PATH": folder.path]
        let registry = PluginRegistry.discover(environment: environment, executable: "/nonexistent")
        let (plugin, row) = try #require(registry.source(named: "notes"))
        let trials = await ConformanceKit(plugin, environment: environment).run()
        #expect(!trials.isEmpty && trials.allSatisfy { $0.fault == nil }, "\(trials.filter { $0.fault != nil })")
        let host = PluginRunner(environment: environment)
        // It needn't know whose credential it is asked for.
        for (name, reference, username, secret) in [
            ("git.example", "", nil, "geheim"), ("other.example", "", nil, nil), ("git.example", "work", nil, nil),
            ("git.example", "", "carol", "geheim"), ("git.example", "", "bob", nil),
        ] as [(String, String, String?, String?)] {
            var request = PluginRequest(.lookup)
            request.lookup = PluginLookup(
                source: "notes", reference: reference, host: name, username: username, row: row.row)
            let found = try? await host.lookup(request, by: plugin, user: NobodyThere(), mayAsk: false)
            #expect(found?.secret?.reveal() == secret && found?.username?.reveal() == secret.map { _ in "carol" })
        }
    }

    private var answersWith42: FakeUser {
        FakeUser { event in
            if case .prompt(.secret, _) = event { .answer(Secret("42")) } else { nil }
        }
    }

    @Test func `the Swift example is the one that is built`() throws {
        #expect(try block("swift") == contents(of: checkout + "/Tests/ExamplePlugin/main.swift"))
    }

    @Test func `the Swift example works`() async throws {
        let plugin = Built.plugin("ExamplePlugin", name: "acme")
        let match = try AuthorityMatch.of(plugin, hosts: ["id.acme.example"])
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
        let result = try await host.run(.sample(), on: match, user: answersWith42)
        #expect(result.accessToken == Secret("acme-42"))
        try await expectApplications(of: plugin, at: match)
        try await host.signOut(.sample(.signOut), on: match, user: NobodyThere())
        var exchange = PluginRequest.sample(.exchange)
        (exchange.exchange, exchange.audience) = ("door", "front.doors.acme.example")
        exchange.accessToken = result.accessToken
        #expect(try await host.exchange(exchange, by: plugin).secret == Secret("door-acme-42"))
        let error = await #expect(throws: PluginError.self) {
            try await host.run(.sample(), on: match, user: NobodyThere())
        }
        #expect(error?.code == .interactionRequired)
    }

    /// Expects what the examples do for applications, and that they heed a memo if it can be theirs.
    private func expectApplications(of plugin: PluginManifest, at match: AuthorityMatch) async throws {
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
        var request = PluginRequest.sample(.authenticate)
        request.identity = PluginIdentity(.client)
        request.clientSecret = Secret("s")
        for (memo, kept) in [(nil, "2"), ("1", "1"), ("https://evil.example", "2")] {
            request.memo = memo
            let result = try await host.authenticate(request, by: plugin, at: match)
            #expect(result.accessToken == Secret("acme-application") && result.account == nil)
            #expect(result.memo == PluginMemo(kept, expiresIn: 86_400))
        }
    }

    @Test func `both examples keep to the protocol`() async throws {
        let folder = try TestFolder()
        try folder.write("acme/plugin.toml", try block("toml"))
        try folder.write("acme/acme.sh", try block("sh"), mode: 0o755)
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path], executable: "/nonexistent")
        var inSwift = Built.plugin("ExamplePlugin", name: "acme")
        inSwift.version = "1.0.0"
        for plugin in [inSwift, try #require(registry.plugins.first)] {
            let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
            #expect(!trials.isEmpty && trials.allSatisfy { $0.fault == nil }, "\(trials.filter { $0.fault != nil })")
        }
    }

    @Test func `the shell example works, installed as the page says`() async throws {
        let folder = try TestFolder()
        try folder.write("acme/plugin.toml", try block("toml"))
        try folder.write("acme/acme.sh", try block("sh"), mode: 0o755)
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path], executable: "/nonexistent")
        #expect(registry.problems.isEmpty)
        let match = try #require(registry.match(authority: "https://id.acme.example/acme", isConfigured: false))
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
        try await expectApplications(of: match.plugin, at: match)
        var request = PluginRequest.sample()
        request.authority = match.authority.description
        let result = try await host.run(request, on: match, user: answersWith42)
        #expect(result.accessToken == Secret("acme-42"))
        #expect(result.scopes == ["s1"])
        for (operation, user) in [
            (PluginRequest.Operation.authorize, NobodyThere() as any UserInterface), (.renew, answersWith42),
        ] {
            let error = await #expect(throws: PluginError.self) {
                try await host.run(.sample(operation), on: match, user: user)
            }
            #expect(error?.code == .interactionRequired)
        }
    }
}
