import Addresses
import Files
import Glibc
import SettingsFile
import Terminal
import Testing

@testable import PluginHost

struct RegistryTests {
    private static func toml(_ name: String, version: String = "1", executable: String = "prog", more: String = "")
        -> String
    {
        "name = \"\(name)\"\nversion = \"\(version)\"\ndescription = \"d\"\nprotocols = [\"v1\"]\nexecutable = \"\(executable)\"\n\(more)"
    }

    private static func install(_ name: String, in folder: TestFolder, at place: String, version: String = "1") throws {
        try folder.write("\(place)/\(name)/plugin.toml", Self.toml(name, version: version))
        try folder.write("\(place)/\(name)/prog", "#!/bin/sh\n", mode: 0o755)
    }

    @Test func `plugins are found in order, and a broken one does not hide the others`() throws {
        let folder = try TestFolder()
        let program = try folder.write("pre/bin/lanyard", "", mode: 0o755)
        try Self.install("one", in: folder, at: "path", version: "path")
        try Self.install("one", in: folder, at: "data/lanyard/plugins", version: "data")
        try Self.install("two", in: folder, at: "data/lanyard/plugins", version: "data")
        try Self.install("two", in: folder, at: "pre/lib/lanyard/plugins", version: "prefix")
        try Self.install("three", in: folder, at: "pre/lib/lanyard/plugins", version: "prefix")
        try folder.write("path/broken/plugin.toml", "name = 1\n")
        try folder.write("path/empty/README", "")
        let registry = PluginRegistry.discover(
            environment: [
                "LANYARD_PLUGIN_PATH": "relative:\(folder.path)/path", "XDG_DATA_HOME": folder.path + "/data",
            ],
            executable: program)
        #expect(registry.plugins.map { "\($0.name) \($0.version)" } == ["one path", "two data", "three prefix"])
        #expect(
            registry.problems.first?.description
                == "\(folder.path)/path/broken/plugin.toml:1: `name` must be a string in quotes")
        // The others serve nothing.
        #expect(registry.problems.dropFirst().map(\.plugin) == ["one", "two", "three"])
    }

    @Test func `the checkout's plugins are found from its build tree`() throws {
        let folder = try TestFolder()
        let program = try folder.write("co/.build-x/debug/lanyard", "", mode: 0o755)
        try folder.write("co/.build-x/debug/prog", "", mode: 0o755)
        try folder.write("co/plugins/aad/plugin.toml", Self.toml("aad"))
        let registry = PluginRegistry.discover(environment: [:], executable: program)
        #expect(registry.plugins.map(\.executable) == [folder.path + "/co/.build-x/debug/prog"])
    }

    @Test func `home is searched where no data folder is named`() throws {
        let folder = try TestFolder()
        try Self.install("one", in: folder, at: ".local/share/lanyard/plugins")
        let registry = PluginRegistry.discover(environment: ["HOME": folder.path], executable: "/nonexistent")
        #expect(registry.plugins.map(\.name) == ["one"])
    }

    @Test(arguments: [
        ("prog", "plugins/x/prog"), ("beside", "pre/bin/beside"), ("lib", "pre/lib/lanyard/lib"),
        ("./sub/tool", "plugins/x/sub/tool"), ("sub/tool", "plugins/x/sub/tool"), ("/bin/sh", nil),
    ])
    func `an executable is found`(_ name: String, _ expected: String?) throws {
        let folder = try TestFolder()
        let program = try folder.write("pre/bin/lanyard", "", mode: 0o755)
        for file in ["pre/bin/beside", "pre/bin/prog", "pre/lib/lanyard/lib", "plugins/x/prog", "plugins/x/sub/tool"] {
            try folder.write(file, "", mode: 0o755)
        }
        try folder.write("plugins/x/plugin.toml", Self.toml("x", executable: name))
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path + "/plugins"], executable: program)
        let path = try #require(registry.plugins.first?.executable)
        #expect(path == (expected.map { folder.path + "/" + $0 } ?? FileTrust.realPath(name)))
    }

    @Test(arguments: ["../evil", "sub/../../evil", "out/evil", "missing", "..", "plain-file", "sub", "a//b"])
    func `an executable outside the folder, or that is none, is refused`(_ name: String) throws {
        let folder = try TestFolder()
        try folder.write("plugins/evil", "", mode: 0o755)
        try folder.write("outside/evil", "", mode: 0o755)
        try folder.write("plugins/x/sub/tool", "", mode: 0o755)
        try folder.write("plugins/x/plain-file", "")
        folder.link("plugins/x/out", to: folder.path + "/outside")
        try folder.write("plugins/x/plugin.toml", Self.toml("x", executable: name))
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path + "/plugins"], executable: "/bin/sh")
        #expect(registry.plugins.isEmpty)
        #expect(registry.problems.count == 1)
        let end =
            switch name {
            case "plain-file": "is not executable"
            case "sub": "is a folder"
            case "missing": "does not exist"
            case "out/evil": "is a link that leads out of the plugin's folder"
            default: "is none that a plugin can have"
            }
        #expect(registry.problems.first?.message.text.hasSuffix(end) == true)
    }

    @Test(arguments: ["plugins/x/plugin.toml", "plugins/x/prog", "plugins/x", "plugins", "target/prog", "target"])
    func `what another user could have written is refused`(_ culprit: String) throws {
        let folder = try TestFolder()
        try folder.write("target/prog", "", mode: 0o755)
        try folder.write("plugins/x/plugin.toml", Self.toml("x"))
        if culprit.hasPrefix("target") {
            folder.link("plugins/x/prog", to: folder.path + "/target/prog")
        } else {
            try folder.write("plugins/x/prog", "", mode: 0o755)
        }
        chmod(folder.path + "/" + culprit, 0o777)
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path + "/plugins"], executable: "/bin/sh")
        #expect(registry.plugins.isEmpty)
        #expect(
            registry.problems.map(\.description) == [
                "\(folder.path)/\(culprit): could have been written by another user"
            ])
        #expect(registry.problems.first?.command == ["chmod", "go-w", "\(folder.path)/\(culprit)"])
    }

    @Test(arguments: [
        ("name", "another", "the name another differs from its folder's, x"),
        ("protocol", "v9", "the plugin speaks v9, not v1"),
    ])
    func `a manifest that does not fit is refused`(_ what: String, _ value: String, _ message: String) throws {
        let folder = try TestFolder()
        let text = what == "name" ? Self.toml(value) : Self.toml("x").replacing("v1", with: value)
        try folder.write("plugins/x/plugin.toml", text)
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path + "/plugins"], executable: "/bin/sh")
        #expect(registry.problems.map(\.message.text) == [message])
    }
}

