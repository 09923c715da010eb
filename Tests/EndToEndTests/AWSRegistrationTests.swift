import Foundation
import TestSupport
import Testing

/// The client that lanyard registers at IAM Identity Center, exchanges that AWS refuses, and what rules for AWS are refused.
@Suite struct AWSRegistrationTests {
    private static let portal = "https://portal.sso.eu-central-1.amazonaws.com"
    private static let refusal =
        #"{"path": "/device_authorization", "status": 401, "times": 1, "body": "{\"error\": \"invalid_client\"}"}"#
    private static let startURL = "https://contoso.awsapps.com/start"

    private static func paths(_ world: World) async throws -> [String] {
        let all = try await world.sandbox.requests().filter { $0.host == "exchanges" }
        try await world.sandbox.clearLog()
        return all.map { "\($0.method) \($0.path) \($0.status)" }
    }

    @Test func `one client serves all sign-ins, until it is refused`() async throws {
        try await IdentityCenterTests.with(signedInAs: nil) { world in
            try await world.sandbox.set(#"{"device_code_interval": 1}"#)
            let browser = world.browser(as: "alice@contoso.example")
            let registration = "POST /client/register 200"
            for isFirst in [true, false] {
                let traced = browser.merging(["LANYARD_TRACE": "plugin"]) { $1 }
                let login = try await world.lanyard(["login", Self.portal], traced)
                #expect(login.status == 0 && login.errors.contains("client_secret=") == true, "\(login)")
                #expect(!login.errors.contains("clientID"), "\(login)")
                #expect(try await Self.paths(world).contains(registration) == isFirst)
                #expect(try await world.lanyard(["logout"]).status == 0)
            }
            try await world.sandbox.clearLog()
            try await world.sandbox.fault(Self.refusal)
            let forgotten = try await world.lanyard(["login", Self.portal], browser)
            #expect(forgotten.status == 0, "\(forgotten)")
            let onPage = try await Self.paths(world)
            #expect(onPage.prefix(2) == ["POST /device_authorization 401", registration], "\(onPage)")
            try await world.signInByDevice(Self.portal, as: "alice@contoso.example")
            let byDevice = try await Self.paths(world)
            #expect(byDevice.first == "POST /device_authorization 200", "\(byDevice)")
            let doctor = try await world.lanyard(["doctor", "--online"])
            #expect(!doctor.output.contains("client-secret"), "\(doctor)")
            #expect(try await !Self.paths(world).contains(registration))
            try await world.sandbox.fault(Self.refusal)
            try await world.signInByDevice(Self.portal, as: "alice@contoso.example")
            let anew = try await Self.paths(world)
            #expect(
                anew.prefix(3) == ["POST /device_authorization 401", registration, "POST /device_authorization 200"],
                "\(anew)")
            // The sign-in by the first client went with it; this one's is renewed.
            let keys = try await world.lanyard(["aws", "\(Self.portal)/123456789012/Developer"])
            #expect(keys.status == 0, "\(keys)")
        }
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let url: String
        let path: String
        let body: String
    }

