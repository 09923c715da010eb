import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Testing
import Tools

/// The answers of pnpm's token helper.
@Suite struct PnpmProtocolTests {
    private static let url = "https://pkgs.example/feed/npm/registry/"
    private static let token = Credential(.accessToken, Secret("t0ken"), username: "alice", expiresOn: 5)

    private static func passwordOnly(_ username: String?) -> Credential {
        var credential = token
        credential.takesBearer = false
        credential.basicUsername = username
        return credential
    }

    @Test(arguments: [
        (token, "Bearer t0ken"),
        (passwordOnly("x-access-token"), "Bearer t0ken"),
        (passwordOnly(nil), "Bearer t0ken"),
        (Credential(.password, Secret("s3cret"), username: "alice"), "Basic YWxpY2U6czNjcmV0"),
        (Credential(.password, Secret("pät"), username: nil), "Basic OnDDpHQ="),
        (Credential(.authorization(scheme: "Bearer"), Secret("npm_1"), username: nil), "Bearer npm_1"),
    ])
    func `the header's value is printed`(_ credential: Credential, _ header: String) {
        let trial = Conversation(PnpmProtocol([Self.url]), [], [.credential(credential)])
        #expect(trial.output == header + "\n" && trial.complaints.isEmpty && trial.status == 0)
    }

    @Test func `nothing is an error, since pnpm takes no empty answer`() {
        let trial = Conversation(PnpmProtocol([Self.url]), [], [.nothing])
        #expect(
            trial.words == "there is no credential for \(Self.url); make a rule: lanyard rule add \(Self.url)")
        #expect(trial.output.isEmpty && trial.status == 1)
    }

    @Test func `a refusal is told on stderr`() {
        let trial = Conversation(PnpmProtocol([Self.url]), [], [.signedOut])
        #expect(trial.complaints == [.refusal] && trial.output.isEmpty && trial.status == 1)
    }

    @Test func `a line feed makes no second header`() {
        let credential = Credential(.authorization(scheme: "Bearer"), Secret("a\nX-Evil: b"), username: nil)
        let trial = Conversation(PnpmProtocol([Self.url]), [], [.credential(credential)])
        #expect(trial.output.isEmpty && trial.status == 1)
    }

    @Test(
        arguments: [
            ("https://pkgs.example/feed/npm/registry/", "https", "pkgs.example", "feed/npm/registry/", nil),
            ("https://pkgs.example:8443", "https", "pkgs.example:8443", nil, nil),
            ("http://127.0.0.1:4873/", "http", "127.0.0.1:4873", nil, nil),
            ("https://bob@pkgs.example/a%20b/", "https", "pkgs.example", "a b/", "bob"),
            ("https://pkgs.example/npm/?a=b#c", "https", "pkgs.example", "npm/", nil),
        ] as [(String, String, String, String?, String?)])
    func `the request is for the URL`(
        _ url: String, _ scheme: String, _ host: String, _ path: String?, _ username: String?
    ) {
        let request = Conversation(PnpmProtocol([url]), [], [.nothing]).request
        #expect(request?.scheme == scheme && request?.host?.text == host)
        #expect(request?.path == path && request?.username == username)
        #expect(request?.reach == .above && request?.isUnattended == true && request?.takesAuthorizations == true)
    }

    @Test(
        arguments: [
            ([], "lanyard pnpm takes the registry's URL"),
            ([url, "more"], "lanyard pnpm takes the registry's URL"),
            ([""], " is not a URL"),
            (["pkgs.example"], "pkgs.example is not a URL"),
            (["https://"], "https:// is not a URL"),
            ([#"https://pkgs.example\@evil.example/"#], "https://…@evil.example/ is not a URL"),
            (["https://pkgs.example/%0A"], "https://pkgs.example/%0A is not a URL"),
            (["https://pkgs.example/?a\nb"], "https://pkgs.example/?a?b is not a URL"),
            (["--help=x"], "--help=x is not a URL"),
            ([String(repeating: "x", count: 1 << 20)], String(repeating: "x", count: 200) + "… is not a URL"),
        ] as [([String], String)])
    func `anything but one URL is a wrong command line`(_ arguments: [String], _ words: String) {
        let trial = Conversation(PnpmProtocol(arguments))
        #expect(trial.words == words && trial.output.isEmpty && trial.status == 64)
    }
}
