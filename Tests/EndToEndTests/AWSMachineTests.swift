import Foundation
import TestSupport
import Testing

/// Machines to which AWS gives a role, and what AWS's SDKs find in variables and files, compared with AWS's own library.
@Suite struct AWSMachineTests {
    private static let registry = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
    private static let sts = "https://sts.eu-central-1.amazonaws.com"

    /// Runs the body in a world in which a rule for the registry names the machine's identity.
    private static func with(_ further: String = "", _ body: @Sendable (World) async throws -> Void) async throws {
        try await World.with { world in
            var text = "[plugin.aws]\nregion = \"eu-central-1\"\nendpoint = \"\(world.sandbox.exchanges)\"\n"
            text += "[[identity]]\nname = \"role\"\nplugin = \"aws\"\n"
            for url in ["https://\(registry)", sts] { text += "[[rule]]\nurl = \"\(url)\"\nidentity = \"role\"\n" }
            try world.configure(after: text + further)
            try world.link("docker-credential-lanyard")
            try await body(world)
        }
    }

    private static func docker(_ world: World, _ variables: [String: String]) async throws -> Ended {
        try await world.runInside(
            "\(world.folder)/bin/docker-credential-lanyard", ["get"], input: "https://\(registry)\n",
            environment: world.environment.merging(variables) { $1 })
    }

