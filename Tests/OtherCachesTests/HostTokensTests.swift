import Addresses
import Keyring
import Model
import OtherCaches
import Rules
import Secrets
import Testing

/// The settings of gh and glab.
@Suite struct HostTokensTests {
    @Test(arguments: ["[a]", "a", "a: b\na: c", "a: b\n\tc: d", "\"a: b"])
    func `what can't be told from a mistake is refused`(_ text: String) {
        #expect(HostTokens(gh: Array(text.utf8)) == nil && HostTokens(glab: Array(text.utf8)) == nil)
    }

    @Test func `an empty file has no tokens`() throws {
        #expect(try #require(HostTokens(gh: Array("# none\n".utf8))).entries.isEmpty)
    }

    @Test func `gh's tokens that only gh can renew are its own`() throws {
        let text = """
            github.com:
                users:
                    alice:
                        refreshable_oauth_token:
                            access_token: gho_alice
                            refresh_token: ghr_alice
                            expires_at: "2026-11-27T20:00:00Z"
                    bob:
                        oauth_token: gho_bob
                user: bob
            ghe.example:
                refreshable_oauth_token:
                    access_token: gho_old
                    refresh_token: ghr_old
            """
        let entries = try #require(HostTokens(gh: Array(text.utf8))).entries
        #expect(entries.map(\.isProgramsOwn) == [true, true, false])
    }

    @Test func `gh's accounts of a host are found, the active one last`() throws {
        let text = """
            github.com:
                git_protocol: https
                users:
                    zoe:
                    alice:
                        oauth_token: gho_alice
                    bob: ""
                user: alice
                oauth_token: gho_alice
            ghe.example:
                user: carol
                oauth_token: ghp_old
            """
        let entries = try #require(HostTokens(gh: Array(text.utf8))).entries
        #expect(entries.map(\.username) == ["carol", "bob", "zoe", "alice"])
        #expect(entries.map { $0.token?.reveal() } == ["ghp_old", nil, nil, "gho_alice"])
        #expect(entries.map(\.isActive) == [true, false, false, true])
        let password = try #require(OtherPassword(entries[3], anybody: "x-access-token"))
        #expect(password.request.host?.text == "github.com" && password.request.username == "alice")
        #expect(password.stored.proof == .password(Secret("gho_alice")))
        #expect(OtherPassword(entries[1], anybody: "x-access-token") == nil)
    }

    @Test func `glab's tokens are passwords, but for those that only glab can renew`() throws {
        let text = """
            # What protocol to use
            git_protocol: ssh
            no_prompt: false
            hosts:
                gitlab.com:
                    token: !!null glpat-one
                    api_host: gitlab.com
                    api_protocol: https
                gitlab.example:
                    is_oauth2: "true"
                    token: short
                    oauth2_refresh_token: long
                    user: alice
                local.example:8080:
                    api_protocol: http
                    token: glpat-two
                    user: bob
            """
        let entries = try #require(HostTokens(glab: Array(text.utf8))).entries
        #expect(entries.map(\.host) == ["gitlab.com", "gitlab.example", "local.example:8080"])
        #expect(entries.map(\.isProgramsOwn) == [false, true, false])
        let anybody = try #require(OtherPassword(entries[0], anybody: "oauth2"))
        #expect(anybody.request.username == "oauth2" && anybody.request.scheme == "https")
        let plain = try #require(OtherPassword(entries[2], anybody: "oauth2"))
        #expect(plain.request.scheme == "http" && plain.request.host?.text == "local.example:8080")
    }

    @Test(arguments: ["git.example/x", "a@git.example", "git.example\\x", "", "*.example"])
    func `a host that is none gets no password`(_ host: String) {
        let text = "'\(host)':\n  user: u\n  oauth_token: t"
        let entries = HostTokens(gh: Array(text.utf8))?.entries ?? []
        #expect(entries.allSatisfy { OtherPassword($0, anybody: "x") == nil })
    }

    @Test func `azd says whose sign-in it has`() {
        func read(_ text: String) -> AzureDeveloperCLISignIn? { AzureDeveloperCLISignIn(Array(text.utf8)) }
        #expect(read(#"{"auth":{"account":{"currentUser":{"homeAccountId":"u.t"}}}}"#) == .user)
        #expect(read(#"{"auth":{"account":{"currentUser":{"clientId":"c","tenantId":"t"}}}}"#) == .application("c"))
        #expect(read("{}") == .nobody)
        #expect(read("[]") == nil)
    }
}