struct MatchTests {
    private let registry: PluginRegistry

    init() throws {
        let cloud = "\"login.microsoftonline.com\", \"login.windows.net\", \"*\""
        let environment = "environments = [\"login.microsoftonline.com login.windows.net\"]\n"
        registry = PluginRegistry(plugins: [
            try Self.plugin(
                "b2c",
                """
                kind = "b2c"
                [[authority]]
                hosts = ["*.b2clogin.com", "*"]
                path = "/tfp/{realm}/{policy}"
                [[authority]]
                hosts = ["*.b2clogin.com"]
                path = "/{realm}/{policy:B2C_1*}"
                """),
            try Self.plugin(
                "common",
                "kind = \"aad\"\n\(environment)[[authority]]\nhosts = [\(cloud)]\npath = \"/{realm}\"\nrealms = [\"common\", \"people\"]\n"
                    + "[[shared-realm]]\nname = \"Common\"\n[[shared-realm]]\nname = \"people\"\nhomes = [\"people\"]\n"
            ),
            try Self.plugin(
                "tenant",
                "kind = \"aad\"\n\(environment)[[authority]]\nhosts = [\(cloud)]\npath = \"/{realm}\"\nrealms = [\"!common\", \"!people\"]\n"
                    + "[[resource]]\nname = \"ADO\"\nhosts = [\"dev.azure.com\", \"*.visualstudio.com\", \"*.pkgs.visualstudio.com\", \"*.*.databricks.example\"]\nscopes = [\"s\"]\n"
            ),
        ])
    }

    private static func plugin(_ name: String, _ more: String) throws -> PluginManifest {
        try ManifestReader(
            "name = \"\(name)\"\nversion = \"1\"\ndescription = \"d\"\nprotocols = [\"v1\"]\nexecutable = \"p\"\n\(more)",
            file: "f"
        ).read().manifest
    }

