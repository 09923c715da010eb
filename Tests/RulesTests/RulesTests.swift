import Addresses
import Claims
import Model
import Rules
import Secrets
import SettingsFile
import Terminal
import Testing
import Tools

@testable import PluginHost

private func request(_ url: String, _ lines: [String] = []) throws -> CredentialRequest {
    var attributes = Attributes()
    try attributes.append("url", url)
    for line in lines {
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        try attributes.append(parts[0], parts[1])
    }
    return try GitRequest(attributes).wanted
}

private func configuration(_ text: String, isSystem: Bool = false) throws -> Configuration {
    var configuration = Configuration()
    try configuration.apply(SettingsTable(file: "config.toml", text: text), isSystem: isSystem)
    return configuration
}

@Suite struct URLPatternTests {
    @Test(arguments: [
        ("https://*", true), ("https://*:8443", true), ("https://*.com", true), ("https://*.*", true),
        ("https://*.*.com", true), ("https://git.*", true), ("https://git.contoso.*", true),
        ("https://git.*.com", true), ("https://*.co.uk", true), ("https://*.com.au/x", true),
        ("https://*.contoso.com", false), ("https://*.*.contoso.com", false), ("https://*.contoso.co.uk", false),
        ("https://git.*.contoso.com", false), ("http://*.localhost", false), ("https://contoso.com", false),
        ("https://git", false), ("https://10.0.0.1", false), ("https://[::1]", false),
    ])
    func `hosts of many owners are told`(_ text: String, _ isWide: Bool) throws {
        #expect(try #require(URLPattern(text)).isForManyOwners == isWide)
    }

    @Test(arguments: [
        ("https://h.example", "https://h.example/a", true),
        ("https://h.example/", "https://h.example", true),
        ("https://h.example", "http://h.example", false),
        ("https://h.example", "https://H.EXAMPLE:443/", true),
        ("https://h.example:443", "https://h.example/", true),
        ("https://h.example", "https://h.example:8443/", false),
        ("https://h.example", "https://x.h.example/", false),
        ("https://*.example", "https://h.example/", true),
        ("https://*.example", "https://a.b.example/", false),
        ("https://*.example", "https://example/", false),
        ("https://h.example/a", "https://h.example/a", true),
        ("https://h.example/a", "https://h.example/a/b?c", true),
        ("https://h.example/a", "https://h.example/ab", false),
        ("https://h.example/a", "https://h.example/", false),
        ("https://h.example/a", "https://h.example/a/../b", false),
        ("https://h.example/a/b", "https://h.example/a?b", false),
        ("https://alice@h.example", "https://alice@h.example/", true),
        ("https://alice@h.example", "https://bob@h.example/", false),
        ("https://alice@h.example", "https://h.example/", false),
        ("https://[::1]:8443", "https://[::1]:8443/", true),
        ("https://[::1]", "https://[::2]/", false),
        ("https://*", "https://[::1]/", false),
        ("https://*", "https://h/", true),
        ("https://*.example:443", "https://h.example:443/", true),
        ("https://h.example/a", "https://h.example/a/%2e%2e/b", false),
        ("https://h.example/a", "https://h.example/a/..\u{301}/b", true),
        ("https://h.example/a", "https://h.example/a/../\u{301}b", false),
        ("https://h.example/a", "https://h.example/a%5C..%5Cb", false),
        ("https://h.example/a", "https://h.example/a/..%5Cb", false),
        ("https://h.example/a/b", "https://h.example/a%2Fb/c", false),
        ("https://h.example/a/b", "https://h.example/a//b", false),
        ("https://h.example/a", "https://h.example//a", false),
        ("https://h.example/a/", "https://h.example/a//b", true),
        ("https://h.example/a", "https://h.example/a%3Fb", false),
        ("https://h.example/a%2fb", "https://h.example/a%2Fb/c", true),
        ("https://h.example/a", "https://h.example/a/%252e%252e/b", false),
        ("https://h.example", "https://h.example/a/../b", true),
        ("https://h.example/A", "https://h.example/a", false),
        ("https://h.example/a%20b", "https://h.example/a%20b/c", true),
        ("https://h.example/é", "https://h.example/%C3%A9", true),
        ("https://h.example/é", "https://h.example/e\u{301}", false),
        ("https://h.example/a", "https://h.example/a\u{301}", false),
        ("https://al%40ce@h.example", "https://al%40ce@h.example/", true),
        ("https://%C3%A9@h.example", "https://e%CC%81@h.example/", false),
        ("https://h.example", "https://h.example/\u{301}@x.example/", true),
    ])
    func `a pattern matches as git's urlmatch does`(pattern: String, url: String, matches: Bool) throws {
        let pattern = try #require(URLPattern(pattern))
        #expect((pattern.fit(try request(url)) != nil) == matches)
    }