    private static func machine(_ world: World, _ platforms: String...) throws -> [String: String] {
        try platforms.reduce(into: ["AWS_EC2_METADATA_DISABLED": platforms.contains("ec2") ? "false" : "true"]) {
            $0.merge(try #require(world.sandbox.machine.platforms[$1])) { $1 }
        }
    }

    @Test
    func `an instance and a container give their role's keys, once for all who ask, and anew if they are refused`()
        async throws
    {
        for platform in ["ec2", "ecs"] {
            try await Self.with { world in
                let variables = try Self.machine(world, platform)
                let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                    for _ in 0..<64 { group.addTask { try await Self.docker(world, variables) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.status == 0 }, "\(answers.first { $0.status != 0 }.debugDescription)")
                #expect(Set(answers.map(\.output)).count == 1)
                let log = try await world.sandbox.requests().map { "\($0.method) \($0.path) \($0.status)" }
                let keys =
                    platform == "ecs"
                    ? ["GET /v2/credentials/task 200"]
                    : [
                        "PUT /latest/api/token 200", "GET /latest/meta-data/iam/security-credentials/ 200",
                        "GET /latest/meta-data/iam/security-credentials/machine 200",
                    ]
                #expect(log == keys + ["POST / 200"])
                try await world.sandbox.clearLog()
                try await world.sandbox.fault(
                    #"{"path": "/", "status": 400, "times": 1, "body": "{\"__type\": \"x#UnrecognizedClientException\"}"}"#
                )
                let erased = try await world.runInside(
                    "\(world.folder)/bin/docker-credential-lanyard", ["erase"], input: "https://\(Self.registry)\n",
                    environment: world.environment.merging(variables) { $1 })
                #expect(erased.status == 0, "\(erased)")
                let anew = try await Self.docker(world, variables)
                #expect(anew.status == 0 && anew.output != answers[0].output, "\(anew)")
                let again = try await world.sandbox.requests().map { "\($0.method) \($0.path) \($0.status)" }
                #expect(again == ["POST / 400"] + keys + ["POST / 200"])
            }
        }
    }

    @Test func `a role of another account is assumed by the machine's, and nothing is told of the keys`() async throws {
        try await Self.with { world in
            let variables = try Self.machine(world, "ecs")
            let ended = try await world.lanyard(
                ["aws", "\(Self.sts)/arn:aws:iam::222222222222:role/other"],
                variables.merging(["LANYARD_TRACE": "plugin"]) { $1 })
            #expect(ended.status == 0 && ended.output.contains("\"AccessKeyId\":\"ASIA"), "\(ended)")
            let header = try #require(variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"])
            let keys = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
            let secret = try #require(keys?["SecretAccessKey"] as? String)
            #expect(!ended.errors.contains(header) && !ended.errors.contains(secret), "\(ended.errors)")
            #expect(!ended.errors.contains("aws-keys."), "\(ended.errors)")
            let check = try await world.lanyard(["identity", "check", "role"], variables)
            #expect(!check.output.contains(header) && !check.output.contains("aws-keys."), "\(check)")
        }
    }

    @Test func `a host without an exchange never gets the keys themselves, whatever asks`() async throws {
        let rule = "[[rule]]\nurl = \"https://git.example.com\"\nidentity = \"role\"\n"
        try await Self.with(rule) { world in
            let variables = try Self.machine(world, "ecs")
            let url = "https://git.example.com"
            for (arguments, input) in [
                (["get"], "protocol=https\nhost=git.example.com\n\n"), (["token", url], ""),
                (["exec", url, "--", "env"], ""), (["explain", url], ""),
                (["token", "--identity", "role", "--scope", "default"], ""),
            ] {
                let ended = try await world.lanyard(arguments, variables, input: input)
                let said = ended.output + ended.errors
                #expect(said.contains("only for exchanges"), "\(arguments): \(ended)")
                #expect(!said.contains("aws-keys."), "\(arguments): \(ended)")
            }
            #expect(try await world.sandbox.machineRequests().isEmpty)
        }
    }

    @Test func `only services of this machine and sessions of the second version are asked`() async throws {
        try await Self.with { world in
            var variables = try Self.machine(world, "ecs")
            variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://192.0.2.1/v2/credentials"
            let far = try await Self.docker(world, variables)
            #expect(
                far.status == 1 && far.output.contains("AWS_CONTAINER_CREDENTIALS_FULL_URI names neither"), "\(far)")
            let instance = try Self.machine(world, "ec2")
            try await world.sandbox.fault(#"{"path": "/latest/api/token", "status": 404}"#)
            try await world.sandbox.clearLog()
            let old = try await Self.docker(world, instance)
            #expect(old.status == 1 && old.output.contains("metadata service refuses"), "\(old)")
            #expect(try await world.sandbox.machineRequests().map(\.path) == ["/latest/api/token"])
            let none = try await Self.docker(world, Self.machine(world))
            #expect(none.status == 1 && none.output.contains("nothing on this machine has keys of AWS"), "\(none)")
        }
    }

    @Test func `an edited profile counts at once, and one that is gone no longer`() async throws {
        try await Self.with { world in
            var variables = try Self.machine(world, "ecs")
            variables["AWS_PROFILE"] = "ci"
            let file = "\(world.folder)/home/.aws/config"
            for role in [Self.role, Self.role + "/again"] {
                try Self.write("[profile ci]\nrole_arn = \(role)\ncredential_source = EcsContainer\n", file)
                try await world.sandbox.clearLog()
                for _ in 1...2 { #expect(try await Self.docker(world, variables).status == 0) }
                #expect(try await world.sandbox.requests().compactMap { $0.form?["RoleArn"] } == [role])
            }
            try FileManager.default.removeItem(atPath: file)
            let gone = try await Self.docker(world, variables)
            #expect(gone.status == 1 && gone.output.contains("there is no profile ci"), "\(gone)")
        }
    }

    @Test func `what is named but isn't served or whole is refused, and the instance's role isn't used instead`()
        async throws
    {
        let profile = ["AWS_PROFILE": "ci"]
        try await Self.with { world in
            for (variables, section, words) in [
                (profile, "login_session = arn:aws:iam::123456789012:user/alice", "sign-in of aws login"),
                (profile, "sso_session = contoso", "signs a user in"),
                (profile, "credential_process = /bin/true", "from a program"),
                (profile, "web_identity_token_file = /x", "is set without role_arn"),
                (profile, "source_profile = ci", "source_profile of the profile ci is set without role_arn"),
                (["AWS_WEB_IDENTITY_TOKEN_FILE": "/x"], "", "is set without AWS_ROLE_ARN"),
                (["AWS_ROLE_ARN": Self.role], "", "is set without AWS_WEB_IDENTITY_TOKEN_FILE"),
                (["AWS_ACCESS_KEY_ID": "x"], "", "is set without AWS_SECRET_ACCESS_KEY"),
                (["AWS_SECRET_ACCESS_KEY": "x"], "", "is set without AWS_ACCESS_KEY_ID"),
                (["AWS_CONFIG_FILE": "config"], "", "AWS_CONFIG_FILE is no path from the root"),
            ] {
                try Self.write("[profile ci]\n\(section)\n", "\(world.folder)/home/.aws/config")
                let ended = try await Self.docker(world, Self.machine(world, "ec2").merging(variables) { $1 })
                #expect(ended.status == 1 && ended.output.contains(words), "\(words): \(ended)")
            }
            #expect(try await world.sandbox.machineRequests().isEmpty)
        }
    }

    private static func write(_ text: String, _ file: String) throws {
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// What a machine has of each kind, by the name in the registry's log.
    private static let cases: [(name: String, variables: [String: String], files: [String: String], user: String)] = [
        ("instance", [:], [:], "i-0123456789abcdef0"),
        (
            "variables",
            ["AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_SESSION_TOKEN": "SESSION"], [:], "alice"
        ),
        ("keys' file", ["AWS_PROFILE": "ci"], ["credentials": "[ci]\nKEYS\n"], "alice"),
        ("default profile", [:], ["config": "[default]\nregion = eu-central-1\nKEYS\n"], "alice"),
        (
            "keys' file before configuration", ["AWS_PROFILE": "ci"],
            [
                "config": "[profile ci]\naws_access_key_id = x\naws_secret_access_key = y\n",
                "credentials": "[ci]\nKEYS\n",
            ],
            "alice"
        ),
        (
            "AWS_DEFAULT_PROFILE", ["AWS_DEFAULT_PROFILE": "ci", "AWS_PROFILE": "other"],
            ["config": "[profile other]\nregion = x\n", "credentials": "[ci]\nKEYS\n"], "alice"
        ),
        (
            "web identity",
            ["AWS_WEB_IDENTITY_TOKEN_FILE": "TOKEN", "AWS_ROLE_ARN": role, "AWS_ROLE_SESSION_NAME": "pod"], [:], "pod"
        ),
        (
            "profile's web identity", ["AWS_PROFILE": "pod"],
            ["config": "[profile pod]\nrole_arn = \(role)\nweb_identity_token_file = TOKEN\nrole_session_name = own\n"],
            "own"
        ),
        (
            "source_profile", ["AWS_PROFILE": "next"],
            [
                "config": "[profile next]\nrole_arn = \(role)\nsource_profile = ci\nrole_session_name = next\n",
                "credentials": "[ci]\nKEYS\n",
            ], "next"
        ),
        (
            "credential_source", ["AWS_PROFILE": "next"],
            [
                "config":
                    "[profile next]\nrole_arn = \(role)\ncredential_source = Ec2InstanceMetadata\nrole_session_name = far\n"
            ],
            "far"
        ),
        (
            "its own source", ["AWS_PROFILE": "ci"],
            [
                "config": "[profile ci]\nrole_arn = \(role)\nsource_profile = ci\nrole_session_name = self\n",
                "credentials": "[ci]\nKEYS\n",
            ], "self"
        ),
    ]
    private static let role = "arn:aws:iam::123456789012:role/next"

    @Test(.enabled(if: Clients.folder != nil), arguments: cases.indices)
    func `what AWS's library finds first, lanyard finds, too`(index: Int) async throws {
        let (name, wanted, files, user) = Self.cases[index]
        try await Self.with { world in
            // Keys and a token that the sandbox knows: somebody's, and the pipeline's.
            try world.configure(
                after: """
                    [[rule]]
                    url = "https://portal.sso.eu-central-1.amazonaws.com"
                    authority = "https://contoso.awsapps.com/start"

                    """)
            let portal = "https://portal.sso.eu-central-1.amazonaws.com"
            let login = try await world.lanyard(["login", portal], world.browser(as: "alice@contoso.example"))
            try #require(login.status == 0, "\(login)")
            let printed = try await world.lanyard(["aws", "\(portal)/123456789012/Developer"])
            let keys = try #require(
                try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any]
            ).compactMapValues { $0 as? String }
            let token = try await world.lanyard([
                "token", "--authority", "\(world.sandbox.authority)/contoso.example", "--identity", "pipeline",
                "--scope", "api://sandbox-git/.default",
            ])
            try #require(token.status == 0, "\(token)")
            let folder = "\(world.folder)/home/.aws"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try #require(token.lines.first).write(toFile: "\(folder)/token", atomically: true, encoding: .utf8)
            let values = [
                "KEYS": """
                aws_access_key_id = \(keys["AccessKeyId"] ?? "")
                aws_secret_access_key = \(keys["SecretAccessKey"] ?? "")
                aws_session_token = \(keys["SessionToken"] ?? "")
                """,
                "ID": keys["AccessKeyId"] ?? "", "SECRET": keys["SecretAccessKey"] ?? "",
                "SESSION": keys["SessionToken"] ?? "", "TOKEN": "\(folder)/token",
            ]
            for (file, text) in files {
                let text = text.replacing("KEYS", with: values["KEYS"] ?? "").replacing(
                    "TOKEN", with: values["TOKEN"] ?? "")
                try text.write(toFile: "\(folder)/\(file)", atomically: true, encoding: .utf8)
            }
            var variables = try Self.machine(world, "ec2")
            variables.merge(wanted.mapValues { values[$0] ?? $0 }) { $1 }
            variables["AWS_DEFAULT_REGION"] = "eu-central-1"
            try await world.sandbox.clearLog()
            let own = try await Self.docker(world, variables)
            #expect(own.status == 0, "\(name): \(own)")
            let found = try await world.sandbox.requests().last { $0.path == "/" }?.user
            #expect(found?.hasPrefix(user) == true, "\(name): \(found ?? "")")

            try await world.sandbox.clearLog()
            variables["AWS_ENDPOINT_URL"] = world.sandbox.exchanges
            variables["AWS_CA_BUNDLE"] = world.sandbox.caFile
            let library = try await world.runInside(
                Clients.program("python3"),
                [
                    "-c",
                    """
                    from awscli.botocore.session import Session
                    Session().create_client("ecr", "eu-central-1").get_authorization_token()
                    """,
                ], environment: world.environment.merging(variables) { $1 })
            #expect(library.status == 0, "\(name): \(library)")
            #expect(try await world.sandbox.requests().last { $0.path == "/" }?.user == found, "\(name)")
        }
    }
}