    /// An authority, and its interpretation: plugin, environment, realm, policy.
    struct Row: CustomTestStringConvertible, Sendable {
        let authority: String
        var kind: String?
        var isConfigured = false
        let expected: String?
        var testDescription: String { "\(authority) \(kind ?? "") \(isConfigured)" }
    }

    @Test(arguments: [
        Row(
            authority: "https://login.microsoftonline.com/common", expected: "common login.microsoftonline.com common -"
        ),
        Row(authority: "https://LOGIN.windows.net:443/Common/", expected: "common login.microsoftonline.com common -"),
        Row(
            authority: "https://login.windows.net/Contoso.com",
            expected: "tenant login.microsoftonline.com contoso.com -"),
        Row(authority: "https://login.windows.net/Contoso.com", kind: "b2c", expected: nil),
        Row(authority: "https://c.b2clogin.com/tfp/c.example/Susi", expected: "b2c c.b2clogin.com c.example Susi"),
        Row(authority: "https://c.b2clogin.com/c.example/b2c_1_x", expected: "b2c c.b2clogin.com c.example b2c_1_x"),
        Row(authority: "https://c.b2clogin.com/c.example/other", expected: nil),
        Row(authority: "https://b2clogin.com/tfp/c/p", expected: nil),
        Row(authority: "https://xb2clogin.com/tfp/c/p", expected: nil),
        Row(authority: "https://localhost:8443/common", expected: nil),
        Row(authority: "https://localhost:8443/common", isConfigured: true, expected: "common localhost:8443 common -"),
        Row(authority: "https://localhost:8443/tfp/c/p", isConfigured: true, expected: "b2c localhost:8443 c p"),
        Row(authority: "http://login.microsoftonline.com/common", isConfigured: true, expected: nil),
        Row(authority: "https://u@login.microsoftonline.com/common", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com/common?x", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com/common#x", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com/a/../common", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com/%63ommon", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com//common", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com/", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com./common", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com:99999/common", isConfigured: true, expected: nil),
        Row(authority: "https://login.microsoftonline.com\u{0}/common", isConfigured: true, expected: nil),
    ])
    func `an authority comes to one plugin`(_ row: Row) {
        let match = registry.match(authority: row.authority, kind: row.kind, isConfigured: row.isConfigured)
        let text = match.map { "\($0.plugin.name) \($0.environment) \($0.realm) \($0.policy ?? "-")" }
        #expect(text == row.expected)
    }

    @Test func `the case of an issuer's path counts, and its URL comes back`() throws {
        var issuers = PluginManifest(name: "issuers")
        issuers.kind = "oidc"
        issuers.authorities = [AuthorityPattern(hosts: ["id.example"], path: [.rest])]
        let registry = PluginRegistry(plugins: [issuers])
        let urls = ["https://id.example/realms/a", "https://id.example/realms/A", "https://id.example/Realms/JA"]
        let matches = try urls.map { try #require(registry.match(authority: $0, isConfigured: true)) }
        #expect(Set(matches.map(\.realm)).count == 3)
        #expect(matches.map { "https://id.example/\($0.realm.percentDecoded ?? "")" } == urls)
        // What is stored compares without case.
        #expect(matches.allSatisfy { $0.realm == $0.realm.lowercased() })
    }

    @Test func `an environment's hosts come with the match`() throws {
        let match = try #require(registry.match(authority: "https://login.windows.net/common", isConfigured: false))
        #expect(match.environmentHosts == ["login.microsoftonline.com", "login.windows.net"])
        #expect(match.authority.description == "https://login.windows.net/common")
    }

    private static let id = "8f1c2a34-0000-4000-8000-00000000abcd"
    private static let wide = "https://login.microsoftonline.com/common"

    /// An authority that a server names, and its realm, if any.
    @Test(arguments: [
        ("https://login.microsoftonline.com/\(id)", id), ("https://login.microsoftonline.com/\(id.uppercased())", id),
        ("https://LOGIN.microsoftonline.com/Contoso.com/", "contoso.com"), ("https://login.windows.net/\(id)", id),
        ("https://login.evil.example/\(id)", nil),
        ("https://login.microsoftonline.com.evil.example/\(id)", nil),
        ("https://login.microsoftonline.com@evil.example/\(id)", nil),
        ("https://login.microsoftonline.com:8443/\(id)", nil), ("http://login.microsoftonline.com/\(id)", nil),
        ("https://login.microsoftonline.com/common", nil), ("https://login.microsoftonline.com/people", nil),
        ("https://login.microsoftonline.com/contoso", nil),
        ("https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000", nil),
        ("https://login.microsoftonline.com/\(id)/further", nil),
        ("https://login.microsoftonline.com/tfp/contoso.com/policy", nil),
        ("https://login.microsoftonline.com/contoso.com%2f..", nil), ("https://login.microsoftonline.com/..", nil),
        ("https://login.microsoftonline.com/-a.com", nil), ("https://login.microsoftonline.com/a-.com", nil),
        ("https://login.microsoftonline.com/", nil), ("https://login.microsoftonline.com", nil),
    ])
    func `a shared realm gives way to one of its forms, and to no other authority's`(
        named: String, realm: String?
    ) throws {
        for isConfigured in [false, true] {
            let wide = try #require(registry.match(authority: Self.wide, isConfigured: isConfigured))
            let narrow = registry.narrowing(wide, to: named, isConfigured: isConfigured)
            #expect(narrow == realm.map { "https://login.microsoftonline.com/\($0)" })
        }
    }

    @Test(arguments: ["people", "contoso.com"])
    func `another realm gives way to none`(realm: String) throws {
        let url = "https://login.microsoftonline.com/" + realm
        let match = try #require(registry.match(authority: url, isConfigured: true))
        #expect(
            registry.narrowing(match, to: "https://login.microsoftonline.com/\(Self.id)", isConfigured: true) == nil)
    }

    @Test(
        arguments: [
            ([], [], "a", true), (["a"], [], "a", true), (["a"], [], "b", false), ([], ["a"], "a", false),
            ([], ["a"], "b", true), (["a"], [], nil, false), ([], ["a"], nil, true),
        ] as [([String], [String], String?, Bool)])
    func `a shared realm takes the accounts of its homes`(
        _ homes: [String], _ except: [String], _ home: String?, _ takes: Bool
    ) {
        var realm = SharedRealm(name: "r")
        (realm.homes, realm.exceptHomes) = (homes, except)
        #expect(realm.takes(home: home) == takes)
    }

    @Test(arguments: [
        ("dev.azure.com", true), ("DEV.azure.com", true), ("contoso.visualstudio.com", true),
        ("visualstudio.com", false), (".visualstudio.com", false),
        ("global.rel.tunnels.api.visualstudio.com", false), ("contoso.pkgs.visualstudio.com", true),
        ("a.contoso.pkgs.visualstudio.com", false), ("adb-1.19.databricks.example", true),
        ("19.databricks.example", false), ("a.adb-1.19.databricks.example", false),
        ("evilvisualstudio.com", false), ("dev.azure.com:8443", false), ("example.com", false),
    ])
    func `a well-known host has its scopes`(_ host: String, _ isKnown: Bool) {
        #expect(registry.resource(forHost: host)?.scopes == (isKnown ? ["s"] : nil))
    }

    @Test(arguments: [
        ("b2c_1*", "b2c_1_susi", true), ("b2c_1*", "b2c_2", false), ("*x", "abx", true), ("a*b*c", "a-b-c", true),
        ("a*b*c", "acb", false), ("ab", "ab", true), ("ab", "abc", false), ("*", "", true), ("a*a", "a", false),
    ])
    func `globs`(_ pattern: String, _ text: String, _ matches: Bool) {
        #expect(text.matches(glob: pattern) == matches)
    }
}

extension RegistryTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        @Test func `what another user owns is refused`() throws {
            let folder = try TestFolder()
            try RegistryTests.install("x", in: folder, at: "plugins")
            chown(folder.path + "/plugins/x/prog", 12345, 0)
            let registry = PluginRegistry.discover(
                environment: ["LANYARD_PLUGIN_PATH": folder.path + "/plugins"], executable: "/bin/sh")
            #expect(
                registry.problems.map(\.description) == [
                    "\(folder.path)/plugins/x/prog: could have been written by another user"
                ])
        }
    }
}