    @Test(arguments: [
        "h.example", "https://", "https://h/?q", "https://h/#f", "https://a b/", "://h", "https://h\\@x/",
        "https://h*.example", "https://h/a b",
        "https://h./", "https://a@b@h/", "https://\u{301}@h/", "https://[*]/",
    ])
    func `what is no pattern is refused`(text: String) {
        #expect(URLPattern(text) == nil)
    }

    // git sends the host and path separately, each decoded.
    @Test func `a path that git sends climbs out of no rule`() throws {
        let pattern = try #require(URLPattern("https://h.example/team"))
        for path in [
            "team/../other", "team/../\u{301}other", "team/..", "team\\..\\other", "../team", "team/x/../../y",
        ] {
            var asked = try request("https://h.example")
            asked.path = path
            #expect(pattern.mismatch(asked) == .path, "\(path)")
        }
    }

    @Test func `case matters, except at hosts whose paths have none`() throws {
        let pattern = try #require(URLPattern("https://h.example/Über/My%20Team"))
        let caseless = HostTrait { $0.name == "h.example" }
        let asked = try request("https://h.example/über/my%20team/x")
        #expect(pattern.mismatch(asked) == .pathCase)
        #expect(pattern.fit(asked, caseless: caseless) != nil)
        for other in ["https://h.example/uber/my%20team", "https://h.example/über/my%20team/../y"] {
            #expect(pattern.mismatch(try request(other), caseless: caseless) == .path, "\(other)")
        }
    }

    @Test func `what a pattern's own URL asks is matched by it`() throws {
        for text in ["https://*.example/a%20b", "https://al%40ce@h.example:8443", "http://[fe80::1%25eth0]/a"] {
            let pattern = try #require(URLPattern(text))
            #expect(pattern.fit(pattern.request) != nil, "\(text)")
        }
    }
}

@Suite struct ResolutionTests {
    private let text = """
        client-id = "default"
        [[rule]]
        url = "https://*.example"
        authority = "https://login.example/wild"
        scopes = ["api://wild/.default"]
        [[rule]]
        url = "https://h.example"
        authority = "https://login.example/host/"
        client-id = "own"
        scopes = ["api://host/.default"]
        account = "alice"
        [[rule]]
        url = "https://h.example/org"
        authority = "https://login.example/org"
        scopes = ["api://org/Repo.Read", "api://org/Repo.Write"]
        """

    private func resolve(_ url: String, _ lines: [String] = []) throws -> TokenRequest? {
        let known = PluginResource(name: "Known", hosts: ["known.example"], scopes: ["api://known/.default"])
        return try configuration(text).resolve(try request(url, lines), by: PluginManifest(resource: known))
    }

    @Test(arguments: [
        ("https://other.example/", "https://login.example/wild"), ("https://h.example/x", "https://login.example/host"),
        ("https://h.example/org/repo", "https://login.example/org"),
    ])
    func `the closest rule wins`(url: String, authority: String) throws {
        #expect(try resolve(url)?.authority == authority)
    }

    @Test func `a rule's own client ID and account win over the configuration's`() throws {
        let own = try #require(try resolve("https://h.example/"))
        #expect(own.clientID == "own")
        #expect(own.account == "alice")
        #expect(own.origin == .rule("https://h.example"))
        #expect(own.authorityIsConfigured)
        #expect(try resolve("https://other.example/")?.clientID == "default")
    }

