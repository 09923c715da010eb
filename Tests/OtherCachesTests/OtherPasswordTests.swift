import Addresses
import Keyring
import Model
import OtherCaches
import Secrets
import Testing

/// Items of Git Credential Manager.
@Suite struct OtherPasswordTests {
    @Test(
        arguments: [
            ("git:https://github.com", "https", "github.com", nil),
            ("git:https://dev.azure.com/contoso", "https", "dev.azure.com", "contoso"),
            ("git:http://git.example:8080/a/b.git/", "http", "git.example:8080", "a/b.git"),
            ("git:https://bob@git.example/", "https", "git.example", nil),
        ] as [(String, String, String, String?)])
    func `a service is git and a URL`(_ service: String, _ scheme: String, _ host: String, _ path: String?) throws {
        var rejects: [OtherCache.Reject] = []
        let password = try #require(
            OtherPassword(
                gcmItem: ["service": service, "account": "alice"], secret: Secret("pat"), rejects: &rejects))
        #expect(rejects.isEmpty)
        #expect((password.request.scheme, password.request.host?.text) == (scheme, host))
        #expect((password.request.path, password.request.username) == (path, "alice"))
        #expect(password.stored.proof == .password(Secret("pat")))
    }

    @Test(arguments: [
        "git:https://refresh_token.git.example", "git:https://oauth-refresh-token.gitlab.com",
        "git:https://bitbucket.org/refresh_token",
    ])
    func `its refresh tokens are its own`(_ service: String) {
        var rejects: [OtherCache.Reject] = []
        let password = OtherPassword(
            gcmItem: ["service": service, "account": "alice"], secret: Secret("rt"), rejects: &rejects)
        #expect(password == nil && rejects.map(\.reason) == [.programsOwn] && rejects.map(\.whose) == [service])
    }

    @Test(arguments: [
        (["service": "https://github.com", "account": "alice"], "pat"),
        (["service": "git:", "account": "alice"], "pat"),
        (["service": "git:nonsense", "account": "alice"], "pat"), (["service": "git:https://github.com"], "pat"),
        (["account": "alice"], "pat"), (["service": "git:https://github.com", "account": "alice"], ""),
        (["service": "git:https://github.com", "account": "alice"], "two\nlines"),
        (["service": "git:https://github.com", "account": "al\nice"], "pat"),
    ])
    func `what git could not use is refused`(_ attributes: [String: String], _ secret: String) {
        for secret in [Secret(secret), nil] {
            var rejects: [OtherCache.Reject] = []
            #expect(OtherPassword(gcmItem: attributes, secret: secret, rejects: &rejects) == nil)
            #expect(rejects.map(\.reason) == [.malformed])
        }
    }
}
