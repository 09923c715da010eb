import Foundation
import Model
import SettingsFile
import Testing

@testable import Rules

/// Sign-ins without a user: the `[[identity]]` tables, and which one applies.
@Suite struct IdentityTests {
    private static let application = """
        name = "a"
        authority = "https://login.example/t"
        client-id = "c"

        """

    private static func configuration(_ text: String) throws -> Configuration {
        try Configuration("user.toml", text)
    }

    private static func identity(_ lines: String) throws -> Identity {
        try #require(try configuration("[[identity]]\n\(lines)\n").identities.first)
    }

    struct Proved: CustomTestStringConvertible, Sendable {
        let line: String
        let proof: Identity.Proof
        var testDescription: String { line }
    }

    static let proved = [
        Proved(line: "secret = true", proof: .secret(.keyring)),
        Proved(line: #"secret-variable = "V""#, proof: .secret(.variable("V"))),
        Proved(line: #"certificate = "/c.pem""#, proof: .certificate(path: "/c.pem", password: nil)),
        Proved(
            line: "certificate = \"/c.pem\"\ncertificate-password = true",
            proof: .certificate(path: "/c.pem", password: .keyring)),
        Proved(
            line: "certificate = \"/c.pem\"\ncertificate-password-variable = \"V\"",
            proof: .certificate(path: "/c.pem", password: .variable("V"))),
        Proved(line: #"assertion = "github-actions""#, proof: .assertion("github-actions")),
        Proved(line: #"assertion = "azure-pipelines:ID 1""#, proof: .assertion("azure-pipelines:ID 1")),
        Proved(line: #"assertion = "file:/t""#, proof: .assertion("file:/t")),
        Proved(line: #"assertion = "variable:T""#, proof: .assertion("variable:T")),
        Proved(line: "secret = false\nassertion = \"kubernetes\"", proof: .assertion("kubernetes")),
    ]

    @Test(arguments: proved)
    func `an application has one proof, which is written as it is read`(row: Proved) throws {
        let identity = try Self.identity(Self.application + row.line)
        #expect(identity.application?.proof == row.proof && identity.line == 1)
        #expect(try Self.configuration(identity.toml).identities.map(\.anywhere) == [identity.anywhere])
    }

    @Test(arguments: ["system", "client-id:1", "object-id:1", "resource-id:/subscriptions/1"])
    func `a machine's identity has nothing but its id`(id: String) throws {
        let identity = try Self.identity("name = \"m\"\nmanaged = \"\(id)\"")
        #expect(identity.source == .machine(id) && identity.authority == "https://localhost/managed_identity")
        #expect(try identity.checked() == identity.anywhere)
    }

    @Test(arguments: [("", "system"), ("managed = \"client-id:1\"", "client-id:1")])
    func `an identity that a plugin finds has that plugin's place, and needs no id`(line: String, id: String) throws {
        let identity = try Self.identity("name = \"m\"\nplugin = \"acme\"\n\(line)")
        #expect(identity.source == .machine(id, plugin: "acme") && identity.clientID == id)
        #expect(identity.authority == "https://localhost/managed_identity.acme")
        #expect(identity.toml.contains("managed") == !line.isEmpty)
        #expect(try identity.checked() == identity.anywhere)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        let lines: String
        let says: String
        var testDescription: String { lines }
    }

    static let faults = [
        Fault(lines: "managed = \"system\"", says: "needs `name`"),
        Fault(lines: "name = \"a b\"\nmanaged = \"system\"", says: "must be a short word"),
        Fault(lines: "name = \"-a\"\nmanaged = \"system\"", says: "must be a short word"),
        Fault(lines: "name = \"\"\nmanaged = \"system\"", says: "must be a short word"),
        Fault(lines: "name = \"machine\"\nmanaged = \"system\"", says: "is built in"),
        Fault(lines: "name = \"environment\"\nmanaged = \"system\"", says: "is built in"),
        Fault(lines: "name = \"a\"", says: "needs a proof such as `certificate`"),
        Fault(lines: "name = \"a\"\nsecret = false", says: "needs a proof such as `certificate`"),
        Fault(lines: "name = \"a\"\nsecret = true", says: "needs `authority`"),
        Fault(
            lines: "name = \"a\"\nauthority = \"https://login.example/t\"\nsecret = true", says: "needs `client-id`"),
        Fault(
            lines: "name = \"a\"\nauthority = \"http://login.example/t\"\nclient-id = \"c\"\nsecret = true",
            says: "https"),
        Fault(lines: application + "secret = true\nmanaged = \"system\"", says: "contradict each other"),
        Fault(lines: application + "secret = true\nsecret-variable = \"V\"", says: "contradict each other"),
        Fault(lines: application + "certificate = \"/c\"\nassertion = \"x\"", says: "contradict each other"),
        Fault(lines: application + "secret = \"hunter2\"", says: "`secret`"),
        Fault(lines: application + "secret-variable = \"hunter-2\"", says: "the name of a variable"),
        Fault(lines: application + "secret-variable = \"2V\"", says: "the name of a variable"),
        Fault(lines: application + "certificate = \"c.pem\"", says: "an absolute path"),
        Fault(lines: application + "certificate = \"\"", says: "an absolute path"),
        Fault(
            lines: application
                + "certificate = \"/c\"\ncertificate-password = true\ncertificate-password-variable = \"V\"",
            says: "contradict each other"),
        Fault(lines: application + "secret = true\ncertificate-password = true", says: "goes with `certificate` only"),
        Fault(lines: application + "assertion = \"\"", says: "where the token comes from"),
        Fault(lines: application + "assertion = \"file:relative\"", says: "where the token comes from"),
        Fault(lines: application + "assertion = \"variable:a-b\"", says: "where the token comes from"),
        Fault(lines: application + "assertion = \"eyJhbGciOi.J9.x/y\"", says: "where the token comes from"),
        Fault(lines: "name = \"m\"\nmanaged = \"mine\"", says: "`managed` must be"),
        Fault(lines: "name = \"m\"\nmanaged = \"client-id:\"", says: "`managed` must be"),
        Fault(lines: "name = \"m\"\nplugin = \"../acme\"", says: "`plugin` must be"),
        Fault(lines: "name = \"m\"\nplugin = \"acme\"\nauthority = \"https://a\"", says: "has no `authority`"),
        Fault(lines: application + "secret = true\nplugin = \"acme\"", says: "contradict each other"),
        Fault(lines: "name = \"m\"\nmanaged = \"system\"\nclient-id = \"c\"", says: "has no `client-id`"),
        Fault(
            lines: "name = \"m\"\nmanaged = \"system\"\n[[identity]]\nname = \"m\"\nmanaged = \"system\"",
            says: "two identities of the name"),
    ]

    @Test(arguments: faults)
    func `what is wrong with a table is said, with its line and never a secret`(fault: Fault) throws {
        let error = try #require(throws: SettingsError.self) { _ = try Self.identity(fault.lines) }
        #expect(error.description.contains(fault.says), "\(error)")
        #expect(error.line != nil && !error.description.contains("hunter"), "\(error)")
    }

    private static let files = """
        default-identity = "b"
        authority = "https://login.example/people"
        client-id = "people"

        [[identity]]
        name = "a"
        authority = "https://login.example/t"
        client-id = "c"
        secret = true

        [[identity]]
        name = "b"
        managed = "system"

        [[rule]]
        url = "https://named.example"
        identity = "a"
        scopes = ["s"]

        [[rule]]
        url = "https://user.example"
        authority = "https://login.example/people"
        scopes = ["s"]
        """

    private static func resolve(
        _ url: String, _ text: String = files, _ change: (inout CredentialRequest) -> Void = { _ in }
    ) throws -> TokenRequest? {
        var request = try #require(URLPattern(url)).request
        change(&request)
        return try configuration(text).resolve(request)
    }

    @Test func `the request's identity wins over the rule's, and that over the default`() throws {
        let named = try #require(try Self.resolve("https://named.example"))
        #expect(named.identity?.name == "a" && named.authority == "https://login.example/t" && named.clientID == "c")
        #expect(try Self.resolve("https://user.example")?.identity?.name == "b")
        #expect(try Self.resolve("https://named.example") { $0.explicit.identity = "b" }?.identity?.name == "b")
        let machine = try Self.resolve("https://named.example") { $0.explicit.identity = "machine" }
        #expect(machine?.identity == .machine && machine?.account == nil)
    }

    @Test func `what named the account or the identity is known`() throws {
        #expect(try Self.resolve("https://named.example")?.namedBy == .rule)
        #expect(try Self.resolve("https://user.example")?.namedBy == .configuration)
        #expect(try Self.resolve("https://named.example") { $0.explicit.identity = "b" }?.namedBy == .request)
        #expect(try Self.resolve("https://user.example") { $0.explicit.account = "alice" }?.namedBy == .request)
        let rule = """
            [[rule]]
            url = "https://x.example"
            authority = "https://login.example/t"
            scopes = ["s"]

            """
        let settings = "client-id = \"c\"\n"
        func namer(_ text: String) throws -> TokenRequest.Namer? {
            try Self.resolve("https://x.example", text)?.namedBy
        }
        #expect(try namer(settings + rule) == nil)
        #expect(try namer(settings + rule + "account = \"alice\"") == .rule)
        #expect(try namer(settings + "account = \"bob\"\n" + rule) == .configuration)
        #expect(try namer(settings + "account = \"bob\"\n" + rule + "account = \"alice\"") == .rule)
    }

    @Test(arguments: [
        ("https://x.example", "bob", TokenRequest.Namer.configuration),
        ("https://contoso@x.example", "bob", .configuration),
        ("https://ann%40contoso.example@x.example", nil, nil),
    ])
    func `an email address in the URL is meant rather than the configuration's account`(
        _ url: String, _ account: String?, _ namer: TokenRequest.Namer?
    ) throws {
        let text = """
            client-id = "c"
            account = "bob"
            [[rule]]
            url = "https://x.example"
            authority = "https://login.example/t"
            scopes = ["s"]
            """
        let token = try #require(try Self.resolve(url, text))
        #expect(token.account == account && token.namedBy == namer)
        #expect(token.expectedAccount == account ?? "ann@contoso.example")
    }

    @Test func `a request that names an account is a user's`() throws {
        let wanted = try #require(try Self.resolve("https://user.example") { $0.explicit.account = "alice" })
        #expect(wanted.identity == nil && wanted.account == "alice" && wanted.clientID == "people")
        // A rule without an authority then has the configuration's.
        let other = try Self.resolve("https://named.example") { $0.explicit.account = "alice" }
        #expect(other?.authority == "https://login.example/people")
    }

    @Test func `a name that nobody has is refused, with those that there are`() throws {
        let error = #expect(throws: ResolutionError.self) {
            _ = try Self.resolve("https://named.example") { $0.explicit.identity = "nobody" }
        }
        #expect(error == .unknownIdentity("nobody", names: ["environment", "machine", "a", "b"]))
    }

    @Test func `a rule needs an authority, unless it names an identity`() {
        #expect(throws: SettingsError.self) { _ = try Self.configuration("[[rule]]\nurl = \"https://x.example\"") }
        #expect(throws: SettingsError.self) {
            _ = try Self.configuration(
                "[[rule]]\nurl = \"https://x.example\"\nidentity = \"a\"\naccount = \"alice\"")
        }
    }

    @Test func `an identity is added and removed, and rules below it stay`() throws {
        let path = NSTemporaryDirectory() + "lanyard-identities-\(UUID().uuidString).toml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.files.write(toFile: path, atomically: true, encoding: .utf8)
        let new = Identity(name: "new", source: .machine("object-id:1"))
        try TableFile<Identity>(reading: path).add(new, schema: nil)
        let file = try TableFile<Identity>(reading: path)
        try file.remove(try #require(file.tables.first { $0.name == "a" }))
        let after = try Configuration(path, try String(contentsOfFile: path, encoding: .utf8))
        #expect(after.identities.map(\.name) == ["b", "new"] && after.rules.count == 2)
        let rules = try TableFile<Rule>(reading: path)
        try rules.remove(rules.tables[0])
        #expect(try TableFile<Identity>(reading: path).tables.map(\.name) == ["b", "new"])
    }
}