    @Test(arguments: [(20, 12, true), (20, 13, false), (0, 32, true), (0, 33, false)])
    func `parameters of rule and request are counted together`(own: Int, asked: Int, isFine: Bool) throws {
        let parameters = (0..<own).map { "r\($0) = \"1\"" }.joined(separator: ", ")
        let configuration = try configuration(text + "\nquery-parameters = { \(parameters) }\n")
        // A parameter that both have counts once, and the request's takes precedence.
        let lines = (0..<asked).map { "query_parameter[]=q\($0)=1" } + (own > 0 ? ["query_parameter[]=r0=2"] : [])
        func resolve() throws -> TokenRequest? {
            try configuration.resolve(try request("https://h.example/org", lines))
        }
        guard isFine else {
            let error = #expect(throws: ResolutionError.self) { try resolve() }
            guard case .badParameter(let parameter)? = error else { throw try #require(error) }
            #expect(parameter.reason == "there are more than 32 extra parameters")
            return
        }
        let query = try #require(try resolve()).signIn.queryParameters
        #expect(query.count == own + asked && query["r0"] == (own > 0 ? "2" : nil))
    }

    @Test func `a rule names what a token is for, at its own authority only`() throws {
        let rule = """
            [[rule]]
            url = "https://git.example"
            authority = "https://id.example"
            client-id = "c"
            scopes = ["s"]
            resource-indicators = ["https://api.example/v1", "urn:example:api"]
            """
        let configuration = try configuration(rule)
        let mapped = try #require(try configuration.resolve(request("https://git.example/r")))
        #expect(mapped.resourceIndicators == ["https://api.example/v1", "urn:example:api"])
        let written = try #require(configuration.rules.first).toml
        #expect(written.contains(#"resource-indicators = ["https://api.example/v1", "urn:example:api"]"#))
        let other = try configuration.resolve(
            request("https://git.example/r", ["authority=https://other.example", "scope=s"])
        )
        #expect(other?.resourceIndicators.isEmpty == true)
    }

    @Test func `rules name the hosts of their own authority, however it is written`() throws {
        let both = try configuration(
            """
            [[rule]]
            url = "https://git.example"
            authority = "https://id.example/Acme"
            scopes = ["s"]
            issuer-hosts = ["Login.example:443", "token.example:8443"]
            [[rule]]
            url = "https://other.example"
            authority = "https://other.example"
            scopes = ["s"]
            issuer-hosts = ["pages.example"]
            """)
        #expect(both.issuerHosts(at: "https://id.example/acme/") == ["login.example", "token.example:8443"])
        #expect(both.issuerHosts(at: "https://other.example") == ["pages.example"])
        #expect(both.issuerHosts(at: "https://id.example").isEmpty)
        let written = try #require(both.rules.first).toml
        #expect(written.contains(#"issuer-hosts = ["login.example", "token.example:8443"]"#))
        // Another issuer's host is known, but not as this one's.
        #expect(!both.configuredHosts.contains("pages.example"))
    }

    @Test(arguments: ["https://login.example", "login.example/", "*.example", "", "0x7f.1"])
    func `what is no host is refused among an issuer's`(_ wrong: String) {
        #expect(throws: SettingsError.self) {
            try configuration(
                """
                [[rule]]
                url = "https://git.example"
                authority = "https://id.example"
                issuer-hosts = ["\(wrong)"]
                """)
        }
    }

