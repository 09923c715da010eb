import PluginWire
import SeededRandom
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

        [[authority]]
        hosts = ["login.microsoftonline.com", "*.B2clogin.com", "*"]
        path = "/{realm}"
        except-realms = ["Common"]

        [[authority]]
        hosts = ["login.example"]
        path = "/tfp/{realm}/{policy}"
        policies = ["B2C_1*"]

        [[environment]]
        hosts = ["login.microsoftonline.com", "login.windows.net"]

        [[resource]]
        name = "Azure DevOps"
        hosts = ["dev.azure.com", "*.visualstudio.com"]
        scopes = ["499b84ac/.default"]
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
        #expect(manifest.authorities[0].exceptRealms == ["common"])
        #expect(manifest.authorities[1].path == [.literal("tfp"), .realm, .policy])
        #expect(manifest.environments == [["login.microsoftonline.com", "login.windows.net"]])
        #expect(manifest.resources.map(\.name) == ["Azure DevOps"])
    }

    /// A change to the full manifest, and the complaint about it.
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
            old: "version =", new: "verson =", line: 2, message: "unknown key `verson`", hint: "did you mean `version`?"
        ),
        Fault(
            old: "except-realms", new: "except_realms", line: 13, message: "unknown key `except_realms`",
            hint: "did you mean `except-realms`?"),
        Fault(
            old: "scopes =", new: "scope =", line: 26, message: "unknown key `scope`", hint: "did you mean `scopes`?"),
        Fault(old: "policies =", new: "zzzzzzzzzzz =", line: 18, message: "unknown key `zzzzzzzzzzz`"),
        Fault(
            old: "[[environment]]", new: "[[enviroment]]", line: 20, message: "unknown key `enviroment`",
            hint: "did you mean `environment`?"),
        Fault(
            old: "name = \"aad-tenant\"", new: "name = \"../x\"", line: 1,
            message: "`name` has a value that can't be used"),
        Fault(old: "name = \"aad-tenant\"", new: "name = 7", line: 1, message: "`name` must be a string in quotes"),
        Fault(old: "name = \"aad-tenant\"", new: "", line: nil, message: "`name` is missing"),
        Fault(
            old: "hosts = [\"login.example\"]", new: "hosts = []", line: 16,
            message: "`hosts` must hold one string at least"),
        Fault(
            old: "hosts = [\"login.example\"]", new: "hosts = [\"*foo\"]", line: 16,
            message: "`hosts` holds a value that can't be used"),
        Fault(
            old: "\"/{realm}\"", new: "\"/{tenant}\"", line: 12,
            message: "`path` is not of segments such as /tfp/{realm}/{policy}"),
        Fault(
            old: "\"/{realm}\"", new: "\"/{realm}/{realm}\"", line: 12,
            message: "`path` is not of segments such as /tfp/{realm}/{policy}"),
        Fault(
            old: "\"/{realm}\"", new: "\"realm\"", line: 12,
            message: "`path` is not of segments such as /tfp/{realm}/{policy}"),
        Fault(
            old: "flows = [\"browser\"", new: "flows = [7", line: 8,
            message: "`flows` holds something that is no string in quotes"),
        Fault(old: "\"dev.azure.com\"", new: "\"*\"", line: 25, message: "`hosts` holds a value that can't be used"),
    ])
    func `a fault is told with its line`(_ fault: Fault) throws {
        let text = Self.full.replacingFirst(fault.old, with: fault.new)
        let problem = #expect(throws: PluginProblem.self) { try read(text) }
        #expect(problem?.message == fault.message)
        #expect(problem?.line == fault.line)
        if let hint = fault.hint { #expect(problem?.hint == hint) }
    }

    @Test func `what is not TOML is told with its line`() {
        let problem = #expect(throws: PluginProblem.self) { try read("name = \"x\"\nversion = = 1\n") }
        #expect(problem?.line == 2)
    }

    @Test(arguments: [
        "[\n", "[[\n", "a = 1\n [ \t\n[b]", "[\r\n", "[[", "[.a]\n", "[\u{0}a]", "\u{FEFF}[\n", "[\u{A0}a]",
    ])
    func `what would break the TOML parser never reaches it`(_ text: String) {
        #expect(throws: PluginProblem.self) { try read(text) }
    }

    @Test func `no random bytes break the manifest's reader`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            var bytes = Array(Self.full.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            guard let text = String(validating: bytes, as: UTF8.self) else { continue }
            _ = try? read(text)
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
