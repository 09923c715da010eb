import Addresses
import PluginWire
import SeededRandom
import SettingsFile
import Terminal
import Testing

@testable import PluginHost

struct ManifestTests {
    static let full = """
        name = "aad-tenant"
        version = "0.1.0"
        description = "one tenant"
        protocols = ["v1"]
        executable = "prog"
        arguments = ["aad-tenant"]
        kind = "aad"
        flows = ["browser", "device-code"]
        environments = ["login.microsoftonline.com login.windows.net"]

        [[authority]]
        hosts = ["login.microsoftonline.com", "*.B2clogin.com", "*"]
        path = "/{realm}"
        realms = ["!Common"]

        [[authority]]
        hosts = ["login.example"]
        path = "/tfp/{realm}/{policy:B2C_1*}"

        [[resource]]
        name = "Azure DevOps"
        hosts = ["dev.azure.com", "*.visualstudio.com"]
        scopes = ["499b84ac/.default"]
        git-hosts = ["dev.azure.com"]
        clients = ["azure-cli"]
        """

    static let more = """
        name = "more"
        version = "1"
        description = "all that is new"
        protocols = ["v1"]
        executable = "prog"
        kind = "oidc"
        client-ids = "uuid"
        realm-authority = "https://id.example/o/{realm:orgs.example}"
        identities = ["client", "managed"]
        variables = ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"]
        [[authority]]
        hosts = ["*"]
        path = "/{path}"

        [[exchange]]
        name = "acr"
        hosts = ["*.azurecr.io"]
        scopes = ["https://containerregistry.azure.net/.default"]

        [[issuer]]
        kind = "github"
        hosts = ["GitHub.com", "*.ghe.com"]
        scopes = ["repo", "gist"]
        flows = ["browser+secret", "device-code"]
        username = "x-access-token"
        revokes-on-renewal = true
        name = "GitHub"
        realms = ["GitHub"]
        registration = ["/settings/applications/new", "tick the box"]
        redirect-uri = "http://127.0.0.1"
        placeholder-usernames = ["own-token"]

        [[client]]
        name = "azure-cli"
        id = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
        description = "everybody's"
        redirect-uri = "http://localhost"
        flows = ["browser"]

        [[exchange]]
        name = "acr"
        hosts = ["*.azurecr.cn"]
        scopes = ["https://management.chinacloudapi.cn/.default"]
        [[exchange]]
        name = "keys"
        hosts = ["keys.example"]
        per-path = true
        """

    private func read(_ text: String) throws -> PluginManifest {
        try ManifestReader(text, file: "plugin.toml").read().manifest
    }

    @Test func `every field is read`() throws {
        let manifest = try read(Self.full)
        #expect(manifest.name == "aad-tenant")
        #expect(manifest.summary == "one tenant")
        #expect(manifest.protocols == ["v1"])
        #expect(manifest.arguments == ["aad-tenant"])
        #expect(manifest.kind == "aad")
        #expect(manifest.flows == [.browser, .deviceCode])
        #expect(manifest.authorities.count == 2)
        #expect(manifest.authorities[0].hosts == ["login.microsoftonline.com", "*.b2clogin.com", "*"])
        #expect(manifest.authorities[0].realms.isEmpty && manifest.authorities[0].exceptRealms == ["common"])
        #expect(manifest.authorities[1].path == [.literal("tfp"), .realm, .policy("b2c_1*")])
        #expect(manifest.environments == [["login.microsoftonline.com", "login.windows.net"]])
        #expect(manifest.resources.map(\.name) == ["Azure DevOps"])
        #expect(manifest.resources.map(\.gitHosts) == [["dev.azure.com"]])
        #expect(manifest.resources.map(\.clients) == [["azure-cli"]])
    }

    private static let broker = """
        name = "broker"
        version = "1"
        description = "what the machine holds"
        protocols = ["v1"]
        executable = "broker"
        flows = ["broker"]

        [[authority]]
        broker-of = "aad"
        hosts = ["login.microsoftonline.com"]
        path = "/{realm}"
        realms = ["!consumers"]
        """

