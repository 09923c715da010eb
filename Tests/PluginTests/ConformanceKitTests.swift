import PluginWire
import SettingsFile
import Terminal
import Testing

@testable import PluginConformance
@testable import PluginHost

/// The conformance kit's findings about misbehaving plugins.
@Suite struct ConformanceKitTests {
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
            faults["answers a request that lacks its keys with an error"]
                == "renew: its error has the unknown reason `a-later-reason`")
    }

    @Test func `a plugin whose errors the host can't read`() async {
        let faults = await faults("no-number")
        for trial in [
            "answers an operation that it doesn't know with unsupported", "survives a memo that isn't its own",
        ] {
            #expect(
                faults[trial]
                    == "it sent a broken `error` (line 1), with an invalid `retry_after`: it must be a whole number of seconds"
            )
        }
    }

    @Test(arguments: [(true, false, "revoke"), (false, true, "register"), (false, false, nil)])
    func `a manifest with an operation that the plugin doesn't do`(
        _ revokes: Bool, _ registers: Bool, _ operation: String?
    ) async {
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["knows-nothing"])
        if revokes { plugin.supports.insert(.revoke) }
        if registers { plugin.supports.insert(.register) }
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        let fault = trials.first { $0.name == "does the operations that its manifest names" }?.fault
        #expect(fault == operation.map { "it answers \($0) with unsupported" })
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
            "insists", "takes no for an answer if the user refuses",
            "it gave a result although `prompt` was replied to with cancelled"
        ),
        (
            "other-flow", "signs in by no other flow than those that it is asked for",
            "it went on with `prompt`, although no flow that it has was asked for"
        ),
        ("ignores-parameters", "supports query-parameters", "its page has no x_lanyard_check=1"),
        ("ignores-parameters", "supports prompt", "its page has no prompt=login"),
    ])
    func `a sign-in that isn't what was asked for`(_ behaviour: String, _ trial: String, _ fault: String) async {
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
        plugin.flows = [.browser]
        plugin.supports = [.prompt, .queryParameters]
        let trials = await ConformanceKit(plugin, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(trials.first { $0.name == trial }?.fault == fault)
    }
}