    private static let sts = "https://sts.eu-central-1.amazonaws.com"
    static let exchanges = [
        Refused(
            testDescription: "ECR", url: "https://\(IdentityCenterTests.registry)", path: "/",
            body: #"{\"__type\": \"x#UnrecognizedClientException\"}"#),
        Refused(
            testDescription: "ECR Public", url: "https://public.ecr.aws", path: "/",
            body: #"{\"__type\": \"x#ExpiredTokenException\"}"#),
        Refused(
            testDescription: "CodeArtifact", url: "https://\(IdentityCenterTests.index)",
            path: "/v1/authorization-token", body: #"{\"__type\": \"x#ExpiredTokenException\"}"#),
        Refused(
            testDescription: "a role of a role", url: "\(sts)/arn:aws:iam::222222222222:role/other", path: "/",
            body: "<Error><Code>ExpiredToken</Code></Error>"),
        Refused(
            testDescription: "a role's keys", url: "\(portal)/123456789012/Developer",
            path: "/federation/credentials", body: "{}"),
    ]

    @Test(arguments: exchanges, [false, true])
    func `an exchange that is refused once is made anew once, with a new token if it wasn't just renewed`(
        _ exchange: Refused, isNew: Bool
    ) async throws {
        try await IdentityCenterTests.with { world in
            if isNew {
                try await world.sandbox.fault(#"{"path": "/federation/credentials", "status": 401, "times": 1}"#)
                let other = try await world.lanyard(["aws", "\(Self.portal)/210987654321/ReadOnly"])
                let paths = try await Self.paths(world)
                #expect(other.status == 0 && paths.contains("POST /token 200"), "\(other)")
            }
            let status = exchange.path.hasPrefix("/federation") ? 401 : 400
            try await world.sandbox.fault(
                #"{"path": "\#(exchange.path)", "status": \#(status), "times": 1, "body": "\#(exchange.body)"}"#)
            let verb = exchange.url.contains("sso") || exchange.url.contains("sts") ? "aws" : "token"
            let ended = try await world.lanyard([verb, exchange.url])
            #expect(ended.status == 0, "\(ended)")
            let paths = try await Self.paths(world)
            #expect(paths.filter { $0.hasSuffix(" \(exchange.path) \(status)") }.count == 1, "\(paths)")
            #expect(paths.filter { $0.hasSuffix(" \(exchange.path) 200") }.count == 1, "\(paths)")
            #expect(paths.filter { $0 == "POST /token 200" }.count == (isNew ? 0 : 1), "\(paths)")
            let again = try await world.lanyard([verb, exchange.url])
            #expect(again.output == ended.output, "\(again)")
            #expect(try await Self.paths(world).isEmpty)
        }
    }

    @Test func `too many requests at AWS, which has the status of mistakes for them, are waited for once`() async throws
    {
        try await IdentityCenterTests.with { world in
            let registry = "https://\(IdentityCenterTests.registry)"
            let fault = #""status": 400, "body": "{\"__type\": \"ThrottlingException\"}"}"#
            try await world.sandbox.fault(#"{"path": "/", "times": 1, "# + fault)
            #expect(try await world.lanyard(["token", registry]).status == 0)
            #expect(try await Self.paths(world) == ["GET /federation/credentials 200", "POST / 400", "POST / 200"])
            try await world.sandbox.fault(#"{"path": "/", "# + fault)
            let refused = try await world.lanyard(["token", "https://public.ecr.aws"])
            #expect(refused.status == 1 && refused.errors.contains("too many requests"), "\(refused)")
            #expect(refused.errors.contains("try again in a minute"), "\(refused)")
        }
    }

    @Test func `exec sets what AWS's programs read of keys, and unsets what some go by first`() async throws {
        try await IdentityCenterTests.with { world in
            let former = [
                "AWS_PROFILE": "old", "AWS_DEFAULT_PROFILE": "old", "AWS_SECURITY_TOKEN": "old",
                "AWS_SESSION_TOKEN": "old", "AWS_WEB_IDENTITY_TOKEN_FILE": "/old",
                "AWS_CREDENTIAL_EXPIRATION": "2001-01-01T00:00:00Z", "AWS_REGION": "eu-west-1",
            ]
            let role = "\(Self.portal)/123456789012/Developer"
            let ended = try await world.lanyard(["exec", role, "--", "env"], former)
            let own = ended.lines.filter { $0.hasPrefix("AWS_") }.map { String($0.split(separator: "=")[0]) }
            let names = ["ACCESS_KEY_ID", "CREDENTIAL_EXPIRATION", "REGION", "SECRET_ACCESS_KEY", "SESSION_TOKEN"]
            #expect(own.sorted() == names.map { "AWS_\($0)" })
            #expect(!ended.output.contains("=old") && !ended.output.contains("2001-01-01"), "\(own)")
        }
    }

    @Test func `a rule that could only hand out the token itself, or an ID token, is refused at once`() async throws {
        try await IdentityCenterTests.with { world in
            let registry = "https://\(IdentityCenterTests.registry)"
            for (arguments, says) in [
                (
                    ["rule", "add", "https://git.example.com", "--authority", Self.startURL],
                    "--exchange aws-codeartifact"
                ),
                (
                    ["rule", "add", "https://us.pkg.example", "--authority", Self.startURL, "--token", "id"],
                    "has no ID tokens"
                ),
                (["token", "--id-token", registry], "has no ID tokens"),
                (["explain", "--for", "aws", Self.portal], "not ask lanyard yet: lanyard configure aws\n"),
            ] {
                let ended = try await world.lanyard(arguments, world.browser(as: "alice@contoso.example"))
                #expect((ended.output + ended.errors).contains(says), "\(ended)")
            }
            #expect(try await Self.paths(world).isEmpty)
        }
    }

    @Test(arguments: [
        ("plugin.aws.region", "frankfurt", "like *-*-*"), ("plugin.aws.region", "eu-central-1", nil),
        ("plugin.aws.regions", "fabrikam.awsapps.com=us-east-1", nil), ("plugin.aws.regions", "us-east-1", "like"),
        ("plugin.aws.endpoint", "http://localhost:1", "an https URL"), ("plugin.source.keep-for", "an hour", "seconds"),
        ("plugin.source.keep-for", "3600", nil),
    ])
    func `a plugin's option is set to what it can be only`(_ key: String, _ value: String, _ says: String?) async throws
    {
        try await Home.with { home in
            let ended = try await home.lanyard(["config", "set", key, value])
            #expect(ended.status == (says == nil ? 0 : 64), "\(ended)")
            if let says { #expect(ended.errors.contains("`\(key)` must be \(says)"), "\(ended)") }
        }
    }

    @Test(arguments: [
        (#"duration = "0""#, "https://\(IdentityCenterTests.index)", nil),
        (#"duration = "899""#, "https://\(IdentityCenterTests.index)", "none that AWS takes"),
        (#"duration = "43201""#, "https://\(IdentityCenterTests.index)", "none that AWS takes"),
        (#"session-name = "x""#, "\(sts)/arn:aws:iam::222222222222:role/other", "too long or too short"),
        (#"duration = "0""#, "\(sts)/arn:aws:iam::222222222222:role/other", "none that AWS takes"),
    ])
    func `what AWS would refuse of a rule is refused here`(_ text: String, _ url: String, _ says: String?) async throws
    {
        try await IdentityCenterTests.with(text) { world in
            let ended = try await world.lanyard([url.contains("sts") ? "aws" : "token", url])
            #expect(ended.status == (says == nil ? 0 : 1), "\(ended)")
            if let says { #expect(ended.errors.contains(says), "\(ended)") }
        }
    }
}