    @Test func `a broker serves authorities of another plugin's kind, and none by itself`() throws {
        let registry = PluginRegistry(plugins: [try read(Self.full), try read(Self.broker)])
        func broker(_ authority: String) throws -> String? {
            let match = try #require(registry.match(authority: authority, isConfigured: true))
            #expect(match.plugin.name == "aad-tenant")
            return registry.broker(for: match)?.name
        }
        #expect(try broker("https://login.microsoftonline.com/contoso.com") == "broker")
        #expect(try broker("https://login.microsoftonline.com/consumers") == nil)
        #expect(try broker("https://login.example/contoso.com") == nil)
        #expect(
            PluginRegistry(plugins: [try read(Self.broker)]).match(
                authority: "https://login.microsoftonline.com/contoso.com", isConfigured: true) == nil)
    }

    @Test(arguments: [
        (
            "flows = [\"broker\"]", "flows = [\"browser\"]",
            "`flows` must name broker, since an [[authority]] has `broker-of`"
        ),
        ("/{realm}", "{realm}", "`path` is {realm}, not segments such as /tfp/{realm}/{policy}"),
    ])
    func `a broker that can't be one is a fault`(_ old: String, _ new: String, _ message: String) {
        let problem = #expect(throws: SettingsError.self) {
            try read(Self.broker.replacingFirst(old, with: new))
        }
        #expect(problem?.message.text == message)
    }

    @Test func `a broker is there only if the session bus may be`() throws {
        let broker = try read(Self.broker)
        let folder = try TestFolder()
        try folder.write("file", "")
        #expect(!broker.hasNeeds(in: [:]))
        #expect(!broker.hasNeeds(in: ["XDG_RUNTIME_DIR": folder.path]))
        #expect(!broker.hasNeeds(in: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.path)/file,guid=1"]))
        #expect(!broker.hasNeeds(in: ["DBUS_SESSION_BUS_ADDRESS": "tcp:host=bus.example,port=1"]))
        #expect(broker.hasNeeds(in: ["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/tmp/bus"]))
        #expect(try read(Self.full).hasNeeds(in: [:]))
    }

    @Test(
        arguments: [
            (nil, "contoso.azurecr.io", "https://containerregistry.azure.net/.default"),
            (nil, "CONTOSO.azurecr.cn", "https://management.chinacloudapi.cn/.default"),
            ("acr", "contoso.azurecr.cn", "https://management.chinacloudapi.cn/.default"),
            ("acr", "registry.contoso.com", "https://containerregistry.azure.net/.default"),
            (nil, "registry.contoso.com", nil), (nil, "azurecr.io", nil), (nil, "a.b.azurecr.io", nil),
            (nil, "contoso.azurecr.io:8443", nil), (nil, "contoso.azurecr.io.evil.example", nil),
            (nil, "contosoazurecr.io", nil), ("other", "contoso.azurecr.io", nil),
        ] as [(String?, String, String?)])
    func `an exchange is found by its host, or by its name for any host`(
        _ name: String?, _ host: String, _ scope: String?
    ) throws {
        let plugin = try read(Self.more)
        #expect(plugin.exchange(named: name, forHost: host)?.scopes.first == scope)
        // What a plugin finds on this machine has no authority; its tokens are for any exchange.
        var machines = PluginManifest(name: "machines")
        let authority = "https://localhost/managed_identity.machines"
        #expect(PluginRegistry(plugins: [machines, plugin]).machine(authority: authority) == nil)
        machines.identities = [.managed]
        let registry = PluginRegistry(plugins: [machines, plugin])
        #expect(registry.machine(authority: "https://localhost/managed_identity") == nil)
        let machine = try #require(registry.machine(authority: authority))
        #expect(registry.exchanger(named: name, forHost: host, at: machine)?.name == (scope == nil ? nil : plugin.name))
    }

    @Test func `what is needed, signed in, exchanged, and known beforehand is read`() throws {
        let manifest = try read(Self.more)
        #expect(manifest.identities == [.client, .managed])
        #expect(manifest.variables == ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"])
        #expect(manifest.authorities.map(\.path) == [[.rest]])
        #expect(manifest.exchanges.map(\.name) == ["acr", "acr", "keys"])
        #expect(manifest.exchanges.map(\.isPerPath) == [false, false, true])
        #expect(manifest.kinds == ["oidc", "github"])
        #expect(manifest.bareScopes == nil)
        #expect(try read("bare-scopes = \"https://api.example\"\n" + Self.more).bareScopes == "https://api.example")
        let issuer = try #require(manifest.issuers.first)
        #expect(issuer.hosts == ["github.com", "*.ghe.com"])
        #expect(issuer.flows == [.browser, .deviceCode] && issuer.secretFlows == [.browser])
        #expect(issuer.username == "x-access-token")
        #expect(issuer.revokesOnRenewal)
        #expect(issuer.placeholderUsernames == ["own-token"] && !issuer.hasAccounts(named: "Git"))
        #expect(issuer.name == "GitHub" && issuer.realms == ["GitHub"])
        let authority = try #require(AuthorityURL("https://git.example/hub/"))
        #expect(issuer.registrationPage(at: authority) == "https://git.example/hub/settings/applications/new")
        #expect(issuer.registration.advice == "tick the box")
        #expect(issuer.registration.redirectURI == "http://127.0.0.1")
        #expect(
            manifest.clients == [
                PluginClient(
                    name: "azure-cli", id: "04b07795-8ddb-461a-bbee-02f9e1bf7b46", summary: "everybody's",
                    redirectURI: "http://localhost", flows: [.browser])
            ])
        #expect(manifest.notes.isEmpty)
        #expect(manifest.clientIDs == .uuid)
        #expect(manifest.realmAuthority == "https://id.example/o/{realm}")
        #expect(manifest.realmDomain == "orgs.example")
    }

    @Test(arguments: [
        Fault(
            old: "IDENTITY_HEADER", new: "NOT-A-NAME", line: 10, message: "`variables` holds \""
        ),
        Fault(old: "\"*.azurecr.io\"", new: "\"*\"", line: 17, message: "`hosts` holds \""),
        Fault(old: "x-access-token", new: "x:y", line: 25, message: "`username` is \""),
        Fault(
            old: "/settings/applications/new", new: "http://github.com/x", line: 29,
            message: "`registration` is not a page"),
        Fault(
            old: "own-", new: "own:", line: 31,
            message: "`placeholder-usernames` holds \""),
        Fault(old: "= true", new: "= 1", line: 26, message: "`revokes-on-renewal` must be true or false"),
        Fault(old: "\"/{path}\"", new: "\"/{path}/x\"", line: 13, message: pathFault),
        Fault(old: "\"/{path}\"", new: "\"/{realm}/{path}\"", line: 13, message: pathFault),
        Fault(
            old: "\"http://localhost\"", new: "\"http://evil.example\"", line: 37,
            message: "`redirect-uri` is \""),
        Fault(
            old: "client-ids = \"uuid\"", new: "client-ids = \"guid\"", line: 7,
            message: "`client-ids` is guid, which is not a form of client ID"),
        Fault(
            old: "/o/{realm:orgs.example}", new: "/{realm}/o", line: 8, message: "`realm-authority` is \""),
        Fault(
            old: "orgs.example", new: "*.example", line: 8, message: "`realm-authority` is \""),
    ])
    func `a fault in what is new is told with its line`(_ fault: Fault) throws {
        let problem = #expect(throws: SettingsError.self) {
            try read(Self.more.replacingFirst(fault.old, with: fault.new))
        }
        #expect(problem?.message.text.hasPrefix(fault.message) == true, "\(String(describing: problem))")
        #expect(problem?.line == fault.line)
        if let hint = fault.hint { #expect(problem?.hint?.text == hint) }
    }

    private static let pathFault = "`path` is /"

    private static let shared = """

        [[shared-realm]]
        name = "Organizations"
        homes = ["A", "!9188040D-6c67-4c5b-b112-36a304b66dad"]
        """

    @Test func `what stands for many realms is read`() throws {
        let realm = try #require(try read(Self.full + "\n" + Self.shared).sharedRealms.first)
        #expect(realm.name == "organizations" && realm.homes == ["a"])
        #expect(realm.exceptHomes == ["9188040d-6c67-4c5b-b112-36a304b66dad"])
        #expect(!realm.narrows)
        #expect(try read(Self.full + "\n" + Self.shared.replacingFirst("homes =", with: "home =")).sharedRealms.isEmpty)
        #expect(try read(Self.full + "\n" + Self.shared.replacingFirst("\"A\", ", with: "")).sharedRealms[0].narrows)
        #expect(throws: SettingsError.self) {
            try read(Self.full + "\n" + Self.shared.replacingFirst("name", with: "#name"))
        }
    }

    @Test func `a key that isn't known is left out and noted`() throws {
        let manifest = try read(Self.full.replacingFirst("flows =", with: "flow ="))
        #expect(manifest.flows.isEmpty)
        #expect(manifest.notes.map(\.message) == ["unknown key `flow`"])
        #expect(manifest.notes.map(\.line) == [8])
        #expect(manifest.notes.map(\.hint) == ["did you mean `flows`?"])
        let table = try read(Self.full.replacingFirst("environments", with: "enviroments"))
        #expect(table.environments.isEmpty)
        #expect(table.notes.map(\.message) == ["unknown key `enviroments`"])
    }

    @Test(arguments: [("realms", "realm", "authority"), ("scopes =", "scope =", "resource")])
    func `a table with a key that isn't known is left out whole`(_ old: String, _ new: String, _ table: String) throws {
        let manifest = try read(Self.full.replacingFirst(old, with: new))
        // The key might have limited what the others say.
        #expect(manifest.authorities.count == (table == "authority" ? 1 : 2))
        #expect(manifest.resources.count == (table == "resource" ? 0 : 1))
        let key = new.prefix { $0 != " " }
        #expect(manifest.notes.map(\.message) == ["unknown key `\(key)`: this [[\(table)]] is left out"])
        #expect(manifest.notes.map(\.line) == [table == "authority" ? 14 : 23])
    }

    /// A change to the full manifest, and the error message for it.
    struct Fault: CustomTestStringConvertible, Sendable {
        let old: String
        let new: String
        let line: Int?
        let message: String
        var hint: String?
        var testDescription: String { new }
    }

    @Test(arguments: [
        Fault(
            old: "version =", new: "verson =", line: 2,
            message: "`version` is missing, and there is an unknown key `verson`", hint: "did you mean `version`?"
        ),
        Fault(
            old: "name = \"aad-tenant\"", new: "name = \"../x\"", line: 1,
            message: "`name` is \""),
        Fault(old: "name = \"aad-tenant\"", new: "name = 7", line: 1, message: "`name` must be a string in quotes"),
        Fault(old: "name = \"aad-tenant\"", new: "", line: nil, message: "`name` is missing"),
        Fault(
            old: "hosts = [\"login.example\"]", new: "hosts = []", line: 17,
            message: "`hosts` must hold at least one string"),
        Fault(
            old: "hosts = [\"login.example\"]", new: "hosts = [\"*foo\"]", line: 17,
            message: "`hosts` holds \""),
        Fault(
            old: "\"/{realm}\"", new: "\"/{tenant}\"", line: 13,
            message: "`path` is /{tenant}, not segments such as /tfp/{realm}/{policy}"),
        Fault(
            old: "\"/{realm}\"", new: "\"/{realm}/{realm}\"", line: 13,
            message: "`path` is /{realm}/{realm}, not segments such as /tfp/{realm}/{policy}"),
        Fault(
            old: "\"/{realm}\"", new: "\"realm\"", line: 13,
            message: "`path` is realm, not segments such as /tfp/{realm}/{policy}"),
        Fault(
            old: "flows = [\"browser\"", new: "flows = [7", line: 8,
            message: "`flows` holds something other than a quoted string"),
        Fault(old: "\"dev.azure.com\"", new: "\"*\"", line: 22, message: "`hosts` holds \""),
    ])
    func `a fault is told with its line`(_ fault: Fault) throws {
        let text = Self.full.replacingFirst(fault.old, with: fault.new)
        let problem = #expect(throws: SettingsError.self) { try read(text) }
        #expect(problem?.message.text.hasPrefix(fault.message) == true, "\(String(describing: problem))")
        #expect(problem?.line == fault.line)
        if let hint = fault.hint { #expect(problem?.hint?.text == hint) }
    }

    @Test func `what is not TOML is told with its line`() {
        let problem = #expect(throws: SettingsError.self) { try read("name = \"x\"\nversion = = 1\n") }
        #expect(problem?.line == 2)
    }

    @Test(arguments: [
        "[\n", "[[\n", "a = 1\n [ \t\n[b]", "[\r\n", "[[", "[.a]\n", "[\u{0}a]", "\u{FEFF}[\n", "[\u{A0}a]",
    ])
    func `what would break the TOML parser never reaches it`(_ text: String) {
        #expect(throws: SettingsError.self) { try read(text) }
    }

    @Test func `of random bytes a manifest that holds is read, or a fault is told with a line that is there`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            var bytes = Array(Self.full.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            guard let text = String(validating: bytes, as: UTF8.self) else { continue }
            do {
                let manifest = try read(text)
                let isWhole = [manifest.name, manifest.version].allSatisfy { !$0.isEmpty }
                if !isWhole { Issue.record("taken without what each needs: \(text)") }
            } catch let problem as SettingsError {
                let lines = 1...(text.utf8.count { $0 == 0x0A } + 1)
                if let line = problem.line, !lines.contains(line) { Issue.record("line \(line) is none of \(text)") }
                if problem.message.text.isEmpty { Issue.record("nothing is told of \(text)") }
            } catch {
                Issue.record("\(error) is no fault of a manifest")
            }
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ old: String, with new: String) -> String {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(old) {
                return self[..<start] + new + self[index(start, offsetBy: old.count)...]
            }
            start = index(after: start)
        }
        return self
    }
}
