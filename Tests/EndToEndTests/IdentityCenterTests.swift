import Foundation
import TestSupport
import Testing

/// AWS's IAM Identity Center, and what its tokens are exchanged for, with AWS's own programs on the other side.
@Suite struct IdentityCenterTests {
    private static let startURL = "https://contoso.awsapps.com/start"
    private static let portal = "https://portal.sso.eu-central-1.amazonaws.com"
    private static let role = "\(portal)/123456789012/Developer"
    static let registry = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
    static let index = "contoso-123456789012.d.codeartifact.eu-central-1.amazonaws.com"

    /// Runs the body in a world whose rules lead to Identity Center, whose endpoint is the sandbox's.
    static func with(
        role: String? = "123456789012/Developer", _ further: String = "",
        signedInAs user: String? = "alice@contoso.example",
        _ body: @Sendable (World) async throws -> Void
    ) async throws {
        try await World.with { world in
            var rules = "[plugin.aws]\nregion = \"eu-central-1\"\nendpoint = \"\(world.sandbox.exchanges)\"\n"
            for url in [registry, "public.ecr.aws", index, "sts.eu-central-1.amazonaws.com"].map({ "https://\($0)" }) {
                rules += "[[rule]]\nurl = \"\(url)\"\nauthority = \"\(startURL)\"\n"
                let texts = [role.map { "role = \"\($0)\"" }, further.isEmpty ? nil : further].compactMap(\.self)
                if !texts.isEmpty { rules += "exchange-parameters = { \(texts.joined(separator: ", ")) }\n" }
            }
            rules += "[[rule]]\nurl = \"\(portal)\"\nauthority = \"\(startURL)\"\n"
            try world.configure(after: rules)
            try world.link("docker-credential-lanyard")
            if let user {
                let login = try await world.lanyard(["login", portal], world.browser(as: user))
                try #require(login.status == 0, "\(login)")
                try await world.sandbox.clearLog()
            }
            try await body(world)
        }
    }

    private static func docker(_ world: World, _ host: String = registry, _ verb: String = "get") async throws -> Ended
    {
        try await world.runInside("\(world.folder)/bin/docker-credential-lanyard", [verb], input: "https://\(host)\n")
    }

    private static func paths(_ world: World) async throws -> [String] {
        try await world.sandbox.requests().filter { $0.host == "exchanges" }.map {
            "\($0.method) \($0.path) \($0.status)"
        }
    }

    private static func keys(_ world: World, _ url: String = role) async throws -> [String: String] {
        let ended = try await world.lanyard(["aws", url])
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        return (object ?? [:]).compactMapValues { $0 as? String }
    }