    @Test(arguments: [
        ("http://git.example", "http://git.example/r", false), ("http://*.example", "http://git.example/r", false),
        ("ftp://git.example", "ftp://git.example/r", false), ("http://10.0.0.1", "http://10.0.0.1/r", false),
        ("http://localhost:8080", "http://localhost:8080/r", true), ("http://[::1]", "http://[::1]/r", true),
        ("https://git.example", "https://git.example/r", true),
    ])
    func `a rule sends tokens over https, and over http to this machine`(
        _ rule: String, _ url: String, _ isUsed: Bool
    ) throws {
        let configuration = try configuration(
            """
            [[rule]]
            url = "\(rule)"
            authority = "https://id.example"
            client-id = "c"
            scopes = ["s"]
            """)
        guard !isUsed else {
            #expect(try configuration.resolve(request(url)) != nil)
            return
        }
        let error = #expect(throws: ResolutionError.self) { try configuration.resolve(request(url)) }
        guard case .unencrypted? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a token is exchanged for a host by the rule's word or a manifest's, and for nothing else`() throws {
        func mapped(_ exchange: String, _ url: String = "https://r.example:8443/a/b") throws -> TokenRequest? {
            let configuration = try configuration(
                """
                [[rule]]
                url = "https://*.example:8443"
                authority = "https://id.example"
                client-id = "c"
                \(exchange)
                """)
            var manifest = PluginManifest()
            manifest.exchanges = [
                PluginExchange(name: "acr", hosts: ["r.example:8443"], scopes: ["s"]),
                PluginExchange(name: "keys", hosts: [], scopes: ["s"], isPerPath: true),
            ]
            return try configuration.resolve(request(url), by: manifest)
        }
        let byHost = try #require(try mapped(""))
        #expect(byHost.exchange == TokenExchange("acr", for: "r.example:8443") && byHost.scopes == ["s"])
        let named = try #require(try mapped("exchange = \"keys\"\nscopes = [\"t\"]"))
        #expect(named.exchange == TokenExchange("keys", for: "r.example:8443", path: "a/b") && named.scopes == ["t"])
        #expect(try mapped("scopes = [\"t\"]", "https://other.example:8443/")?.exchange == nil)
        let error = #expect(throws: ResolutionError.self) { try mapped("exchange = \"acme\"") }
        #expect(error == .unknownExchange("acme", authority: "https://id.example"))
        #expect(throws: SettingsError.self) { try mapped("exchange = \"a b\"") }
    }

    @Test(arguments: ["api", "https://api.example/#part", "https://api example", "1:a", "https:"])
    func `what can name no resource is refused`(_ wrong: String) {
        #expect(throws: SettingsError.self) {
            try configuration(
                """
                [[rule]]
                url = "https://git.example"
                authority = "https://id.example"
                resource-indicators = ["\(wrong)"]
                """)
        }
    }

    @Test func `of equal rules the last wins`() throws {
        let twice =
            text
            + "\n[[rule]]\nurl = \"https://h.example\"\nauthority = \"https://login.example/user\"\nscopes = [\"s\"]\n"
        #expect(
            try configuration(twice).rule(for: request("https://h.example/"))?.authority == "https://login.example/user"
        )
    }

    @Test func `a host that nobody mapped comes to nothing`() throws {
        #expect(try resolve("https://unknown.test/") == nil)
        #expect(try resolve("http://h.example/") == nil)
    }

    @Test func `a rule with OpenID Connect's own scopes opens no resource, and they need none`() throws {
        let text = """
            client-id = "00000000-0000-0000-0000-000000000001"
            [[rule]]
            url = "https://o.example"
            authority = "https://login.example/common"
            scopes = ["api://o/x", "offline_access", "profile"]
            """
        func scopes(_ scope: String) throws -> [String]? {
            let request = try request("https://o.example/", ["scope[]=\(scope)"])
            return try configuration(text).resolve(request)?.scopes
        }
        #expect(throws: ResolutionError.notMapped(host: "o.example", scope: "User.Read")) { try scopes("User.Read") }
        #expect(try scopes("offline_access") == ["offline_access"])
        #expect(try scopes("api://o/y") == ["api://o/y"])
    }

    @Test(arguments: [
        ("https://api.example/.default", "User.Read", true), ("https://API.example/x", "User.Read", true),
        ("api://o/x", "User.Read", false), ("User.Read", "https://api.example/Mail.Read", true),
        ("User.Read", "api://o/x", false),
    ])
    func `a scope without a resource is the one's that the authority's plugin names`(
        mapped: String, wanted: String, isMapped: Bool
    ) throws {
        var manifest = PluginManifest(authorityHost: "login.example")
        manifest.kind = "k"
        manifest.bareScopes = "https://api.example"
        try expect(wanted, at: mapped, isMapped: isMapped, by: manifest)
    }

