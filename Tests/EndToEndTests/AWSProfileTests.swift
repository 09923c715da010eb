import Foundation
import TestSupport
import Testing

/// Profiles of the AWS CLI that sign in at IAM Identity Center, from then on by lanyard.
@Suite struct AWSProfileTests {
    private static let file = """
        [default]
        region = eu-central-1

        [sso-session contoso]
        sso_start_url = https://contoso.awsapps.com/start/#/
        sso_region = eu-central-1
        sso_registration_scopes = sso:account:access

        [profile dev]
        region = eu-central-1
        sso_session = contoso
        sso_account_id = 123456789012
        sso_role_name = Developer
        output = text

        [profile "read only"]
        sso_start_url = https://contoso.awsapps.com/start
        sso_region = eu-central-1
        sso_account_id = 210987654321
        sso_role_name = ReadOnly

        [profile keys]
        role_arn = arn:aws:iam::123456789012:role/dev
        source_profile = default

        """

    private static let portal = "https://portal.sso.eu-central-1.amazonaws.com"

    /// Runs the body in a world with those profiles, in which the sandbox stands in for AWS.
    private static func with(
        _ text: String = file, region: String? = nil, _ body: @Sendable (World, _ file: String) async throws -> Void
    ) async throws {
        try await World.with { world in
            let option = region.map { "region = \"\($0)\"\n" } ?? ""
            try world.configure(after: "[plugin.aws]\n\(option)endpoint = \"\(world.sandbox.exchanges)\"\n")
            let file = "\(world.folder)/home/.aws/config"
            try FileManager.default.createDirectory(
                atPath: "\(world.folder)/home/.aws", withIntermediateDirectories: true)
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            try await body(world, file)
        }
    }

    private static func text(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    /// The lines of a text that aren't in another.
    private static func lines(of text: String, notIn other: String) -> [String] {
        let known = Set(other.components(separatedBy: "\n"))
        return text.components(separatedBy: "\n").filter { !known.contains($0) }
    }

    @Test func `a profile is chosen, and lanyard takes its place: rules, sign-in, keys and registries`() async throws {
        try await Self.with { world, file in
            try FileManager.default.createSymbolicLink(
                atPath: "\(world.folder)/bin/docker", withDestinationPath: "/bin/true")
            try world.link("docker-credential-lanyard")
            let shown = try await world.atTerminal(
                ["lanyard", "configure", "aws"],
                answering: [
                    ("which of these should aws get", "dev"), ("go on? [Y/n]", "y"),
                    ("the profile dev needs a rule", ""),
                    ("docker, for the registries of 123456789012", "y"),
                ])
            #expect(shown.status == 0, "\(shown)")
            #expect(shown.output.contains("because aws would go by it first"), "\(shown)")
            let now = try Self.text(file)
            #expect(
                Self.lines(of: now, notIn: Self.file)
                    == ["credential_process = lanyard aws \(Self.portal)/123456789012/Developer"])
            #expect(
                Self.lines(of: Self.file, notIn: now)
                    == ["sso_session = contoso", "sso_account_id = 123456789012", "sso_role_name = Developer"])
            let login = try await world.lanyard(["login", Self.portal], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let keys = try await world.lanyard(["aws", "\(Self.portal)/123456789012/Developer"])
            #expect(keys.output.contains("\"AccessKeyId\":\"ASIA"), "\(keys)")
            let docker = try await world.runInside(
                "\(world.folder)/bin/docker-credential-lanyard", ["get"],
                input: "https://123456789012.dkr.ecr.us-west-2.amazonaws.com\n")
            #expect(docker.status == 0 && docker.output.contains(#""Username":"AWS""#), "\(docker)")
            let back = try await world.lanyard(["unconfigure", "aws", "--yes"])
            #expect(back.status == 0 && back.errors.contains("is put back into ~/.aws/config"), "\(back)")
            #expect(back.errors.contains("2 rules stay"), "\(back)")
            let restored = try Self.text(file).components(separatedBy: "\n")
            #expect(restored.sorted() == Self.file.components(separatedBy: "\n").sorted(), "\(restored)")
        }
    }