    @Test func `after somebody else has signed in, nothing comes from the one before`() async throws {
        try await Self.with(role: "123456789012/ReadOnly") { world in
            let role = "\(Self.portal)/123456789012/ReadOnly"
            func keys() async throws -> [String] {
                let docker = try await world.runInside(
                    "\(world.folder)/bin/docker-credential-lanyard", ["get"], input: "https://\(Self.registry)\n")
                let keys = try await world.lanyard(["aws", role])
                #expect(docker.status == 0 && keys.status == 0, "\(docker) \(keys)")
                return [docker.output, keys.output]
            }
            let before = try await keys()
            #expect(try await keys() == before)
            let login = try await world.lanyard(["login", Self.portal], world.browser(as: "bob@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let after = try await keys()
            #expect(after[0] != before[0] && after[1] != before[1], "\(after)")
        }
    }

    @Test func `a sign-in in the browser gives a role's keys, and is renewed by the client that it registered`()
        async throws
    {
        try await Self.with(signedInAs: nil) { world in
            let login = try await world.lanyard(["login", Self.portal], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let signIn = try await Self.paths(world)
            #expect(
                signIn == [
                    "POST /client/register 200", "GET /authorize 200", "POST /authorize 200", "POST /authorize 302",
                    "POST /token 200",
                ], "\(signIn)")
            try await world.sandbox.clearLog()
            try await world.sandbox.fault(#"{"path": "/federation/credentials", "status": 401, "times": 1}"#)
            let first = try await Self.keys(world)
            #expect(first["AccessKeyId"]?.hasPrefix("ASIA") == true && first["Expiration"]?.hasSuffix("Z") == true)
            #expect(try await Self.keys(world) == first)
            let renewal = ["GET /federation/credentials 401", "POST /token 200", "GET /federation/credentials 200"]
            #expect(try await Self.paths(world) == renewal)
            let grant = try await world.sandbox.requests().first { $0.path == "/token" }?.form?["grantType"]
            #expect(grant == "refresh_token")
            let other = try await Self.keys(world, "\(Self.portal)/210987654321/ReadOnly")
            #expect(other["AccessKeyId"] != first["AccessKeyId"])
        }
    }

    @Test func `a device code signs in, and a client that is refused asks for another sign-in`() async throws {
        try await Self.with(signedInAs: nil) { world in
            try await world.sandbox.set(#"{"device_code_interval": 1}"#)
            try await world.signInByDevice(Self.portal, as: "bob@contoso.example")
            let paths = try await Self.paths(world)
            #expect(paths.first == "POST /client/register 200" && paths.contains("POST /device_authorization 200"))
            _ = try await Self.keys(world, "\(Self.portal)/123456789012/ReadOnly")
            try await world.sandbox.fault(#"{"path": "/federation/credentials", "status": 401, "times": 1}"#)
            try await world.sandbox.fault(
                #"{"path": "/token", "status": 401, "body": "{\"error\": \"invalid_client\"}"}"#)
            let ended = try await world.lanyard(["aws", Self.role])
            #expect(ended.status == 2 && ended.errors.contains("lanyard login \(Self.role)"), "\(ended)")
        }
    }

    @Test func `docker gets a registry's password for a role, once, and anew if it is refused`() async throws {
        try await Self.with { world in
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<64 { group.addTask { try await Self.docker(world) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 0 }, "\(answers)")
            #expect(Set(answers.map(\.output)).count == 1)
            #expect(answers[0].output.contains(#""Username":"AWS""#), "\(answers[0])")
            #expect(try await Self.paths(world) == ["GET /federation/credentials 200", "POST / 200"])
            #expect(try await Self.docker(world, Self.registry, "erase").status == 0)
            #expect(try await Self.docker(world).output != answers[0].output)

            let open = try await Self.docker(world, "public.ecr.aws")
            #expect(open.status == 0 && open.output.contains(#""Username":"AWS""#), "\(open)")
        }
    }

    @Test func `git's form and Python's keyring give CodeArtifact's token`() async throws {
        try await Self.with { world in
            let answer = try await world.lanyard(["get"], input: "url=https://\(Self.index)/pypi/tools/simple/\n")
            #expect(answer.status == 0 && answer.value("username") == "aws", "\(answer)")
            let asked = try await world.sandbox.requests().last { $0.path == "/v1/authorization-token" }
            #expect(asked?.query == ["domain": "contoso", "domain-owner": "123456789012"], "\(asked.debugDescription)")
            let token = try await world.lanyard(["token", "https://\(Self.index)/npm/tools/"])
            #expect(token.output == (answer.value("password") ?? "") + "\n", "\(token)")
        }
    }

    @Test func `roles are assumed one after the other, with what the rule says`() async throws {
        let external = #"external-id = "shared-with-a-partner", session-name = "build", duration = "900""#
        try await Self.with(role: "123456789012/Developer arn:aws:iam::111111111111:role/between", external) { world in
            let url = "https://sts.eu-central-1.amazonaws.com/arn:aws:iam::222222222222:role/external"
            _ = try await Self.keys(world, url)
            #expect(
                try await Self.paths(world) == ["GET /federation/credentials 200", "POST / 200", "POST / 200"])
            let forms = try await world.sandbox.requests().compactMap(\.form).filter { $0["Action"] == "AssumeRole" }
            #expect(forms.map { $0["RoleArn"]?.suffix(13) } == [":role/between", "role/external"])
            #expect(forms.map { $0["RoleSessionName"] } == ["build", "build"])
            #expect(forms.map { $0["ExternalId"] } == [nil, "shared-with-a-partner"], "\(forms)")
            #expect(forms.map { $0["DurationSeconds"] } == [nil, "900"], "\(forms)")
            let denied = try await world.lanyard(["aws", url.replacing("external", with: "denied")])
            #expect(denied.status == 1 && denied.errors.contains("refuses the role: Not authorized"), "\(denied)")
        }
    }

    @Test func `several accounts of one start URL go by the names that rules have for them`() async throws {
        try await Self.with { world in
            for (role, name) in [("Developer", "contoso.awsapps.com"), ("ReadOnly", "bob")] {
                try world.configure(
                    after: """
                        [[rule]]
                        url = "\(Self.portal)/123456789012/\(role)"
                        authority = "\(Self.startURL)"
                        account = "\(name)"

                        """)
            }
            let other = "\(Self.portal)/123456789012/ReadOnly"
            let login = try await world.lanyard(["login", other], world.browser(as: "bob@contoso.example"))
            #expect(login.status == 0 && login.errors.contains("bob"), "\(login)")
            // A renewal keeps the name.
            try await world.sandbox.fault(#"{"path": "/federation/credentials", "status": 401, "times": 1}"#)
            _ = try await Self.keys(world, other)
            _ = try await Self.keys(world)
            let users = try await world.sandbox.requests().filter { $0.path == "/federation/credentials" }.map(\.user)
            #expect(users.suffix(2) == ["bob@contoso.example", "alice@contoso.example"], "\(users)")
        }
    }

    @Test func `the only role needs no name, of several one must be named, and of none nobody has any`() async throws {
        try await Self.with(role: nil, signedInAs: "bob@contoso.example") { world in
            #expect(try await Self.docker(world).status == 0)
            let denied = try await world.lanyard(["aws", Self.role])
            #expect(denied.status == 1 && denied.errors.contains("you don't have the role Developer"), "\(denied)")
            #expect(denied.errors.contains("write one into the URL, such as \(Self.portal)/1"), "\(denied)")
            let url = "https://sts.eu-central-1.amazonaws.com/arn:aws:iam::222222222222:role/other"
            _ = try await Self.keys(world, url)
        }
        try await Self.with(role: nil) { world in
            try await world.sandbox.set(#"{"page_size": 1}"#)
            let refused = try await Self.docker(world)
            #expect(refused.status == 1 && refused.output.contains("you have 3 roles"), "\(refused)")
            #expect(refused.output.contains("role = \"123456789012/Developer\""), "\(refused)")
            #expect(refused.output.contains("lanyard token https://\(Self.registry), or "), "\(refused)")
            let url = "https://\(Self.index)"
            let picked = try await world.atTerminal(
                ["lanyard", "token", url + "/"],
                answering: [("you have 3 roles, and the rule names none; which role", "2")])
            #expect(picked.output.contains("123456789012/Developer (account 123456789012)"), "\(picked)")
            #expect(picked.status == 0 && picked.output.contains("has it from now on"), "\(picked)")
            #expect(try world.configText().contains(#""role" = "123456789012/ReadOnly""#))
            let again = try await world.lanyard(["token", url + "/"])
            #expect(again.status == 0, "\(again)")
        }
    }

    @Test func `a pipeline's token of another issuer gets a registry's password, by a role that trusts the issuer`()
        async throws
    {
        try await Self.with(signedInAs: nil) { world in
            let url = "https://999999999999.dkr.ecr.eu-central-1.amazonaws.com"
            try world.configure(
                after: """
                    [[rule]]
                    url = "\(url)"
                    authority = "\(world.sandbox.authority)/contoso.example"
                    identity = "pipeline"
                    scopes = ["api://sandbox-git/.default"]
                    exchange-parameters = { role = "arn:aws:iam::123456789012:role/ci" }

                    """)
            let answer = try await world.lanyard(["get"], input: "url=\(url)\n")
            #expect(answer.status == 0 && answer.value("username") == "AWS", "\(answer)")
            let requests = try await world.sandbox.requests().filter { $0.host == "exchanges" }
            #expect(requests.map { $0.form?["Action"] } == ["AssumeRoleWithWebIdentity", nil], "\(requests)")
            let explained = try await world.lanyard(["explain", url])
            #expect(explained.output.contains("role arn:aws:iam::123456789012:role/ci"), "\(explained)")
        }
    }

    @Test func `doctor asks the region's endpoint, and a rule's unknown parameter is told`() async throws {
        try await Self.with { world in
            let doctor = try await world.lanyard(["doctor", "--online"])
            #expect(!doctor.output.contains("awsapps.com") && !doctor.output.contains("client-id"), "\(doctor)")
            let asked = try await Self.paths(world)
            #expect(asked.contains("POST /device_authorization 200"), "\(asked)")
            #expect(!asked.contains("POST /client/register 200"), "\(asked)")
            try await world.sandbox.clearLog()
            let logout = try await world.lanyard(["logout"])
            #expect(logout.status == 0, "\(logout)")
            #expect(try await Self.paths(world) == ["POST /token 200", "POST /logout 200"])
            let nobody = try await world.lanyard(["aws", Self.role])
            #expect(nobody.status == 2 && nobody.errors.contains("lanyard login"), "\(nobody)")
        }
        try await Self.with(#"rolle = "x""#, signedInAs: nil) { world in
            let refused = try await Self.docker(world)
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.output.contains("aws-ecr has no parameter rolle"), "\(refused)")
            #expect(refused.output.contains("did you mean role?"), "\(refused)")
        }
    }

    @Test(.enabled(if: Clients.folder != nil))
    func `the AWS CLI uses the keys, from credential_process and from exec, and traces have none`() async throws {
        try await Self.with { world in
            var environment = world.environment
            environment["AWS_ENDPOINT_URL"] = world.sandbox.exchanges
            environment["AWS_CA_BUNDLE"] = world.sandbox.caFile
            environment["AWS_CONFIG_FILE"] = "/dev/null"
            environment["AWS_DEFAULT_REGION"] = "eu-central-1"
            let call = [Clients.program("aws"), "sts", "get-caller-identity", "--output", "text", "--query", "Account"]
            let byVariables = try await world.runInside(
                "\(world.folder)/bin/lanyard", ["exec", Self.role, "--"] + call, environment: environment)
            #expect(byVariables.output == "123456789012\n", "\(byVariables)")
            environment["AWS_CONFIG_FILE"] = world.folder + "/aws-config"
            let configured = try await world.runInside(
                "\(world.folder)/bin/lanyard", ["configure", "aws", Self.role, "--yes"], environment: environment)
            #expect(configured.status == 0 && !configured.errors.contains("no rule"), "\(configured)")
            let byProcess = try await world.runInside(call[0], Array(call.dropFirst()), environment: environment)
            #expect(byProcess.output == "123456789012\n", "\(byProcess)")

            let keys = try await Self.keys(world)
            let traced = try await world.lanyard(
                ["aws", "\(Self.portal)/123456789012/ReadOnly"], ["LANYARD_TRACE": "plugin"])
            let fresh = try JSONSerialization.jsonObject(with: Data(traced.output.utf8)) as? [String: Any]
            for name in ["AccessKeyId", "SecretAccessKey", "SessionToken"] {
                let secret = try #require(fresh?[name] as? String)
                #expect(!traced.errors.contains(secret) && secret != keys[name], "\(traced.errors)")
            }
        }
    }

    @Test(.enabled(if: Clients.folder != nil))
    func `AWS's library sends the same requests`() async throws {
        try await Self.with(signedInAs: nil) { world in
            try await world.sandbox.set(#"{"device_code_interval": 1}"#)
            let browser = world.browser(as: "alice@contoso.example")
            try await world.signInByDevice(Self.portal, as: "alice@contoso.example")
            _ = try await Self.keys(world)
            _ = try await Self.docker(world)
            _ = try await world.lanyard(["token", "https://\(Self.index)/"])
            let own = try await Self.shapes(world)
            var environment = world.environment
            environment["AWS_ENDPOINT_URL"] = world.sandbox.exchanges
            environment["AWS_CA_BUNDLE"] = world.sandbox.caFile
            let words = (browser["BROWSER"] ?? "")
            let ended = try await world.runInside(
                Clients.program("python3"), ["-c", Self.library, words], environment: environment)
            #expect(ended.status == 0, "\(ended)")
            // lanyard keeps no role's keys for its exchanges, so that it asks for them more than once.
            #expect(Set(try await Self.shapes(world)) == Set(own))
        }
    }

    /// What each kind of request to AWS has, in order: its path, and the names and fixed values of its parameters.
    private static func shapes(_ world: World) async throws -> [String] {
        let fixed: Set = [
            "clientType", "grantType", "scopes", "startUrl", "role_name", "account_id", "domain", "domain-owner",
            "response_type", "code_challenge_method", "issuerUrl", "redirectUris",
        ]
        let requests = try await world.sandbox.requests().filter { $0.host == "exchanges" && $0.path != "/device" }
        try await world.sandbox.clearLog()
        return requests.filter { $0.status == 200 && "\($0.method) \($0.path)" != "POST /authorize" }.map { request in
            let fields = (request.query ?? [:]).merging(request.form ?? [:]) { $1 }
            let shown = fields.sorted { $0.key < $1.key }.map {
                fixed.contains($0.key) ? "\($0.key)=\($0.value)" : $0.key
            }
            return "\(request.method) \(request.path) \(shown.joined(separator: " "))"
        }
    }

    /// The same way by AWS's own library: its clients of each service.
    private static let library = """
        import shlex, subprocess, sys, time
        from awscli.botocore.session import Session
        session = Session()
        oidc = session.create_client("sso-oidc", "eu-central-1")
        client = oidc.register_client(clientName="x", clientType="public", scopes=["sso:account:access"])
        proof = {"clientId": client["clientId"], "clientSecret": client["clientSecret"]}
        device = oidc.start_device_authorization(startUrl="https://contoso.awsapps.com/start", **proof)
        subprocess.run(shlex.split(sys.argv[1]) + [device["verificationUriComplete"]], check=True)
        time.sleep(1.5)
        token = oidc.create_token(
            grantType="urn:ietf:params:oauth:grant-type:device_code", deviceCode=device["deviceCode"], **proof)
        portal = session.create_client("sso", "eu-central-1")
        keys = portal.get_role_credentials(
            roleName="Developer", accountId="123456789012", accessToken=token["accessToken"])["roleCredentials"]
        session.set_credentials(keys["accessKeyId"], keys["secretAccessKey"], keys["sessionToken"])
        session.create_client("ecr", "eu-central-1").get_authorization_token()
        session.create_client("codeartifact", "eu-central-1").get_authorization_token(
            domain="contoso", domainOwner="123456789012")
        """

    @Test(
        .enabled(if: Clients.newerFolder != nil, "script/test --with newer-tools runs this"), arguments: [false, true])
    func `the AWS CLI's own sign-in sends the same requests`(byDevice: Bool) async throws {
        try await Self.with(signedInAs: nil) { world in
            try await world.sandbox.set(#"{"device_code_interval": 1}"#)
            let browser = world.browser(as: "alice@contoso.example")
            if byDevice {
                try await world.signInByDevice(Self.portal, as: "alice@contoso.example")
            } else {
                let login = try await world.lanyard(["login", Self.portal], browser)
                try #require(login.status == 0, "\(login)")
            }
            _ = try await Self.keys(world)
            let own = try await Self.shapes(world)

            let folder = "\(world.folder)/home/.aws"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try """
            [sso-session contoso]
            sso_start_url = \(Self.startURL)
            sso_region = eu-central-1
            sso_registration_scopes = sso:account:access
            [default]
            sso_session = contoso
            sso_account_id = 123456789012
            sso_role_name = Developer
            """.write(toFile: "\(folder)/config", atomically: true, encoding: .utf8)
            // Python runs what it finds here as one word, and waits for it before it listens.
            let program = "\(world.folder)/bin/browser"
            try "#!/bin/sh\n\(browser["BROWSER"] ?? "") \"$@\" &\n".write(
                toFile: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let variables = [
                "BROWSER": program, "AWS_ENDPOINT_URL": world.sandbox.exchanges,
                "AWS_CA_BUNDLE": world.sandbox.caFile, "AWS_EC2_METADATA_DISABLED": "true",
            ]
            for arguments in [
                ["sso", "login"] + (byDevice ? ["--use-device-code"] : []),
                ["configure", "export-credentials"],
            ] {
                let ended = try await world.tool(Clients.newer("aws"), arguments, variables)
                #expect(ended.status == 0, "\(ended)")
            }
            #expect(try await Self.shapes(world) == own)
        }
    }
}
