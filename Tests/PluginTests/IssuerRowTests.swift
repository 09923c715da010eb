import Claims
import PluginWire
import Testing
import Vectors

@testable import PluginHost

/// The manifest of the plugin `oauth` about issuers, and which of them it serves.
@Suite struct IssuerRowTests {
    private static let registry = PluginRegistry.firstParty

    @Test(arguments: [
        ("https://github.com", nil, "oauth"), ("https://id.example.com", nil, "oauth"),
        ("https://id.example.com/realms/acme", nil, "oauth"), ("https://id.example.com/acme", nil, "aad-tenant"),
        ("https://id.example.com/acme", "oidc", "oauth"), ("https://adfs.contoso.com/adfs", nil, "oauth"),
        ("https://gitlab.contoso.com/git", "gitlab", "oauth"),
        ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0", nil, "oauth"),
        // An authority that Microsoft's plugins name and reject isn't an issuer.
        ("https://login.microsoftonline.com", nil, nil), ("https://login.microsoftonline.com/a/b/c/d", nil, nil),
        ("https://contoso.b2clogin.com/a/b/c/d", nil, nil),
    ])
    func `an issuer is served unless another plugin names its host`(
        _ authority: String, _ kind: String?, _ plugin: String?
    ) {
        #expect(Self.registry.match(authority: authority, kind: kind, isConfigured: true)?.plugin.name == plugin)
    }

    @Test(arguments: [
        ("https://github.com", nil, "github"), ("https://acme.ghe.com", nil, "github"), ("https://ghe.com", nil, nil),
        ("https://github.contoso.com", nil, nil), ("https://github.contoso.com", "github", "github"),
        ("https://gitlab.com", nil, "gitlab"), ("https://salsa.debian.org", nil, "gitlab"),
        ("https://bitbucket.org", nil, "bitbucket"), ("https://evilbitbucket.org", nil, nil),
        ("https://codeberg.org", nil, "forgejo"), ("https://gitea.com", nil, "gitea"),
        ("https://huggingface.co", nil, "huggingface"), ("https://accounts.google.com", nil, "googlesource"),
        ("https://adfs.contoso.com/adfs", "adfs", "adfs"), ("https://id.example.com", "oidc", nil),
        ("https://github.com", "gitea", "gitea"),
    ])
    func `a host has a kind, or its rule has`(_ authority: String, _ named: String?, _ kind: String?) throws {
        let match = try #require(Self.registry.match(authority: authority, kind: named, isConfigured: true))
        #expect(match.issuer?.kind == kind)
    }

    @Test(arguments: [
        ("github.com", "https://github.com", "github"), ("Gist.GitHub.com", "https://github.com", "github"),
        ("chromium.googlesource.com", "https://accounts.google.com", "googlesource"),
        ("acme.ghe.com", "https://acme.ghe.com", "github"), ("gist.github.com:8443", nil, nil),
        ("a.gist.github.com", nil, nil), ("evilgooglesource.com", nil, nil), ("git.example", nil, nil),
    ])
    func `a git host has an authority, which may be another host`(_ host: String, _ url: String?, _ kind: String?) {
        let match = Self.registry.gitAuthority(ofHost: host)
        #expect(match.map { "\($0.authority)" } == url && match?.issuer?.kind == kind)
    }

    @Test(arguments: [
        ("ghcr.io", "github"), ("npm.pkg.github.com", "github"), ("Maven.Pkg.GitHub.com", "github"),
        ("registry.gitlab.com", "gitlab"), ("pkg.github.com", nil), ("evilghcr.io", nil), ("github.com", nil),
        ("registry.gitlab.com.evil.example", nil), ("gist.github.com", "github"), ("a.gist.github.com", nil),
        ("chromium.googlesource.com", "googlesource"),
    ])
    func `a registry and another git server are a code host's other doors`(_ host: String, _ kind: String?) {
        let issuer = Self.registry.issuer(ofOtherHost: host)
        #expect(issuer?.kind == kind)
        let isRegistry = issuer?.otherHosts.isEmpty == false && host != "gist.github.com"
        #expect(issuer?.moreScopes(atHost: host).isEmpty != isRegistry)
    }

