import Addresses
import Claims
import Model
import Rules
import Secrets
import SettingsFile
import Testing
import Tools

@testable import PluginHost

/// What a server may say about the token it requires, and what not.
@Suite struct ChallengeTests {
    private static let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
    private static let challenge = #"Bearer error="insufficient_claims", claims="\#(escaped)""#
    private static let escaped = claims.replacing("\"", with: "\\\"")
    private static let tenant = "8f1c2a34-0000-4000-8000-00000000abcd"

    private static let mapped = """
        client-id = "app"
        [[rule]]
        url = "https://git.example"
        authority = "https://login.microsoftonline.com/organizations"
        scopes = ["api://git/.default"]
        """
    private static let standard = """
        client-id = "app"
        authority = "https://login.microsoftonline.com/organizations"
        """

    private static let narrow = "https://login.microsoftonline.com/" + tenant

    /// Resolves a request for a URL; `dev.azure.com` is well known, and one realm yields to one tenant.
    private func resolve(
        _ url: String, _ headers: [String], _ settings: String = standard, lines: [(String, String)] = []
    ) throws -> TokenRequest? {
        var configuration = Configuration()
        try configuration.apply(SettingsTable(file: "config.toml", text: settings), isSystem: false)
        var attributes = Attributes()
        if !url.isEmpty { try attributes.append("url", url) }
        try attributes.append("wwwauth[]", list: headers)
        for (key, value) in lines { try attributes.append(key, value) }
        let request = try GitRequest(attributes).wanted
        var manifest = PluginManifest(name: "p")
        manifest.authorities = [AuthorityPattern(hosts: ["login.microsoftonline.com"], path: [.realm])]
        manifest.sharedRealms = [SharedRealm(name: "organizations"), SharedRealm(name: "common")]
        manifest.sharedRealms[1].homes = ["common"]
        manifest.challengePaths = ["/oauth2/authorize"]
        manifest.resources = [
            PluginResource(name: "Azure DevOps", hosts: ["dev.azure.com"], scopes: ["devops/.default"])
        ]
        return try configuration.resolve(request, by: manifest)
    }

    @Test func `a mapped host's server has claims asked for`() throws {
        let wanted = try #require(try resolve("https://git.example/", [Self.challenge], Self.mapped))
        #expect(wanted.claims == Self.claims)
        #expect(try resolve("https://dev.azure.com/org", [Self.challenge])?.claims == Self.claims)
        #expect(try resolve("https://git.example/", ["Bearer realm=\"\""], Self.mapped)?.claims == nil)
    }

    @Test func `claims that the tool names win over the server's`() throws {
        let own = #"{"id_token":{"sub":null}}"#
        let wanted = try resolve("https://git.example/", [Self.challenge], Self.mapped, lines: [("claims", own)])
        #expect(wanted?.claims == own)
        let empty = try resolve("https://git.example/", [Self.challenge], Self.mapped, lines: [("claims", "")])
        #expect(empty?.claims == Self.claims)
    }

    @Test func `claims that can't be asked for are refused`() throws {
        let wrong = #"Bearer error="insufficient_claims", claims="ey==""#
        #expect(throws: ResolutionError.badChallenge(host: "git.example", .notAnObject)) {
            try resolve("https://git.example/", [wrong], Self.mapped)
        }
        #expect(throws: ResolutionError.badClaims(.unknownTarget("other"))) {
            try resolve("https://git.example/", [], Self.mapped, lines: [("claims", #"{"other":{}}"#)])
        }
    }

    @Test func `a challenge maps no host and reaches no script's own request`() throws {
        let all = #"\#(Self.challenge), authorization_uri="https://login.microsoftonline.com/\#(Self.tenant)""#
        #expect(try resolve("https://other.example/", [all], Self.mapped) == nil)
        #expect(try resolve("http://dev.azure.com/", [all]) == nil)
        let script = try resolve("", [all], lines: [("scope[]", "a/b")])
        #expect(script?.claims == nil)
        #expect(script?.authority == "https://login.microsoftonline.com/organizations")
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/\(tenant)", true),
        ("https://login.microsoftonline.com/\(tenant)/oauth2/authorize", true),
        ("https://login.microsoftonline.com/common", false),
    ])
    func `a well-known host's server names the realm and nothing else`(uri: String, names: Bool) throws {
        let wanted = try resolve("https://dev.azure.com/org", ["Bearer authorization_uri=\"\(uri)\""])
        #expect(wanted?.authority == (names ? Self.narrow : "https://login.microsoftonline.com/organizations"))
        #expect(wanted?.scopes == ["devops/.default"])
        #expect(wanted?.authorityIsConfigured == true)
    }

    @Test func `an authority that a rule, the tool or the tenant of the default names stays`() throws {
        let named = ["Bearer authorization_uri=\"https://login.microsoftonline.com/\(Self.tenant)\""]
        let organizations = "https://login.microsoftonline.com/organizations"
        #expect(try resolve("https://git.example/", named, Self.mapped)?.authority == organizations)
        let asked = try resolve("https://dev.azure.com/", named, lines: [("authority", organizations)])
        #expect(asked?.authority == organizations)
        let tenant = Self.standard.replacing("organizations", with: "fabrikam.com")
        #expect(
            try resolve("https://dev.azure.com/", named, tenant)?.authority
                == "https://login.microsoftonline.com/fabrikam.com")
    }
}