    @Test func `where the machine has no keys, a registry opens after the sign-in that a profile has`() async throws {
        try await Self.with(region: "eu-central-1") { world, _ in
            try FileManager.default.createSymbolicLink(
                atPath: "\(world.folder)/bin/docker", withDestinationPath: "/bin/true")
            try world.link("docker-credential-lanyard")
            let registry = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
            let shown = try await world.atTerminal(
                ["lanyard", "configure", "docker", registry],
                answering: [
                    ("go on? [Y/n]", "y"), ("\(registry) needs a rule", "y"),
                ])
            #expect(shown.status == 0, "\(shown)")
            #expect(shown.output.contains("lanyard login https://\(registry)"), "\(shown)")
            let login = try await world.lanyard(
                ["login", "https://\(registry)"], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let docker = try await world.runInside(
                "\(world.folder)/bin/docker-credential-lanyard", ["get"], input: "https://\(registry)\n")
            #expect(docker.status == 0 && docker.output.contains(#""Username":"AWS""#), "\(docker)")
        }
    }

    @Test func `a registry gets the start URL, the role and the region of its own account's profile`() async throws {
        let far = """
            [profile far]
            sso_start_url = https://fabrikam.awsapps.com/start
            sso_region = us-east-1
            sso_account_id = 111111111111
            sso_role_name = Admin

            """
        try await Self.with(Self.file + far) { world, _ in
            for (host, region, rule) in [
                (
                    "123456789012.dkr.ecr.us-west-2.amazonaws.com", "plugin.aws.region eu-central-1",
                    "https://contoso.awsapps.com/start --exchange-parameter role=123456789012/Developer"
                ),
                (
                    "111111111111.dkr-ecr.eu-west-1.on.aws", "plugin.aws.region us-east-1",
                    "https://fabrikam.awsapps.com/start --exchange-parameter role=111111111111/Admin"
                ),
            ] {
                let ended = try await world.lanyard(["configure", "docker", host, "--yes"])
                #expect(ended.status == 0 && ended.errors.contains("lanyard config set \(region)\n"), "\(ended)")
                let line = "lanyard rule add https://\(host) --authority \(rule)"
                #expect(ended.errors.replacing("\n  ", with: " ").contains(line), "\(ended)")
            }
            // No profile is of these accounts, or this partition.
            for host in [
                "333333333333.dkr.ecr.eu-west-1.amazonaws.com", "111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn",
            ] {
                let ended = try await world.lanyard(["configure", "docker", host, "--yes"])
                #expect(ended.errors.contains("lanyard rule add https://\(host) --authority URL"), "\(ended)")
            }
        }
    }

    @Test(arguments: [["\(Self.portal)/123456789012/Developer"], ["--profile", "dev"]])
    func `one of several profiles is put back`(_ named: [String]) async throws {
        try await Self.with { world, file in
            for profile in ["dev", "read only"] {
                #expect(try await world.lanyard(["configure", "aws", "--profile", profile, "--yes"]).status == 0)
            }
            let back = try await world.lanyard(["unconfigure", "aws", "--yes"] + named)
            #expect(back.status == 0, "\(back)")
            let now = try Self.text(file)
            #expect(now.contains("sso_role_name = Developer") && !now.contains("sso_role_name = ReadOnly"), "\(now)")
            // What doctor says about a profile that was edited mends that one.
            try Self.text(file).replacing("/ReadOnly\n", with: "/Other\n")
                .write(toFile: file, atomically: true, encoding: .utf8)
            let doctor = try await world.lanyard(["doctor"])
            #expect(doctor.output.contains("lanyard configure aws --profile 'read only' \(Self.portal)/"), "\(doctor)")
            let none = try await world.lanyard(["unconfigure", "aws", "--yes"] + named)
            #expect(none.errors.contains("nothing that lanyard configure aws wrote for "), "\(none)")
        }
    }

    @Test func `a rule for many hosts is signed in for by its own URL`() async throws {
        try await Self.with(region: "eu-central-1") { world, _ in
            let url = "https://*.dkr.ecr.*.amazonaws.com"
            let added = try await world.lanyard(
                ["rule", "add", url, "--authority", "https://contoso.awsapps.com/start"])
            #expect(added.status == 0 && added.errors.contains("next: lanyard login '\(url)'"), "\(added)")
            let login = try await world.lanyard(["login", url], world.browser(as: "bob@contoso.example"))
            #expect(login.status == 0, "\(login)")
        }
    }

    @Test func `what the profile had at its end is restored to the byte, in the older form, too`() async throws {
        try await Self.with { world, file in
            let named = try await world.lanyard(["configure", "aws", "--profile", "read only", "--yes"])
            #expect(named.status == 0, "\(named)")
            let rule = "lanyard rule add \(Self.portal) --authority https://contoso.awsapps.com/start"
            #expect(named.errors.contains("the profile read only still needs a rule"), "\(named)")
            #expect(
                named.errors.contains(rule) && named.errors.contains("lanyard config set plugin.aws.region"), "\(named)"
            )
            #expect(try Self.text(file).contains("[profile \"read only\"]\ncredential_process = lanyard aws "))
            let url = "\(Self.portal)/210987654321/ReadOnly"
            for words in [
                ["--profile", "read only"], ["--profile", "read only", url], ["--profile", "read only", url + "/"],
            ] {
                let again = try await world.lanyard(["configure", "aws", "--yes"] + words)
                #expect(again.status == 0 && again.errors.contains("nothing has to be changed"), "\(again)")
            }
            // A variable names the profile as the option does.
            let variable = try await world.lanyard(["configure", "aws", "--yes"], ["AWS_PROFILE": "read only"])
            #expect(variable.status == 0 && variable.errors.contains("nothing has to be changed"), "\(variable)")
            let other = try await world.lanyard(["configure", "aws", "--yes"], ["AWS_PROFILE": "other"])
            #expect(other.status == 64 && other.errors.contains("no profile other"), "\(other)")
            let back = try await world.lanyard(["unconfigure", "aws", "--yes"])
            #expect(back.status == 0, "\(back)")
            #expect(try Self.text(file) == Self.file)
        }
    }

