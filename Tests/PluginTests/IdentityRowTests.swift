import Testing

@testable import PluginHost

/// What variables describe, with the manifest of the plugin `aad-tenant`, and what they can't.
@Suite struct IdentityRowTests {
    private static let registry = PluginRegistry.firstParty
    private static let base = ["AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": "app"]

    private static func found(_ further: [String: String] = [:]) -> IdentityFound {
        registry.identity(in: base.merging(further) { $1 })
    }

    private static func pattern(_ further: [String: String] = [:]) throws -> IdentityPattern {
        guard case .identity(let pattern) = found(further) else { throw NoIdentity() }
        return pattern
    }

    private struct NoIdentity: Error {}

    @Test func `the order is that of the Azure SDKs`() throws {
        let all = [
            "AZURE_CLIENT_SECRET": "s", "AZURE_CLIENT_CERTIFICATE_PATH": "/c.pem", "AZURE_FEDERATED_TOKEN_FILE": "/t",
        ]
        #expect(try Self.pattern(all).secretVariable == "AZURE_CLIENT_SECRET")
        let certified = try Self.pattern(all.merging(["AZURE_CLIENT_SECRET": ""]) { $1 })
        #expect(certified.certificate == "/c.pem" && certified.certificatePasswordVariable == nil)
        #expect(try Self.pattern(["AZURE_FEDERATED_TOKEN_FILE": "/t"]).assertion == "file:/t")
        #expect(try Self.pattern().managed == "client-id:app" && Self.pattern().isAssumed)
        #expect(try Self.pattern(["AZURE_CLIENT_ID": ""]).managed == "system")
    }

    @Test func `a certificate's password counts if it is there`() throws {
        let pattern = try Self.pattern([
            "AZURE_CLIENT_CERTIFICATE_PATH": "/c.pem", "AZURE_CLIENT_CERTIFICATE_PASSWORD": "p",
        ])
        #expect(pattern.certificatePasswordVariable == "AZURE_CLIENT_CERTIFICATE_PASSWORD")
    }

    @Test(arguments: [
        (nil, "https://login.microsoftonline.com/contoso.example"),
        ("login.microsoftonline.us", "https://login.microsoftonline.us/contoso.example"),
        ("https://login.microsoftonline.us/", "https://login.microsoftonline.us/contoso.example"),
    ])
    func `the authority's host may be named, with or without a scheme`(_ host: String?, _ authority: String) throws {
        var variables = ["AZURE_CLIENT_SECRET": "s"]
        variables["AZURE_AUTHORITY_HOST"] = host
        #expect(try Self.pattern(variables).authority == authority)
    }

    @Test(arguments: [
        ("AZURE_TENANT_ID", "a/b"), ("AZURE_TENANT_ID", "../common"), ("AZURE_TENANT_ID", "a?x"),
        ("AZURE_TENANT_ID", "a#x"), ("AZURE_TENANT_ID", "a b"), ("AZURE_TENANT_ID", "a\nb"),
        ("AZURE_AUTHORITY_HOST", "http://login.microsoftonline.com"), ("AZURE_AUTHORITY_HOST", "user@evil.example"),
        ("AZURE_AUTHORITY_HOST", "evil.example?x="), ("AZURE_CLIENT_ID", "a\u{1B}[2J"),
        ("AZURE_TENANT_ID", String(repeating: "a", count: 5000)),
    ])
    func `a value that can't stand where it would is refused by its variable's name`(_ name: String, _ value: String) {
        guard case .wrong(let variable, _) = Self.found(["AZURE_CLIENT_SECRET": "s", name: value]) else {
            Issue.record("\(Self.found(["AZURE_CLIENT_SECRET": "s", name: value]))")
            return
        }
        #expect(variable == name)
    }

    @Test func `the selecting variable leaves rows out`() throws {
        let secret = ["AZURE_CLIENT_SECRET": "s"]
        func selected(_ word: String) -> IdentityFound {
            Self.found(secret.merging(["AZURE_TOKEN_CREDENTIALS": word]) { $1 })
        }
        guard case .identity(let managed) = selected("ManagedIdentityCredential") else { throw NoIdentity() }
        #expect(managed.managed == "client-id:app" && !managed.isAssumed)
        guard case .identity(let prod) = selected("PROD") else { throw NoIdentity() }
        #expect(prod.secretVariable == "AZURE_CLIENT_SECRET")
        guard case .identity(let developer) = selected("AzureCliCredential") else { throw NoIdentity() }
        #expect(developer.refusal?.hasPrefix("AZURE_TOKEN_CREDENTIALS names a developer's own sign-in") == true)
        guard case .wrong("AZURE_TOKEN_CREDENTIALS", _) = selected("prodd") else { throw NoIdentity() }
    }

    @Test func `a user's password is refused`() throws {
        #expect(try Self.pattern(["AZURE_USERNAME": "alice", "AZURE_PASSWORD": "p"]).refusal != nil)
    }

    @Test func `every variable that a row reads decides`() {
        let names = Self.registry.identityVariables
        for name in [
            "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_AUTHORITY_HOST",
            "AZURE_TOKEN_CREDENTIALS", "AZURE_CLIENT_CERTIFICATE_PASSWORD", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        ] {
            #expect(names.contains(name), "\(name)")
        }
    }

    @Test(arguments: [
        "variables = [\"A\"]", "proof = [\"secret-variable:A\"]", "proof = [\"managed:system\", \"refusal:no\"]",
        "proof = [\"managed:system\", \"password-variable:P\"]", "proof = [\"managed:\"]", "proof = [\"system\"]",
        "proof = [\"assertion:file:{A}\"]\nauthority = \"https://login.example/{B}\"",
    ])
    func `a row that can't work is refused`(row: String) {
        let text = ManifestTests.full + "\n[[identity]]\n\(row)\n"
        #expect(throws: (any Error).self) { _ = try ManifestReader(text, file: "plugin.toml").read() }
    }
}
