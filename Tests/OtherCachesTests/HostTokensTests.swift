import Addresses
import OtherCaches
import Rules
import Secrets
import Testing
import TokenStore

/// The settings of gh and glab, and the subset of YAML that they use.
@Suite struct HostTokensTests {
    private static func read(_ text: String) -> PlainYAML.Node? { PlainYAML.read(Array(text.utf8)) }

    struct Document: Sendable, CustomTestStringConvertible {
        let text: String
        let path: [String]
        let value: PlainYAML.Node?
        var testDescription: String { text }
    }

    @Test(arguments: [
        Document(text: "a: b", path: ["a"], value: .text("b")),
        Document(text: "a: b # c", path: ["a"], value: .text("b")),
        Document(text: "a: b#c", path: ["a"], value: .text("b#c")),
        Document(text: "# c\n---\na:   b  \r\n", path: ["a"], value: .text("b")),
        Document(text: "a:\n    b:\n        c: d\n    e: f\n", path: ["a", "b", "c"], value: .text("d")),
        Document(text: "a:\n    b:\n        c: d\n    e: f\n", path: ["a", "e"], value: .text("f")),
        Document(text: "git.example:8443:\n  user: u", path: ["git.example:8443", "user"], value: .text("u")),
        Document(text: "\"x: y\": 'it''s'", path: ["x: y"], value: .text("it's")),
        Document(text: #"a: "b \"c\" \\ # d" # e"#, path: ["a"], value: .text(#"b "c" \ # d"#)),
        Document(text: "a: !!null t", path: ["a"], value: .text("t")),
        Document(text: "a:\nb: c", path: ["a"], value: .text("")),
        Document(text: "a: # c\n  b: d", path: ["a", "b"], value: .text("d")),
        Document(text: "a: null", path: ["a"], value: .text("")),
        Document(text: "a: https://x.example/y", path: ["a"], value: .text("https://x.example/y")),
        Document(text: "a:\n- x\n- y: z\n  w: v\nb: c", path: ["a"], value: .other),
        Document(text: "a:\n- x\n- y: z\n  w: v\nb: c", path: ["b"], value: .text("c")),
        Document(text: "a:\n  - x\nb: c", path: ["b"], value: .text("c")),
        Document(text: "a: |\n  token: x\n  y\nb: c", path: ["a"], value: .other),
        Document(text: "a: |\n  token: x\n  y\nb: c", path: ["b"], value: .text("c")),
        Document(text: "a: b\n  c\nd: e", path: ["a"], value: .other),
        Document(text: "a: {b: c}", path: ["a"], value: .other),
        Document(text: "a: &x b\nc: *x", path: ["c"], value: .other),
        Document(text: "a: !!binary eA==", path: ["a"], value: .other),
        Document(text: #"a: "\x41""#, path: ["a"], value: .other),
        Document(text: "a: b: c", path: ["a"], value: .other),
        Document(text: "", path: [], value: .map([:])),
    ])
    func `settings are read`(_ given: Document) throws {
        var node = try #require(Self.read(given.text))
        for name in given.path { node = try #require(node[name]) }
        #expect(node == given.value)
    }

    @Test(arguments: [
        "a: b\na: c", "a", "- a", "  a: b\nc: d", "a: b\n\tc: d", "a:\n    b: c\n  d: e", "a: b\n---\nc: d", "[a]",
        "\"a: b", "? a\n: b", "a:b", ": b",
    ])
    func `what can't be told from a mistake is refused`(_ text: String) {
        #expect(Self.read(text) == nil)
    }

    @Test func `neither depth nor other bytes than UTF-8 are read`() {
        let deep = (0..<40).map { String(repeating: " ", count: $0) + "a:" }.joined(separator: "\n")
        #expect(Self.read(deep) == nil)
        #expect(PlainYAML.read([0x61, 0x3A, 0x20, 0xFF]) == nil)
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
        #expect(read(#"{"auth":{"account":{"currentUser":{"homeAccountId":"u.t"}}}}"#) == .person)
        #expect(read(#"{"auth":{"account":{"currentUser":{"clientId":"c","tenantId":"t"}}}}"#) == .application("c"))
        #expect(read("{}") == .nobody)
        #expect(read("[]") == nil)
    }
}