    @Test(arguments: [
        ("repo", "gist", "", true), ("repo", "api://o/x", "", false), ("api://o/x", "repo", "", false),
        ("repo", "gist", "https://login.example/other", false), ("repo", "gist", "https://login.example/common/", true),
    ])
    func `else it is the authority's own`(mapped: String, wanted: String, authority: String, isMapped: Bool) throws {
        let line = authority.isEmpty ? [] : ["authority=\(authority)"]
        try expect(wanted, at: mapped, line, isMapped: isMapped, by: PluginManifest())
    }

    private func expect(
        _ wanted: String, at mapped: String, _ lines: [String] = [], isMapped: Bool, by manifest: PluginManifest
    ) throws {
        let text = """
            client-id = "00000000-0000-0000-0000-000000000001"
            [[rule]]
            url = "https://o.example"
            authority = "https://login.example/common"
            kind = "k"
            scopes = ["\(mapped)"]
            """
        let request = try request("https://o.example/", lines + ["scope[]=\(wanted)"])
        func scopes() throws -> [String]? {
            try configuration(text).resolve(request, by: manifest)?.scopes
        }
        guard !isMapped else { return #expect(try scopes() == [wanted]) }
        #expect(throws: ResolutionError.notMapped(host: "o.example", scope: wanted)) { try scopes() }
    }

    @Test func `a token never goes to a host that is not mapped to its resource`() throws {
        #expect(throws: ResolutionError.notMapped(host: "unknown.test", scope: "api://host/x")) {
            try resolve("https://unknown.test/", ["scope[]=api://host/x"])
        }
        #expect(throws: ResolutionError.notMapped(host: "h.example", scope: "api://other/x")) {
            try resolve("https://h.example/", ["authority=https://login.example/host", "scope[]=api://other/x"])
        }
        #expect(try resolve("https://h.example/", ["scope[]=api://host/Other"])?.scopes == ["api://host/Other"])
    }

    @Test func `a well-known host needs a client ID and an authority of the user's`() throws {
        var bare = Configuration()
        let known = PluginManifest(resource: PluginResource(name: "K", hosts: ["known.example"], scopes: ["s"]))
        #expect(try bare.resolve(request("https://known.example/"), by: known) == nil)
        bare.clientID = "c"
        #expect(try bare.resolve(request("https://known.example/"), by: known) == nil)
        bare.authority = "https://login.example/t"
        #expect(try bare.resolve(request("https://known.example/"), by: known)?.scopes == ["s"])
        #expect(try bare.resolve(request("https://known.example:8443/"), by: known) == nil)
        #expect(try bare.resolve(request("http://known.example/"), by: known) == nil)
    }

    @Test func `a script without a host names authority and scopes itself`() throws {
        var attributes = Attributes()
        try attributes.append("authority", "https://login.other/t/")
        try attributes.append("scope[]", "s")
        let resolved = try configuration(text).resolve(GitRequest(attributes).wanted)
        #expect(resolved?.authority == "https://login.other/t")
        #expect(resolved?.clientID == "default")
        #expect(resolved?.authorityIsConfigured == false)
        attributes.remove("scope[]")
        #expect(throws: ResolutionError.incomplete) {
            try configuration(text).resolve(GitRequest(attributes).wanted)
        }
    }
}

