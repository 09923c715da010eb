import PluginWire
import Terminal
import Testing

@testable import PluginHost

/// Which of two plugins that name the same place is asked, and said to be.
@Suite struct PrecedenceTests {
    private static func plugin(_ name: String, _ host: String, _ path: String, isOwn: Bool = false) throws
        -> PluginManifest
    {
        let text = """
            name = "\(name)"\nversion = "1"\ndescription = "d"\nprotocols = ["v1"]\nexecutable = "x"
            [[authority]]\nhosts = ["\(host)"]\npath = "\(path)"
            """
        var plugin = try ManifestReader(text, file: "plugin.toml").read().manifest
        plugin.origin = isOwn ? nil : name
        return plugin
    }

    @Test(arguments: [
        ("git.example", "/{path}", "git.example", "/{path}", "one answers for git.example before two"),
        ("git.example", "/{realm}", "git.example", "/{path}", "one answers for git.example before two"),
        ("*.git.example", "/{path}", "a.git.example", "/{path}", "two answers for a.git.example before one"),
        ("a.git.example", "/{path}", "*.git.example", "/{path}", "one answers for a.git.example before two"),
        ("*.*.example", "/{path}", "*.git.example", "/{path}", "one answers for *.git.example before two"),
        ("git.example", "/{path}", "git.example", "/team/{path}", "two answers for git.example before one"),
        ("git.example", "/team", "git.example", "/{policy:te*}", "one answers for git.example before two"),
        ("git.example", "/team", "git.example", "/{policy:x*}", nil),
        ("git.example", "/one", "git.example", "/two", nil), ("git.example", "/a/b", "git.example", "/{realm}", nil),
        ("*.git.example", "/{path}", "a.b.git.example", "/{path}", nil),
        ("*", "/{path}", "git.example", "/{path}", nil),
        ("git.example:8443", "/{path}", "git.example", "/{path}", nil),
    ])
    func `two plugins that name a host`(
        _ host: String, _ path: String, _ otherHost: String, _ otherPath: String, _ text: String?
    ) throws {
        let plugins = [try Self.plugin("one", host, path), try Self.plugin("two", otherHost, otherPath)]
        let registry = PluginRegistry(plugins: plugins)
        #expect(registry.precedences.map(\.text.text) == [text].compactMap(\.self))
        for plugin in plugins { #expect(registry.precedences(with: plugin) == registry.precedences) }
    }

    @Test func `what lanyard's own plugins share isn't told`() throws {
        let own = [
            try Self.plugin("one", "git.example", "/{path}", isOwn: true),
            try Self.plugin("two", "git.example", "/{path}", isOwn: true),
        ]
        #expect(PluginRegistry(plugins: own).precedences.isEmpty)
        #expect(PluginRegistry.firstParty.precedences.isEmpty)
        // One that isn't installed would be found first.
        let other = try Self.plugin("three", "git.example", "/{path}")
        let told = PluginRegistry(plugins: own).precedences(with: other).map(\.text.text)
        #expect(told == ["one", "two"].map { "three answers for git.example before \($0)" })
    }

    @Test func `an authority's other plugins are those that name its host`() throws {
        let registry = PluginRegistry(plugins: [
            try Self.plugin("one", "git.example", "/{path}"), try Self.plugin("two", "*.example", "/{path}"),
            try Self.plugin("three", "*", "/{path}"), try Self.plugin("four", "git.example", "/a/{realm}"),
        ])
        let match = try #require(registry.match(authority: "https://git.example/b", isConfigured: true))
        #expect(match.plugin.name == "one")
        #expect(registry.passedOver(for: match).map(\.name) == ["two"])
    }

    @Test func `a plugin whose tokens are only for exchanges has any host only by its kind`() throws {
        var first = try Self.plugin("first", "*", "/{path}")
        first.kind = "center"
        first.supports = [.exchangesOnly]
        let registry = PluginRegistry(plugins: [first, try Self.plugin("second", "*", "/{path}")])
        func name(_ kind: String?) -> String? {
            registry.match(authority: "https://sso.contoso.com/start", kind: kind, isConfigured: true)?.plugin.name
        }
        #expect(name(nil) == "second" && name("center") == "first")
    }

    @Test func `a source of two plugins is the first one's`() throws {
        var plugins = [
            try Self.plugin("one", "a.example", "/{path}"), try Self.plugin("two", "b.example", "/{path}"),
        ]
        for index in plugins.indices { plugins[index].sources = [PluginSource(name: "pass", row: .init())] }
        let registry = PluginRegistry(plugins: plugins)
        #expect(registry.precedences.map(\.text.text) == ["one answers for the source pass before two"])
        #expect(registry.source(named: "pass")?.plugin.name == "one")
    }
}
