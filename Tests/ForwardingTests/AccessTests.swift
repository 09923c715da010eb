import Addresses
import Model
import Rules
import SettingsFile
import Terminal
import Testing

/// The requests that a far side may make.
@Suite struct AccessTests {
    private static func forward(_ urls: [String]) throws -> Forward {
        Forward(name: "devbox", urls: try urls.map { try #require(URLPattern($0)) }, confirms: false)
    }

    @Test(arguments: [
        ("https://dev.azure.com/contoso", "https://dev.azure.com/contoso/app/_git/app", true),
        ("https://dev.azure.com/contoso", "https://dev.azure.com/contoso2/app", false),
        ("https://dev.azure.com/contoso", "https://dev.azure.com/other", false),
        ("https://dev.azure.com/contoso", "https://dev.azure.com/contoso/../other", false),
        ("https://dev.azure.com/contoso", "http://dev.azure.com/contoso", false),
        ("https://git.example", "https://git.example:443/x", true),
        ("https://git.example", "https://git.example:8443/x", false),
        ("https://git.example", "https://git.example.evil.example/x", false),
        ("https://*.example", "https://git.example/x", true), ("https://*.example", "https://a.b.example/x", false),
    ])
    func `a URL is matched as a rule's`(_ listed: String, _ asked: String, _ isAllowed: Bool) throws {
        let request = CredentialRequest(try RequestURL(asked))
        #expect(try Self.forward([listed]).objection(to: request) == (isAllowed ? nil : .notListed))
    }

    @Test func `at hosts whose paths have no case, it doesn't matter`() throws {
        var configuration = Configuration()
        configuration.forwards = [try Self.forward(["https://dev.azure.com/Contoso", "https://git.example/Contoso"])]
        for (host, isCaseless) in [("dev.azure.com", true), ("git.example", false)] {
            let request = CredentialRequest(try RequestURL("https://\(host)/contoso/app"))
            #expect(configuration.forwards[0].objection(to: request) == .notListed)
            configuration.caseless = HostTrait { $0.name == "dev.azure.com" }
            #expect(configuration.forwards[0].objection(to: request) == (isCaseless ? nil : .notListed))
            configuration.caseless = .none
        }
    }

    @Test(arguments: [
        (["https://dev.azure.com/contoso"], Forward.Objection.needsPath),
        (["https://dev.azure.com:444/contoso", "https://other.example/contoso"], .notListed),
    ])
    func `a request without a path is told that one is needed`(urls: [String], objection: Forward.Objection) throws {
        let request = CredentialRequest(try RequestURL("https://dev.azure.com/"))
        #expect(try Self.forward(urls).objection(to: request) == objection)
    }

    @Test func `passwords below the host answer no request that names a path`() throws {
        let forward = try Self.forward(["https://git.example/team", "https://whole.example"])
        for (url, objection) in [
            ("https://git.example/team", Forward.Objection.reachesBelow), ("https://whole.example/x", .reachesBelow),
            ("https://git.example/", .needsPath), ("https://whole.example/", nil),
        ] as [(String, Forward.Objection?)] {
            var request = CredentialRequest(try RequestURL(url))
            request.reach = .below
            #expect(forward.objection(to: request) == objection, "\(url)")
        }
        let request = CredentialRequest(try RequestURL("https://git.example/team/x"))
        for (path, isListed) in [
            ("team", true), ("team/", true), ("team/x", true), ("", false), ("te", false), ("teams", false),
        ] {
            #expect(forward.lists(path: path, for: request) == isListed, "\(path)")
        }
    }

    @Test func `a forward that lists less, or asks more, allows less`() throws {
        let (one, two) = (
            try Self.forward(["https://a.example"]), try Self.forward(["https://b.example", "https://a.example"])
        )
        var confirmed = two
        confirmed.confirms = true
        #expect(two.allows(all: one) && !one.allows(all: two) && two.allows(all: two))
        #expect(!confirmed.allows(all: two) && two.allows(all: confirmed) && confirmed.allows(all: confirmed))
    }

    @Test func `a token by more than its place isn't covered by a list of URLs`() throws {
        let forward = try Self.forward(["https://management.azure.com", "https://git.example"])
        var request = CredentialRequest(try RequestURL("https://git.example/"))
        request.explicit.scopes = ["https://graph.microsoft.com/.default"]
        #expect(forward.objection(to: request) == .namesToken)
        var explicit = CredentialRequest()
        #expect(forward.objection(to: explicit) == .noPlace)
        explicit.explicit.scopes = ["https://management.azure.com/.default"]
        explicit.explicit.tenant = "contoso.com"
        #expect(forward.objection(to: explicit) == nil)
        for scope in ["https://graph.microsoft.com/.default", "https://management.azure.com/user", "api://x/.default"] {
            explicit.explicit.scopes = ["https://management.azure.com/.default", scope]
            #expect(
                forward.objection(to: explicit) == (scope.hasSuffix("/user") ? .namesScopes : .notListed), "\(scope)")
        }
        explicit.explicit.scopes = ["https://management.azure.com/.default"]
        for change in [\CredentialRequest.ExplicitToken.account, \.authority, \.clientID, \.identity, \.claims] {
            var other = explicit
            other.explicit[keyPath: change] = "x"
            #expect(forward.objection(to: other) == .namesToken)
        }
    }

    @Test(arguments: [
        ("name = \"a/b\"\nurls = [\"https://x.example\"]", "`name` must be"),
        ("name = \".a\"\nurls = [\"https://x.example\"]", "`name` must be"), ("name = \"a\"", "needs `urls`"),
        ("name = \"a\"\nurls = []", "needs `urls`"), ("urls = [\"https://x.example\"]", "needs `name`"),
        ("name = \"a\"\nurls = [\"x\"]", "not a URL"),
        ("name = \"a\"\nurls = [\"https://u:p@x.example\"]", "not a URL"),
        ("name = \"a\"\nurls = [\"https://x.example\"]\nconfirm = 1", "true or false"),
        (
            "name = \"a\"\nurls = [\"https://x.example\"]\n[[forward]]\nname = \"a\"\nurls = [\"https://x.example\"]",
            "two"
        ),
    ])
    func `a forward that is wrong is an error`(_ text: String, _ message: String) {
        var configuration = Configuration()
        do throws(SettingsError) {
            try configuration.apply(SettingsTable(file: "f", text: "[[forward]]\n\(text)"), isSystem: false)
            Issue.record("no error")
        } catch {
            #expect(error.message.text.contains(message), "\(error)")
        }
    }

    @Test func `a forward is written as it is read`() throws {
        var forward = try Self.forward(["https://dev.azure.com/contoso", "https://*.git.example"])
        forward.confirms = true
        var configuration = Configuration()
        try configuration.apply(SettingsTable(file: "f", text: forward.toml), isSystem: false)
        var read = try #require(configuration.forwards.first)
        (read.file, read.line) = ("", nil)
        #expect(read == forward)
    }
}