    @Test(arguments: OAuthVectors.followed("www-authenticate"))
    func `what a git server calls itself suggests its kind, if no manifest names its host`(vector: VectorCase) throws {
        let host = try #require(vector.text("host"))
        let known = Self.registry.match(authority: "https://\(host)", isConfigured: true)?.issuer
        let realms = AuthenticateChallenge.read(vector.texts("wwwauth")).compactMap { $0.parameters["realm"] }
        let issuer = known ?? Self.registry.gitIssuer(ofRealms: realms)
        #expect(issuer?.kind == vector.expected("kind"))
    }

    private static let flows: [(String, [PluginRequest.Flow], [PluginRequest.Flow], Bool)] = [
        ("https://bitbucket.org", [.paste, .browser], [], true),
        ("https://accounts.google.com", [.paste, .browser], [], true),
        ("https://github.com", [.deviceCode, .paste, .browser], [.deviceCode], false),
        ("https://gitlab.com", [.deviceCode, .paste, .browser], [.deviceCode, .paste, .browser], false),
    ]

    @Test(arguments: flows)
    func `flows work with a secret or without`(
        _ authority: String, _ with: [PluginRequest.Flow], _ without: [PluginRequest.Flow], _ needsOne: Bool
    ) throws {
        let issuer = try #require(Self.registry.match(authority: authority, isConfigured: false)?.issuer)
        let all: [PluginRequest.Flow] = [.deviceCode, .paste, .browser]
        #expect(issuer.usable(all, hasSecret: true) == with)
        #expect(issuer.usable(all, hasSecret: false) == without)
        #expect(issuer.needsSecret == needsOne)
    }

    @Test(arguments: [
        ("https://github.com", "x-access-token", false, true), ("https://gitlab.com", "oauth2", false, true),
        ("https://bitbucket.org", "x-token-auth", true, false), ("https://codeberg.org", "oauth2", true, false),
        ("https://huggingface.co", "oauth2", false, false),
        ("https://accounts.google.com", "oauth2accesstoken", true, false),
        ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0", nil, true, false),
    ])
    func `git's servers take tokens so`(
        _ authority: String, _ username: String?, _ takesBearer: Bool, _ revokesOnRenewal: Bool
    ) throws {
        let issuer = try #require(Self.registry.match(authority: authority, isConfigured: false)?.issuer)
        #expect(issuer.username == username)
        #expect(issuer.takesBearer == takesBearer)
        #expect(issuer.revokesOnRenewal == revokesOnRenewal)
    }

    @Test(arguments: [
        "https://github.com", "https://gitlab.com", "https://bitbucket.org", "https://gitea.com",
        "https://codeberg.org",
        "https://huggingface.co",
    ])
    func `a user name at a code host is an account's, unless programs write it for anybody`(_ authority: String) throws
    {
        let issuer = try #require(Self.registry.match(authority: authority, isConfigured: false)?.issuer)
        let nobodys = [
            "", "git", "GIT", "oauth2", "x-access-token", "x-token-auth", "Personal Access Token",
            issuer.username ?? "",
        ]
        for name in nobodys { #expect(!issuer.hasAccounts(named: name), "\(name)") }
        for name in ["bob", "git-bob", "bob@contoso.com", " git"] {
            #expect(issuer.hasAccounts(named: name), "\(name)")
        }
    }

    @Test(arguments: ["https://accounts.google.com", "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0"])
    func `elsewhere a user name may be anything`(_ authority: String) throws {
        let issuer = try #require(Self.registry.match(authority: authority, isConfigured: false)?.issuer)
        #expect(!issuer.hasAccounts(named: "bob"))
    }

    private static let scopes: [(String, [String]?)] = [
        ("https://gitlab.com", ["read_repository", "write_repository"]), ("https://gitea.com", []),
        ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0", nil),
    ]

    @Test(arguments: scopes)
    func `an issuer's scopes are known, none at all if there are none, or left to the rule`(
        _ authority: String, _ scopes: [String]?
    ) throws {
        #expect(Self.registry.match(authority: authority, isConfigured: false)?.issuer?.scopes == scopes)
    }

    @Test func `nothing is wrong with the manifest`() {
        let manifest = Self.registry.plugins.first { $0.name == "oauth" }
        #expect(manifest?.notes.isEmpty == true)
        #expect(manifest?.supports.isSuperset(of: [.revoke, .clientSecrets]) == true)
        #expect(manifest?.redirectURI == "http://127.0.0.1")
    }
}