    @Test func `a profile whose start URL only leads to AWS's signs in there`() async throws {
        try await Self.with { world, file in
            let start = "\(world.sandbox.exchanges)/start"
            try Self.file.replacing("https://contoso.awsapps.com/start", with: start).write(
                toFile: file, atomically: true, encoding: .utf8)
            let shown = try await world.atTerminal(
                ["lanyard", "configure", "aws", "--profile", "dev"],
                answering: [("go on? [Y/n]", "y"), ("add it?", "y")])
            #expect(shown.status == 0 && shown.output.contains("--kind identity-center"), "\(shown)")
            let login = try await world.lanyard(["login", Self.portal], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let keys = try await world.lanyard(["aws", "\(Self.portal)/123456789012/Developer"])
            #expect(keys.output.contains("\"AccessKeyId\":\"ASIA"), "\(keys)")
            let logout = try await world.lanyard(["logout"])
            #expect(logout.status == 0, "\(logout)")
            try await world.sandbox.fault(#"{"path": "/start", "status": 200, "body": "hello"}"#)
            let nowhere = try await world.lanyard(["login", Self.portal], world.browser(as: "alice@contoso.example"))
            #expect(
                nowhere.status == 1 && nowhere.errors.contains("doesn't lead to a start URL of AWS's"), "\(nowhere)")
        }
    }

    @Test func `every partition's start URL is an authority of a rule`() async throws {
        try await Self.with { world, _ in
            for (index, start) in [
                "https://identitycenter.us-gov.amazonaws.com/ssoins-1",
                "https://start.us-gov-home.awsapps.com/directory/contoso", "https://start.home.awsapps.cn/directory/x",
                "https://ssoins-1.portal.cn-north-1.app.amazonwebservices.com.cn",
                "https://ssoins-1.portal.eusc-de-east-1.api.amazonwebservices.eu",
            ].enumerated() {
                let url = "\(Self.portal)/12345678901\(index)"
                let ended = try await world.lanyard(["rule", "add", url, "--authority", start])
                #expect(ended.status == 0, "\(start): \(ended)")
            }
        }
    }

    @Test func `another profile gets the role of one that signs in, whose own lines stay`() async throws {
        try await Self.with { world, file in
            let url = "\(Self.portal)/123456789012/Developer"
            let ended = try await world.lanyard(["configure", "aws", url, "--profile", "lanyard", "--yes"])
            #expect(ended.status == 0, "\(ended)")
            #expect(try Self.text(file) == Self.file + "\n[profile lanyard]\ncredential_process = lanyard aws \(url)\n")
        }
    }

    @Test func `a session in a second region gets its own, and a second organisation a rule for its accounts`()
        async throws
    {
        let second = """
            [profile far]
            sso_start_url = https://fabrikam.awsapps.com/start
            sso_region = us-east-1
            sso_account_id = 111111111111
            sso_role_name = Admin

            """
        try await Self.with(second, region: "eu-central-1") { world, _ in
            let ended = try await world.lanyard(["configure", "aws", "--yes"])
            let option = "lanyard config set plugin.aws.regions fabrikam.awsapps.com=us-east-1"
            #expect(ended.status == 0 && ended.errors.contains(option), "\(ended)")
            let words = option.split(separator: " ").dropFirst().map(String.init)
            #expect(try await world.lanyard(words).status == 0)
            let value = try await world.lanyard(["config", "get", "plugin.aws.regions"])
            #expect(value.output == "fabrikam.awsapps.com=us-east-1\n", "\(value)")
            #expect(try await world.lanyard(["config", "unset", "plugin.aws.regions"]).status == 0)
            #expect(try await world.lanyard(["config", "get", "plugin.aws.regions"]).status == 1)
            for (key, words) in [
                ("plugin.aws.regoin", "did you mean plugin.aws.region?"),
                ("plugin.awz.region", "there is no plugin awz"),
            ] {
                let refused = try await world.lanyard(["config", "set", key, "x"])
                #expect(refused.status == 64 && refused.errors.contains(words), "\(refused)")
            }
        }
        try await Self.with(second.replacing("us-east-1", with: "eu-central-1"), region: "eu-central-1") { world, _ in
            let first = ["rule", "add", Self.portal, "--authority", "https://contoso.awsapps.com/start"]
            #expect(try await world.lanyard(first).status == 0)
            let ended = try await world.lanyard(["configure", "aws", "--yes"])
            let rule = "lanyard rule add \(Self.portal)/111111111111 --authority https://fabrikam.awsapps.com/start"
            #expect(ended.errors.contains(rule), "\(ended)")
        }
    }

    @Test func `without a terminal, one of several must be named`() async throws {
        try await Self.with { world, file in
            let several = try await world.lanyard(["configure", "aws", "--yes"])
            #expect(several.status == 64 && several.errors.contains("imply a URL: dev, read only"), "\(several)")
            #expect(several.errors.contains("lanyard configure aws --profile dev"), "\(several)")
            let missing = try await world.lanyard(["configure", "aws", "--profile", "deb", "--yes"])
            #expect(missing.status == 64 && missing.errors.contains("aws has no profile deb"), "\(missing)")
            #expect(missing.errors.contains("name one of these: dev, read only"), "\(missing)")
            #expect(missing.errors.contains("Dev --profile deb"), "\(missing)")
            let other = try await world.lanyard(["configure", "pip", "--profile", "dev", "--yes"])
            #expect(other.status == 64 && other.errors.contains("pip has no profiles"), "\(other)")
            #expect(try Self.text(file) == Self.file)
        }
    }

    @Test(.enabled(if: Clients.folder != nil))
    func `the AWS CLI and its library go by the profile, as they did before`() async throws {
        try await Self.with(region: "eu-central-1") { world, file in
            let rule = ["rule", "add", Self.portal, "--authority", "https://contoso.awsapps.com/start"]
            #expect(try await world.lanyard(rule).status == 0)
            let login = try await world.lanyard(["login", Self.portal], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            for profile in ["dev", "read only"] {
                let ended = try await world.lanyard(["configure", "aws", "--profile", profile, "--yes"])
                #expect(ended.status == 0 && !ended.errors.contains("comes first"), "\(ended)")
            }
            var environment = world.environment
            environment["AWS_ENDPOINT_URL"] = world.sandbox.exchanges
            environment["AWS_CA_BUNDLE"] = world.sandbox.caFile
            environment["AWS_DEFAULT_REGION"] = "eu-central-1"
            let call = ["sts", "get-caller-identity", "--output", "text", "--query", "Account", "--profile"]
            for (profile, account) in [("dev", "123456789012"), ("read only", "210987654321")] {
                let ended = try await world.runInside(
                    Clients.program("aws"), call + [profile], environment: environment)
                #expect(ended.output == "\(account)\n", "\(ended)")
                let script = """
                    import sys
                    from awscli.botocore.session import Session
                    session = Session(profile=sys.argv[1])
                    print(session.create_client("sts", "eu-central-1").get_caller_identity()["Account"],
                          session.get_credentials().method)
                    """
                let library = try await world.runInside(
                    Clients.program("python3"), ["-c", script, profile], environment: environment)
                #expect(library.output == "\(account) custom-process\n", "\(library)")
            }
        }
    }
}
