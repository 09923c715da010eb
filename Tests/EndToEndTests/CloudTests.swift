import Foundation
import TestSupport
import Testing

/// Temporary AWS keys, as the AWS CLI receives them, and tokens for Google's SDK to exchange.
@Suite struct CloudTests {
    private static let role = "arn:aws:iam::123456789012:role/developer"

    private struct Keys: Decodable {
        var Version: Int
        var AccessKeyId: String
        var SecretAccessKey: String
        var SessionToken: String
        var Expiration: String
    }

    /// Runs the body in a world with a rule for the sandbox's STS, where alice is signed in; `url` is her role's.
    private static func with(_ body: @Sendable (World, _ url: String) async throws -> Void) async throws {
        try await World.with { world in
            try world.configure(rule: world.sandbox.exchanges, at: "contoso.example", #"exchange = "aws-sts""#)
            let url = "\(world.sandbox.exchanges)/\(role)"
            let login = try await world.lanyard(["login", url], world.browser(as: "alice@contoso.example"))
            try #require(login.status == 0, "\(login)")
            try await world.sandbox.clearLog()
            try await body(world, url)
        }
    }

    private static func keys(_ world: World, _ url: String) async throws -> Keys {
        let ended = try await world.lanyard(["aws", url])
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        return try JSONDecoder().decode(Keys.self, from: Data(ended.output.utf8))
    }

    private static func assumed(_ world: World) async throws -> [Sandbox.Request] {
        try await world.sandbox.requests().filter { $0.form?["Action"] == "AssumeRoleWithWebIdentity" }
    }

    @Test func `keys are got once, in the user's name, and each role has its own`() async throws {
        try await Self.with { world, url in
            let first = try await Self.keys(world, url)
            #expect(first.Version == 1 && first.Expiration.hasSuffix("Z"))
            #expect(try await Self.keys(world, url).SecretAccessKey == first.SecretAccessKey)
            let other = try await Self.keys(
                world, "\(world.sandbox.exchanges)/arn:aws:iam::123456789012:role/Developer")
            #expect(other.SecretAccessKey != first.SecretAccessKey)
            let assumed = try await Self.assumed(world)
            #expect(assumed.map { $0.form?["RoleSessionName"] } == ["alice@contoso.example", "alice@contoso.example"])

            // They belong to a role, and so to none of docker's servers.
            try world.link("docker-credential-lanyard")
            #expect(try await world.docker("list").output == "{}\n")
            // Only the tool's own protocol can carry credentials with several parts.
            for arguments in [["token", url], ["get"]] {
                let refused = try await world.lanyard(arguments, input: arguments == ["get"] ? "url=\(url)\n" : "")
                #expect(refused.status == 1 && refused.hasNoCredential, "\(refused)")
                #expect(refused.errors.contains("has several parts: AccessKeyId, SecretAccessKey, SessionToken"))
            }
        }
    }

    @Test func `keys that are about to end are not handed out, unless there are no others`() async throws {
        try await Self.with { world, url in
            try await world.sandbox.set(#"{"key_lifetime": 290}"#)
            let first = try await Self.keys(world, url)
            let second = try await Self.keys(world, url)
            #expect(first.SecretAccessKey != second.SecretAccessKey)
            try await world.sandbox.fault(#"{"path": "/", "status": 503}"#)
            #expect(try await Self.keys(world, url).SecretAccessKey == second.SecretAccessKey)
        }
    }

    @Test func `a role that is refused, a URL without one, and nobody who signed in are told`() async throws {
        try await Self.with { world, url in
            let denied = try await world.lanyard([
                "aws", "\(world.sandbox.exchanges)/arn:aws:iam::123456789012:role/denied",
            ])
            #expect(denied.status == 1 && denied.output.isEmpty, "\(denied)")
            #expect(denied.errors.contains("refuses the role: Not authorized to perform"), "\(denied)")
            #expect(denied.errors.contains("the role's trust policy"), "\(denied)")
            // Only `aws` is given keys, and only for a role.
            let status = try await world.lanyard(["status", world.sandbox.exchanges])
            let text = "\(world.sandbox.exchanges)/ as alice@contoso.example, as keys for lanyard aws and exec only\n"
            #expect(status.status == 0 && status.output.hasSuffix("renews  \(text)"), "\(status)")
            let none = try await world.lanyard(["aws", world.sandbox.exchanges])
            #expect(none.status == 1 && none.errors.contains("the URL's path is not a role"), "\(none)")
            #expect(try await world.lanyard(["logout"]).status == 0)
            let nobody = try await world.lanyard(["aws", url])
            #expect(nobody.status == 2 && nobody.errors.contains("lanyard login \(url)"), "\(nobody)")
        }
    }

    @Test(.enabled(if: Clients.folder != nil))
    func `the AWS CLI gets keys and uses them, and Google's SDK gets a token until the logout`() async throws {
        try await Self.with { world, url in
            let configuration = world.folder + "/aws-config"
            try "[default]\nregion = eu-central-1\ncredential_process = \(world.folder)/bin/lanyard aws \(url)\n"
                .write(toFile: configuration, atomically: true, encoding: .utf8)
            var environment = world.environment
            environment["AWS_CONFIG_FILE"] = configuration
            environment["AWS_ENDPOINT_URL"] = world.sandbox.exchanges
            environment["AWS_CA_BUNDLE"] = world.sandbox.caFile
            let aws = Clients.program("aws")
            let identity = try await world.runInside(
                aws, ["sts", "get-caller-identity", "--output", "text", "--query", "Arn"], environment: environment)
            #expect(identity.output == "\(Self.role)/alice@contoso.example\n", "\(identity)")

            let google = "https://sts.googleapis.com"
            try world.configure(rule: google, at: "contoso.example")
            let answer = try await Self.googleToken(world, google)
            let name = claims(of: answer.output.trimmingCharacters(in: .newlines))?["preferred_username"] as? String
            #expect(name == "alice@contoso.example", "\(answer)")
            #expect(try await world.lanyard(["logout"]).status == 0)
            let nobody = try await Self.googleToken(world, google)
            #expect(nobody.status == 1 && nobody.errors.contains("lanyard login \(google)"), "\(nobody)")
        }
    }

    @Test(.enabled(if: Clients.folder != nil))
    func `an ID token gets a role's keys at AWS, and a workforce pool's token at Google`() async throws {
        try await World.with { world in
            let (issuer, aws, google) = (world.sandbox.issuer, world.sandbox.exchanges, "https://sts.googleapis.com")
            for (url, further) in [(aws, "token = \"id\"\nexchange = \"aws-sts\""), (google, "")] {
                try world.configure(
                    after: """
                        [[rule]]
                        url = "\(url)"
                        authority = "\(issuer.url)"
                        client-id = "\(issuer.clientID)"
                        scopes = ["openid", "profile"]
                        \(further)

                        """)
            }
            let url = "\(aws)/\(Self.role)"
            let login = try await world.lanyard(["login", url], world.browser(as: "alice_contoso"))
            try #require(login.status == 0, "\(login)")
            let configuration = world.folder + "/aws-config"
            try "[default]\nregion = eu-central-1\ncredential_process = \(world.folder)/bin/lanyard aws \(url)\n"
                .write(toFile: configuration, atomically: true, encoding: .utf8)
            var variables = ["AWS_CONFIG_FILE": configuration, "AWS_ENDPOINT_URL": aws]
            variables["AWS_CA_BUNDLE"] = world.sandbox.caFile
            let identity = try await world.runInside(
                Clients.program("aws"), ["sts", "get-caller-identity", "--output", "text", "--query", "Arn"],
                environment: world.environment.merging(variables) { $1 })
            #expect(identity.output == "\(Self.role)/alice_contoso\n", "\(identity)")

            variables = ["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1", "REQUESTS_CA_BUNDLE": world.sandbox.caFile]
            let token = try await world.runInside(
                Clients.program("python3"),
                ["-c", Self.workforce, "\(world.folder)/bin/lanyard gcloud \(google)", "\(aws)/google/v1/token"],
                environment: world.environment.merging(variables) { $1 })
            #expect(token.output == "ya29.\n", "\(token)")
            let user = try await world.sandbox.requests().last?.user
            #expect(user?.contains("/workforcePools/contoso/providers/issuer/subject/") == true, "\(user ?? "")")
        }
    }

    private static func googleToken(_ world: World, _ url: String) async throws -> Ended {
        var environment = world.environment
        environment["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1"
        return try await world.runInside(
            Clients.program("python3"), ["-c", pluggable, "\(world.folder)/bin/lanyard gcloud \(url)"],
            environment: environment)
    }

    /// The SDK's exchange of an ID token from lanyard.
    private static let workforce = """
        import sys
        from google.auth import pluggable
        from google.auth.transport.requests import Request
        credentials = pluggable.Credentials(
            audience="//iam.googleapis.com/locations/global/workforcePools/contoso/providers/issuer",
            subject_token_type="urn:ietf:params:oauth:token-type:id_token", token_url=sys.argv[2],
            workforce_pool_user_project="contoso-project",
            credential_source={"executable": {"command": sys.argv[1], "timeout_millis": 60000}},
            scopes=["https://www.googleapis.com/auth/cloud-platform"])
        credentials.refresh(Request())
        print(credentials.token[:5])
        """

    /// The SDK's use of a credential configuration, up to the token.
    private static let pluggable = """
        import sys
        from google.auth import pluggable
        credentials = pluggable.Credentials(
            audience="//iam.googleapis.com/locations/global/workforcePools/contoso/providers/entra",
            subject_token_type="urn:ietf:params:oauth:token-type:jwt",
            token_url="https://sts.googleapis.com/v1/token", workforce_pool_user_project="project",
            credential_source={"executable": {"command": sys.argv[1], "timeout_millis": 60000}})
        print(credentials.retrieve_subject_token(None))
        """
}
