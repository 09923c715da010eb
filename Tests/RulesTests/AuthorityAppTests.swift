import Addresses
import Model
import SettingsFile
import Testing

@testable import PluginHost
@testable import Rules

/// Apps that an organisation ships for its authorities, and scopes that a plugin knows.
@Suite struct AuthorityAppTests {
    private static let system = """
        authority = "https://login.example/t"
        client-id = "for-all"

        [[client]]
        issuer = "https://gitlab.contoso.com/"
        client-id = "of-contoso"

        """

    private static let rules = """
        [[rule]]
        url = "https://gitlab.contoso.com"
        authority = "https://GitLab.contoso.com"

        [[rule]]
        url = "https://other.example"
        authority = "https://other.example"

        [[rule]]
        url = "https://own.example"
        authority = "https://gitlab.contoso.com"
        client-id = "own"
        scopes = ["s"]

        """

    private func configuration(_ system: String = system, user: String = rules) throws -> Configuration {
        var read = Configuration()
        try read.apply(SettingsTable(file: "system.toml", text: system), isSystem: true)
        try read.apply(SettingsTable(file: "user.toml", text: user), isSystem: false)
        return read
    }

    private func request(_ url: String) throws -> CredentialRequest {
        try #require(URLPattern(url)).request
    }

    private static var manifest: PluginManifest {
        var manifest = PluginManifest(
            resource: PluginResource(name: "Known", hosts: ["known.example"], scopes: ["k"]))
        var issuer = PluginIssuer(kind: "gitlab", hosts: ["gitlab.contoso.com"])
        issuer.scopes = ["repo"]
        manifest.issuers = [issuer]
        return manifest
    }

    private func resolve(_ url: String, _ read: Configuration) throws -> TokenRequest? {
        try read.resolve(try request(url), by: Self.manifest)
    }

    @Test(arguments: [
        ("https://gitlab.contoso.com/a", "of-contoso"), ("https://own.example", "own"),
        ("https://known.example", "for-all"),
    ])
    func `the app is the rule's, or its authority's, or the one for all`(_ url: String, _ client: String) throws {
        #expect(try resolve(url, configuration())?.clientID == client)
    }

    @Test func `a user's app wins unless that is locked`() throws {
        let own = "[[client]]\nissuer = \"https://gitlab.contoso.com\"\nclient-id = \"mine\"\n"
        #expect(try resolve("https://gitlab.contoso.com", configuration(user: own + Self.rules))?.clientID == "mine")
        let locked = Self.system + "[policy]\nlock = [\"client\"]\n"
        let read = try configuration(locked, user: own + Self.rules)
        #expect(try resolve("https://gitlab.contoso.com", read)?.clientID == "of-contoso")
    }

    @Test func `an authority's app is enough for a rule's token, and makes its host a known one`() throws {
        let read = try configuration(user: Self.rules)
        #expect(read.configuredHosts.contains("gitlab.contoso.com"))
        #expect(read.rules.compactMap(read.request(by:)).map(\.clientID) == ["of-contoso", "for-all", "own"])
        #expect(
            read.authorities(ofClient: "of-contoso").map(\.url) == [
                "https://GitLab.contoso.com", "https://gitlab.contoso.com",
            ])
        #expect(read.authorities(ofClient: "own").map(\.url) == ["https://gitlab.contoso.com"])
        #expect(read.authorities(ofClient: "Own").isEmpty && read.authorities(ofClient: "nobody's").isEmpty)
    }

    @Test func `a rule without scopes has those that a manifest knows, or none of use`() throws {
        let read = try configuration()
        #expect(try resolve("https://gitlab.contoso.com", read)?.scopes == ["repo"])
        #expect(try resolve("https://own.example", read)?.scopes == ["s"])
        #expect(throws: ResolutionError.noScopes(authority: "https://other.example", kind: nil)) {
            try resolve("https://other.example", read)
        }
    }

    @Test func `a tool may name the scopes of the issuer, and no others`() throws {
        let read = try configuration()
        var request = try request("https://gitlab.contoso.com")
        request.explicit.scopes = ["write"]
        #expect(try read.resolve(request, by: Self.manifest)?.scopes == ["write"])
        request.explicit.scopes = ["api://other/write"]
        #expect(throws: ResolutionError.self) {
            try read.resolve(request, by: Self.manifest)
        }
    }

    @Test func `a rule without scopes is written without`() throws {
        let rule = try #require(try configuration().rules.first)
        #expect(
            rule.toml
                == "[[rule]]\nurl       = \"https://gitlab.contoso.com\"\nauthority = \"https://GitLab.contoso.com\"\n")
    }
}