@Suite struct ConfigurationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let text: String
        let line: Int?
        let message: String
        let hint: String?
        var testDescription: String { message }
    }

    static let broken = [
        Case(text: "\nflow = \"fast\"", line: 2, message: "`flow` must be one of", hint: nil),
        Case(text: "flow = \"Browser\"", line: 1, message: "`flow` must be", hint: "did you mean \"browser\"?"),
        Case(
            text: "known-authorities = [\n  \"a\",\n  3,\n]", line: 3,
            message: "`known-authorities` holds something other than a quoted string", hint: nil),
        Case(
            text: "known-authorities = [\n  \"login.a.example:8443\",\n  \"https://login.b.example\",\n]", line: 3,
            message: "`known-authorities` takes hosts, and this is not one", hint: "write it like \"login.contoso.com\""
        ),
        Case(
            text: "[[rule]]\nurl = \"https://h\"\nauthority = \"https://a/b\"\nscopes = [\"s\",\n\"a b\"]\n", line: 5,
            message: "a scope cannot contain spaces", hint: nil),
        Case(
            text: "[[rule]]\nurl = \"https://h\"\nauthority = \"https://a/b\"\nscopes = []\n", line: 4,
            message: "`scopes` must hold at least one string", hint: "such as"),
        Case(text: "[[client]]\nclient-id = \"c\"\n", line: 1, message: "an app needs `issuer`", hint: "such as"),
        Case(
            text: "[[client]]\nissuer = \"https://a\"\n", line: 1, message: "an app needs `client-id`", hint: nil),
        Case(
            text: "[[client]]\nissuer = \"http://a\"\nclient-id = \"c\"\n", line: 2,
            message: "`issuer` must be an https URL without a user name, a query, a fragment, escapes, `//` or `..`",
            hint: nil),
        Case(text: "timeout = \"5\"", line: 1, message: "`timeout` must be a whole number", hint: nil),
        Case(text: "timeout = 5", line: 1, message: "`timeout` must be 10 to 86400", hint: nil),
        Case(text: "a = [", line: 1, message: "not valid TOML", hint: nil),
        Case(text: "# c\n[[rule]]\nauthority = \"https://a/b\"\n", line: 2, message: "a rule needs `url`", hint: nil),
        Case(
            text:
                "[[rule]]\nurl = \"https://h\"\nauthority = \"https://a/b\"\nscopes = [\"s\"]\n[[rule]]\nurl = \"https://i\"\nauthority = \"http://a/b\"\nscopes = [\"s\"]\n",
            line: 7,
            message: "`authority` must be an https URL without a user name, a query, a fragment, escapes, `//` or `..`",
            hint: "such as"),
        Case(
            text: "[policy]\nlock = [\"flow\"]\n", line: 1, message: "`[policy]` is allowed only in the system's file",
            hint: "move"),
        Case(text: "ca-file = \"ca.pem\"", line: 1, message: "`ca-file` must be an absolute path", hint: nil),
    ]

    @Test(arguments: broken)
    func `a wrong file is an error that names the line`(example: Case) throws {
        let error = try #require(throws: SettingsError.self) { try configuration(example.text) }
        #expect(error.file == "config.toml")
        #expect(error.line == example.line)
        #expect(error.message.text.hasPrefix(example.message))
        if let hint = example.hint { #expect(error.hint?.text.hasPrefix(hint) == true) }
    }

    static let unknown = [
        Case(text: "flwo = \"auto\"", line: 1, message: "unknown key `flwo`", hint: "did you mean `flow`?"),
        Case(text: "[later]\nx = 1\n[[later.more]]\n", line: 1, message: "unknown key `later`", hint: "the keys known"),
        Case(text: "[[later]]\n[[later]]\n", line: 1, message: "unknown key `later`", hint: "the keys known"),
        Case(text: "kind = \"aad\"", line: 1, message: "unknown key `kind`", hint: "`kind` belongs to a rule"),
        Case(
            text: "[[client]]\nissuer = \"https://a\"\nclient-id = \"c\"\nlater = \"x\"\n", line: 4,
            message: "unknown key `later`: this [[client]] gives nothing", hint: nil),
        Case(
            text: "[[client]]\nissuer = \"https://a\"\nclient-id = \"c\"\nflow = \"browser\"\n", line: 4,
            message: "`flow` is not a key of [[client]]", hint: "move it above the first [[client]]"),
        Case(
            text: "[[rule]]\nurl = \"https://h\"\nflow = \"browser\"\n", line: 3,
            message: "`flow` is not a key of [[rule]]", hint: "move it above the first [[rule]]"),
        Case(
            text: "[[rule]]\nurl = \"https://h\"\nautority = \"x\"\n", line: 3,
            message: "unknown key `autority`: this [[rule]] gives nothing", hint: "did you mean `authority`?"),
        Case(
            text: "[[identity]]\nname = \"i\"\nlater = \"x\"\n", line: 3,
            message: "unknown key `later`: this [[identity]] gives nothing", hint: nil),
        Case(
            text: "[[forward]]\nname = \"f\"\nurls = [\"https://h\"]\nlater = 1979-05-27\n", line: 4,
            message: "unknown key `later`: this [[forward]] gives nothing", hint: nil),
    ]

    @Test(arguments: unknown)
    func `a key of a later version is told of, and costs its own table only`(example: Case) throws {
        let read = try configuration(
            """
            group = "g"
            \(example.text)
            [[rule]]
            url = "https://kept"
            authority = "https://a/b"
            client-id = "c"
            scopes = ["s"]
            """)
        let fault = try #require(read.unknown.first)
        #expect(read.unknown.count == 1 && fault.line == example.line.map { $0 + 1 })
        #expect(fault.message.text.hasPrefix(example.message), "\(fault)")
        if let hint = example.hint { #expect(fault.hint?.text.hasPrefix(hint) == true) }
        #expect(read.group == "g" && read.identities.isEmpty && read.forwards.isEmpty && read.apps.isEmpty)
        func resolved(_ url: String) throws -> TokenRequest? {
            try read.resolve(CredentialRequest(RequestURL(url)))
        }
        #expect(try resolved("https://kept")?.scopes == ["s"])
        #expect(try resolved("https://other") == nil)
        guard example.text.hasPrefix("[[rule]]") else { return }
        // What it restricts isn't known, so that no wider rule or password takes its place.
        #expect(throws: ResolutionError.self) { try resolved("https://h/below") }
    }

    @Test func `a policy that isn't known is an error, and so is no other`() throws {
        #expect(throws: SettingsError.self) { try configuration("[policy]\nlater = true\n", isSystem: true) }
        let read = try configuration("[policy]\nlock = [\"later\", \"flow\"]\n", isSystem: true)
        #expect(read.lockedKeys == ["flow"] && read.unknown.count == 1)
    }

    @Test func `authorities' hosts are known without the port that https has by itself`() throws {
        let read = try configuration(
            """
            authority = "https://login.a.example:443/organizations"
            known-authorities = ["Login.B.example:443", "login.c.example:8443"]
            """)
        #expect(read.configuredHosts == ["login.a.example", "login.b.example", "login.c.example:8443"])
    }

    @Test func `later files win key by key, but not over a locked key`() throws {
        var merged = try configuration(
            "flow = \"device-code\"\ngroup = \"g\"\n[policy]\nlock = [\"flow\", \"rule\"]\n", isSystem: true)
        try merged.apply(
            SettingsTable(
                file: "user",
                text:
                    "flow = \"browser\"\ngroup = \"h\"\n[[rule]]\nurl = \"https://h\"\nauthority = \"https://a/b\"\nscopes = [\"s\"]\n"
            ), isSystem: false)
        #expect(merged.flow == .deviceCode)
        #expect(merged.group == "h")
        #expect(merged.rules.isEmpty)
    }

    @Test(arguments: [
        ("", true), ("well-known-clients = []", false), ("well-known-clients = [\"b\"]", false),
        ("lock = []\nwell-known-clients = [\"a\", \"b\"]", true),
    ])
    func `a policy says which well-known clients may be used`(text: String, isAllowed: Bool) throws {
        let read = try configuration("[policy]\n\(text)\n", isSystem: true)
        #expect(read.allows(client: "a") == isAllowed)
        #expect(read.lockedKeys.isEmpty)
    }

    @Test(arguments: [
        ("", true), ("flow = \"broker\"", true), ("flow = \"browser\"", false), ("flow = \"device-code\"", false),
        ("[policy]\nbroker = true", true), ("[policy]\nbroker = false", false),
        ("flow = \"broker\"\n[policy]\nbroker = false", false),
    ])
    func `flow and a policy say whether the machine's broker is asked`(text: String, isAsked: Bool) throws {
        #expect(try configuration(text + "\n", isSystem: true).mayUseBroker == isAsked)
    }

    @Test(
        arguments: [
            ("", .secretService, 0), ("[keyring]\nkind = \"sealed\"", .sealed, 0),
            ("[keyring]\nkind = \"sealed\"\nunlock-for = 60", .sealed, 60),
            ("[keyring]\nkind = \"secret-service\"", .secretService, 0),
        ] as [(String, Configuration.KeyringKind, Int)])
    func `a table says which keyring is used`(text: String, kind: Configuration.KeyringKind, seconds: Int) throws {
        let read = try configuration(text + "\n", isSystem: false)
        #expect(read.keyring == kind && read.unlockFor == seconds)
    }

    @Test(arguments: ["kind = \"gnome\"", "unlock-for = 59", "unlock-for = \"8h\""])
    func `a keyring that can't be is an error`(text: String) {
        #expect(throws: SettingsError.self) { try configuration("[keyring]\n\(text)\n", isSystem: false) }
    }

    @Test func `a policy locks the keyring, and says which protectors it may have`() throws {
        let policy = "[policy]\nlock = [\"keyring\"]\nsealed-keyring = [\"systemd\"]\n"
        var read = try configuration(policy, isSystem: true)
        #expect(read.sealedKeyringProtectors == ["systemd"])
        try read.apply(SettingsTable(file: "user", text: "[keyring]\nkind = \"sealed\"\n"), isSystem: false)
        #expect(read.keyring == .secretService)
    }

    @Test(
        arguments: [
            ([:], nil), (["HOME": "."], nil), (["HOME": ""], nil), (["HOME": "/h"], "/h/.config/lanyard/config.toml"),
            (["HOME": "/h", "XDG_CONFIG_HOME": "c"], "/h/.config/lanyard/config.toml"),
            (["HOME": ".", "XDG_CONFIG_HOME": "/c"], "/c/lanyard/config.toml"),
            (["HOME": "/h", "LANYARD_CONFIG": "mine.toml"], "mine.toml"),
        ] as [([String: String], String?)])
    func `a relative folder of the environment has no configuration`(environment: [String: String], file: String?) {
        #expect(Configuration.userFile(environment: environment) == file)
    }

    @Test(arguments: ["0": false, "off": false, "1": true, "YES": true, "": true])
    func `LANYARD_ANSWER_CACHE stands for answer-cache`(value: String, kept: Bool) throws {
        let environment = ["HOME": "/nonexistent", "LANYARD_ANSWER_CACHE": value]
        #expect(try Configuration.load(environment: environment).answerCache == kept)
    }

    @Test func `LANYARD_ANSWER_CACHE takes nothing but a boolean`() throws {
        let environment = ["HOME": "/nonexistent", "LANYARD_ANSWER_CACHE": "2"]
        let error = try #require(throws: SettingsError.self) { try Configuration.load(environment: environment) }
        #expect(error.file == "LANYARD_ANSWER_CACHE" && error.message == "the value must be 0 or 1")
    }

    @Test(arguments: [#"C:\new\tools\b.exe"#, #""my browser" --url=%s"#, #"'a\"b' \\ \n"#, "über a\u{301}b"])
    func `a variable's text counts as it is written`(value: String) throws {
        let environment = ["HOME": "/nonexistent", "LANYARD_BROWSER": value]
        let browser = try #require(try Configuration.load(environment: environment).browser)
        #expect(browser.utf8.elementsEqual(value.utf8), "\(browser)")
    }

    @Test(arguments: ["fire\nfox", "a\rb", "a\tb", "a\u{1B}[2Jb", "a\u{7F}"])
    func `a variable with a control character is refused, and not shown`(value: String) throws {
        let environment = ["HOME": "/nonexistent", "LANYARD_BROWSER": value]
        let error = try #require(throws: SettingsError.self) { try Configuration.load(environment: environment) }
        #expect(error.description == "LANYARD_BROWSER: the value holds a control character")
    }

    @Test func `answer-cache is true or false, and can be locked`() throws {
        #expect(try configuration("answer-cache = true").answerCache)
        #expect(throws: SettingsError.self) { try configuration("answer-cache = \"no\"") }
        var merged = try configuration(
            "answer-cache = false\n[policy]\nlock = [\"answer-cache\"]\n", isSystem: true)
        try merged.apply(SettingsTable(file: "user", text: "answer-cache = true"), isSystem: false)
        #expect(!merged.answerCache)
    }

    @Test(arguments: [
        ("api://x/.default", "api://x"), ("https://r//.default", "https://r/"), ("repo", nil), ("/x", nil),
        ("https://API.example/User.Read", "https://api.example"), ("499b/.default", "499b"),
    ])
    func `a scope names its resource, or none`(scope: String, resource: String?) {
        #expect(scope.resourceOfScope == resource)
    }
}
