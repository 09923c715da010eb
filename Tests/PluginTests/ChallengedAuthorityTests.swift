import Claims
import Testing
import Vectors

@testable import PluginHost

/// The authorities in servers' challenges, as aad-common's manifest reads them (Tests/Vectors).
@Suite struct ChallengedAuthorityTests {
    static let cases = Vectors.followed("claims-challenge").filter { $0.expect.keys.contains("authority") }

    @Test func `there are cases`() { #expect(Self.cases.count == 7) }

    @Test(arguments: cases)
    func `a server's authority is read as MSAL reads it`(vector: VectorCase) throws {
        let plugin = try #require(PluginRegistry.firstParty.plugins.first { $0.name == "aad-common" })
        let named = ClaimsChallenge(vector.texts("www_authenticate")).authority
        #expect(named.map(plugin.authority(ofEndpoint:)) == vector.expected("authority"))
    }

    private static let id = "8f1c2a34-0000-4000-8000-00000000abcd"
    private static let host = "https://login.microsoftonline.com"

    /// A URL that a server names, and the tenant that takes the place of `common`, if any.
    @Test(arguments: [
        ("\(host)/\(id)/oauth2/authorize", id), ("\(host)/\(id)/oauth2/v2.0/authorize", id),
        ("\(host)/\(id)/v2.0", id), ("\(host)/\(id)/oauth2", nil), ("\(host)/\(id)/authorize", nil),
        ("\(host)/\(id)/v2.0/v2.0", nil), ("\(host)/\(id)/oauth2/authorize/v2.0", nil),
        ("\(host)/oauth2/authorize", nil), ("\(host)/common/oauth2/authorize", nil),
        ("https://login.evil.example/\(id)/oauth2/authorize", nil),
    ])
    func `an endpoint stands for its authority`(named: String, realm: String?) throws {
        let registry = PluginRegistry.firstParty
        let wide = try #require(registry.match(authority: "\(Self.host)/common", isConfigured: true))
        #expect(registry.narrowing(wide, to: named, isConfigured: true) == realm.map { "\(Self.host)/\($0)" })
    }

    @Test func `only the plugin sets what its manifest reserves`() throws {
        let registry = PluginRegistry.firstParty
        var signIn = SignInParameters()
        try signIn.apply([.queryParameters: ["amr_values=mfa"]])
        for authority in ["\(Self.host)/common", "\(Self.host)/\(Self.id)", "https://a.b2clogin.com/tfp/a/b"] {
            let plugin = try #require(registry.match(authority: authority, isConfigured: true)).plugin
            #expect(plugin.reserved(in: signIn) == nil)
            for name in ["p", "Client_Info", "X-AnchorMailbox"] {
                var bad = signIn
                try bad.apply([.queryParameters: ["\(name)=x"]])
                #expect(plugin.reserved(in: bad) == name)
            }
        }
        let other = try #require(registry.match(authority: "https://gitlab.com", isConfigured: true)).plugin
        try signIn.apply([.queryParameters: ["p=x"]])
        #expect(other.reserved(in: signIn) == nil)
    }
}
