import Glibc
import PluginWire
import SettingsFile
import Terminal
import Testing

@testable import PluginConformance
@testable import PluginHost

/// The conformance kit's findings about misbehaving plugins.
@Suite struct ConformanceKitTests {
    /// A server on this machine that nobody need accept connections of.
    private static func server() throws -> (descriptor: Int32, port: UInt16) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(server, $0, size) == 0 && listen(server, 64) == 0 && getsockname(server, $0, &size) == 0
            }
        }
        try #require(isBound)
        return (server, UInt16(bigEndian: address.sin_port))
    }

    private func faults(_ behaviour: String, patience: Duration = .seconds(5)) async -> [String: String] {
        let plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
        let kit = ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"], patience: patience)
        let trials = await kit.run()
        return Dictionary(trials.compactMap { trial in trial.fault.map { (trial.name, $0) } }) { $1 }
    }

    @Test func `a plugin that answers everything with tokens`() async {
        let faults = await faults("polite")
        #expect(faults["describes itself as its manifest does"] == "it gave a result with no `name`")
        #expect(faults["answers an operation that it doesn't know with unsupported"] == "it gave no error")
    }

    @Test func `a plugin whose reason nobody knows`() async {
        let faults = await faults("error")
        #expect(
            faults["answers a request that lacks its keys with invalid-request"]
                == "authorize: its error is `throttled`, not `invalid-request`")
        #expect(
            faults["answers a probe of no authority with an error"]
                == "its error has the unknown reason `a-later-reason`")
    }

    @Test func `a plugin whose errors the host can't read`() async {
        let faults = await faults("no-number")
        for trial in [
            "answers an operation that it doesn't know with unsupported", "survives a memo that isn't its own",
        ] {
            #expect(
                faults[trial]
                    == "it sent a broken `error` (line 1), with an invalid `retry_after`: it must be a whole number of seconds from now on, at most ten years"
            )
        }
    }

    @Test(arguments: PluginSupport.allCases.filter { $0 != .exchangesOnly })
    func `a manifest with a word that the plugin doesn't do`(_ word: PluginSupport) async {
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["knows-nothing"])
        plugin.supports = [word]
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        let fault = trials.first { $0.name == "supports \(word.rawValue)" }?.fault
        #expect(fault == "its manifest names it, but its error is `unsupported`")
        plugin.authorities = []
        guard ![.register, .revoke, .tokenExchange].contains(word) else { return }
        let others = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(
            others.first { $0.name == "supports \(word.rawValue)" }?.fault
                == "no request asks for it, since the manifest has no [[authority]]")
    }

    @Test func `a manifest without words has no trial of one`() async {
        let plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["knows-nothing"])
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(!trials.contains { $0.name.hasPrefix("supports") })
    }

    @Test func `a plugin whose manifest has no flows, and that opens a page though none was asked for`() async {
        let faults = await faults("ignores-parameters")
        #expect(
            faults["signs in by no other flow than those that it is asked for"]
                == "it went on with `open-url`, although no flow that it has was asked for")
    }

    @Test func `what comes after the answer is named, with its line`() async {
        for behaviour in ["twice", "twice-later"] {
            let faults = await faults(behaviour)
            #expect(
                faults["answers a probe of no authority with an error"]
                    == "it sent `result` (line 10) after its answer")
        }
    }

    @Test func `a secluded plugin reaches nothing`() async throws {
        guard let seclusion = await Seclusion() else {
            try Test.cancel("this system gives users no networks of their own")
        }
        let (server, port) = try Self.server()
        defer { close(server) }
        for (seclusion, isReached) in [(seclusion, false), (nil, true)] {
            let plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["connects", "\(port)"])
            let trials = await ConformanceKit(
                plugin, environment: ["PATH": "/usr/bin:/bin"], seclusion: seclusion
            ).run()
            let fault = trials.first { $0.name == "answers a probe of no authority with an error" }?.fault
            #expect(fault == (isReached ? "it gave no error" : nil))
        }
    }

    @Test func `a plugin that takes any source of assertions`() async {
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["application"])
        plugin.identities = [.client]
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        let trial = "answers a source of assertions that it doesn't know with unsupported"
        #expect(trials.first { $0.name == trial }?.fault == "it gave no error")
    }

    @Test func `a manifest with a key that nobody knows`() async {
        var plugin = Built.plugin("ExamplePlugin", name: "acme")
        plugin.version = "1.0.0"
        plugin.notes = [SettingsError(file: "/p/plugin.toml", line: 3, message: "unknown key `nmae`")]
        plugin.identities = [.managed]
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        let faults = trials.compactMap(\.fault)
        #expect(
            faults == [
                "/p/plugin.toml:3: unknown key `nmae`", "its identity[] is not what its manifest names",
                "its identity[] is not what its manifest names",
            ])
    }

    @Test(arguments: [("/{realm}", [String](), true), ("/{realm}", ["Common"], false), ("/fixed", [], false)])
    func `a manifest with a shared realm that it serves nowhere`(_ path: String, _ except: [String], isServed: Bool)
        async
    {
        var plugin = Built.plugin("ExamplePlugin", name: "acme")
        plugin.version = "1.0.0"
        plugin.sharedRealms = [SharedRealm(name: "common")]
        var authority = AuthorityPattern(hosts: ["id.example"], path: [path == "/fixed" ? .literal("fixed") : .realm])
        authority.exceptRealms = except.map { $0.lowercased() }
        plugin.authorities = [authority]
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(trials.compactMap(\.fault) == (isServed ? [] : ["its [[shared-realm]] common is in no [[authority]]"]))
    }

    @Test(arguments: [
        ("e11e0000-0000-4000-8000-000000000000", "one", PluginRequest.Flow.browser, nil as String?),
        (
            "not-a-uuid", "one", PluginRequest.Flow.browser,
            "its [[client]] one has an id that is none of its client-ids"
        ),
        (
            "e11e0000-0000-4000-8000-000000000000", "two", PluginRequest.Flow.browser,
            "its [[client]] two is there twice"
        ),
        (
            "e11e0000-0000-4000-8000-000000000000", "one", PluginRequest.Flow.deviceCode,
            "its [[client]] one has flows that the plugin has not"
        ),
    ])
    func `a manifest with a client that nobody could use`(
        _ id: String, _ name: String, _ flow: PluginRequest.Flow, fault: String?
    ) async {
        var plugin = Built.plugin("ExamplePlugin", name: "acme")
        plugin.flows = [.browser]
        plugin.clientIDs = .uuid
        var client = PluginClient(name: name, id: id)
        client.flows = [flow]
        plugin.clients = [client, PluginClient(name: "two", id: "e11e0000-0000-4000-8000-000000000002")]
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(trials.first { $0.name == "knows the clients that its manifest names" }?.fault == fault)
    }

    @Test func `a plugin that hangs`() async {
        let faults = await faults("hangs", patience: .milliseconds(100))
        #expect(
            faults["describes itself as its manifest does"]
                == "it did not answer in time, and wrote nothing: does it read only up to the blank line, and flush?")
        // The others would find the same.
        #expect(faults.count == 1)
    }

    @Test func `a plugin that stops in the middle of a line`() async {
        let faults = await faults("dies-mid-line")
        let name = "describes itself as its manifest does"
        #expect(faults[name] == "it wrote “event=resu” without a line feed")
    }

    @Test func `a program that isn't there`() async {
        let plugin = Built.plugin("no-such-program", name: "fake")
        let trials = await ConformanceKit(plugin, environment: [:]).run()
        #expect(trials.compactMap(\.fault) == ["it could not be started: No such file or directory"])
    }

    @Test func `what a failed trial shows`() async {
        let plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["traceback"])
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        let trial = trials.first { $0.fault != nil }
        #expect(trial?.fault == "it ended without an answer")
        #expect(
            trial?.evidence == [
                "asked describe", "it exited with status 1", "its standard error:", "    line 1", "    line 2", "    …",
                "    line 5", "    KeyError: 'client_id'",
            ])
    }

    @Test(arguments: [
        (
            "insists", "ends cleanly if the user refuses",
            "it gave a result although `prompt` was replied to with cancelled"
        ),
        (
            "other-flow", "signs in by no other flow than those that it is asked for",
            "it went on with `prompt`, although no flow that it has was asked for"
        ),
        ("ignores-parameters", "supports query-parameters", "its page has no x_lanyard_check=1"),
        ("ignores-parameters", "supports prompt", "its page has no prompt=login"),
        ("ignores-parameters", "supports claims", "its page has no \"auth_time\""),
        ("ignores-parameters", "supports resources", "its page has no resource=https://api.example/x"),
        ("ignores-parameters", "supports redirect-uri", "its page has no redirect_uri=http://127.0.0.1:8400"),
        ("ignores-parameters", "supports also-consent", "its page has no https://api.example/.default"),
        ("echoes-parameters", "supports claims", nil), ("echoes-parameters", "supports resources", nil),
        ("echoes-parameters", "supports redirect-uri", nil), ("echoes-parameters", "supports also-consent", nil),
        ("echoes-parameters", "supports client-secrets", "its page has the secret in its URL"),
    ])
    func `a sign-in that isn't what was asked for`(_ behaviour: String, _ trial: String, _ fault: String?) async throws
    {
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
        plugin.flows = [.browser]
        plugin.supports = Set(PluginSupport.allCases)
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(try #require(trials.first { $0.name == trial }).fault == fault)
    }
}
