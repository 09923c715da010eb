import Foundation
import TestSupport
import Testing

/// What the plugin `google` finds on a machine, at the sandbox's Google Cloud, and what its tokens open.
@Suite struct GoogleTests {
    /// The files of credentials, whose tokens they give, and the requests for one.
    static let files: [(name: String, user: String, asked: [String])] = [
        ("authorized_user", "alice@contoso.example", ["/google/token"]),
        ("service_account", builder, ["/google/token"]),
        ("external_account", "principal:\(pool)/subject/ci", ["/google/v1/token"]),
        ("impersonated_external_account", deployer, ["/google/v1/token", impersonation]),
        (
            "workforce_external_account",
            "principal://iam.googleapis.com/locations/global/workforcePools/contoso/providers/issuer/subject/a11ce000-0000-4000-8000-00000000c0a7",
            ["/google/v1/token"]
        ),
        ("aws_external_account", "principal:\(pool)/subject/i-0123456789abcdef0", ["/google/v1/token"]),
        ("external_account_authorized_user", "workforce user", ["/google/v1/oauthtoken"]),
        ("impersonated_service_account", deployer, ["/google/token", impersonation]),
    ]
    static let builder = "builder@contoso-project.iam.gserviceaccount.com"
    static let deployer = "deployer@contoso-project.iam.gserviceaccount.com"
    static let pool =
        "//iam.googleapis.com/projects/1234567890/locations/global/workloadIdentityPools/contoso/providers/ci"
    private static let impersonation = "/google/v1/projects/-/serviceAccounts/\(deployer):generateAccessToken"

    /// Runs the body in a world whose identity `google` is what the plugin finds, with a rule for the sandbox's repositories.
    static func with(
        _ further: String = "", _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await World.with(ownKernelKeys: true) { world in
            try world.configure(
                after: """
                    \(identity(world))
                    [[rule]]
                    url = "\(world.sandbox.exchanges)"
                    identity = "google"
                    \(further)
                    """)
            try await world.sandbox.assertion().write(
                toFile: "\(world.sandbox.google)/subject-token", atomically: true, encoding: .utf8)
            try await body(world)
        }
    }

    /// The identity, whose plugin has the sandbox stand in for Google.
    private static func identity(_ world: World) -> String {
        """
        [plugin.google]
        endpoint = "\(world.sandbox.exchanges)/google"
        [[identity]]
        name = "google"
        plugin = "google"
        """
    }

    static func file(_ name: String, _ world: World) -> [String: String] {
        ["GOOGLE_APPLICATION_CREDENTIALS": "\(world.sandbox.google)/\(name).json"]
    }

    /// Returns the keys of AWS's that the sandbox's container has, in variables.
    static func keysOfAWS(_ world: World) async throws -> [String: String] {
        let container = try #require(world.sandbox.machine.platforms["ecs"])
        let answer = try await world.runInside(
            "/usr/bin/curl",
            [
                "--silent", "--fail", "--header",
                "authorization: \(container["AWS_CONTAINER_AUTHORIZATION_TOKEN"] ?? "")",
                container["AWS_CONTAINER_CREDENTIALS_FULL_URI"] ?? "",
            ])
        let keys = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any] ?? [:]
        try await world.sandbox.clearLog()
        return [
            "AWS_ACCESS_KEY_ID": keys["AccessKeyId"] as? String ?? "",
            "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"] as? String ?? "",
            "AWS_SESSION_TOKEN": keys["Token"] as? String ?? "", "AWS_REGION": "eu-central-1",
        ]
    }

    /// Returns the variables that a file's credentials need besides; writes the ID token that a user of the issuer's gets by
    /// lanyard, if the file needs one.
    @discardableResult
    static func signIn(for name: String, _ world: World) async throws -> [String: String] {
        if name.hasPrefix("aws") { return try await keysOfAWS(world) }
        guard name.hasPrefix("workforce") else { return [:] }
        let issuer = world.sandbox.issuer
        try world.configureIssuer(scopes: ["openid"], "token = \"id\"")
        let token = try await world.lanyard(["token", issuer.url], world.browser(as: "alice_contoso"))
        // Google's library sends all that is in the file.
        let text = try #require(token.lines.first, "\(token)")
        try text.write(toFile: "\(world.sandbox.google)/id-token", atomically: true, encoding: .utf8)
        try await world.sandbox.clearLog()
        return [:]
    }

    private static func get(_ world: World, _ extra: [String: String], _ path: String = "google/python/x") async throws
        -> Ended
    {
        try await world.lanyard(["get"], extra, input: "url=\(world.sandbox.exchanges)/\(path)\n")
    }

    private static func asked(_ world: World) async throws -> [String] {
        try await world.sandbox.requests().filter { $0.host == "exchanges" }.map(\.path)
    }

    /// The texts in a file that only Google may see.
    private static func secrets(in file: String) throws -> [String] {
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: file)))
        let members = document as? [String: Any] ?? [:]
        let inner = members["source_credentials"] as? [String: Any] ?? [:]
        return [members, inner].flatMap { members in
            ["client_secret", "refresh_token", "private_key"].compactMap { members[$0] as? String }
        }.map { $0.split(separator: "\n").dropFirst($0.contains("BEGIN") ? 1 : 0).first.map(String.init) ?? $0 }
    }

    @Test(arguments: files)
    func `a file of each type gives a token, once, and none of its secrets`(
        _ name: String, _ user: String, _ paths: [String]
    ) async throws {
        try await Self.with { world in
            let file = Self.file(name, world).merging(try await Self.signIn(for: name, world)) { $1 }
            let got = try await Self.get(world, file)
            #expect(got.status == 0 && got.value("username") == "oauth2accesstoken", "\(got)")
            #expect(try await Self.get(world, file).value("password") == got.value("password"))
            #expect(try await Self.asked(world) == paths)
            #expect(try await world.sandbox.requests().last?.user != nil)
            let index = try await world.runInside(
                "/usr/bin/curl",
                [
                    "--silent", "--fail", "--cacert", world.sandbox.caFile, "--user",
                    "oauth2accesstoken:\(got.value("password") ?? "")",
                    "\(world.sandbox.exchanges)/google/python/contoso-project/tools/simple/hello/",
                ])
            #expect(index.output.contains("hello-1.0"), "\(index)")
            #expect(try await world.sandbox.requests().last?.user == user)
            let traced = try await world.lanyard(
                ["identity", "check", "google"], file.merging(["LANYARD_TRACE": "plugin"]) { $1 })
            #expect(traced.status == 0, "\(traced)")
            let keys = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].compactMap { file[$0] }
            for secret in try Self.secrets(in: "\(world.sandbox.google)/\(name).json") + keys {
                #expect(!(traced.output + traced.errors).contains(secret), "\(traced)")
            }
        }
    }

    @Test func `gcloud's own file counts if no variable names one, and each file has a token of its own`() async throws
    {
        try await Self.with { world in
            let folder = "\(world.folder)/gcloud"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: "\(world.sandbox.google)/authorized_user.json",
                toPath: "\(folder)/application_default_credentials.json")
            let own = try await Self.get(world, ["CLOUDSDK_CONFIG": folder])
            let named = try await Self.get(
                world, Self.file("service_account", world).merging(["CLOUDSDK_CONFIG": folder]) { $1 })
            #expect(own.status == 0 && named.status == 0 && own.value("password") != named.value("password"))
            #expect(try await Self.get(world, ["CLOUDSDK_CONFIG": folder]).output == own.output)
            #expect(try await Self.asked(world) == ["/google/token", "/google/token"])
            // A file that replaces another is another account's, wherever it is found.
            let usual = "application_default_credentials.json"
            for (path, variables) in [
                ("\(folder)/replaced.json", ["GOOGLE_APPLICATION_CREDENTIALS": "\(folder)/replaced.json"]),
                ("\(folder)/\(usual)", ["CLOUDSDK_CONFIG": folder]),
                ("\(world.folder)/home/.config/gcloud/\(usual)", [:]),
            ] {
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                let variables = variables.merging(["NO_GCE_CHECK": "true"]) { $1 }
                var users: [String?] = []
                for name in ["authorized_user", "service_account"] {
                    try? FileManager.default.removeItem(atPath: path)
                    try FileManager.default.copyItem(atPath: "\(world.sandbox.google)/\(name).json", toPath: path)
                    _ = try await Self.get(world, variables)
                    users.append(try await world.sandbox.requests().last?.user)
                }
                #expect(users == ["alice@contoso.example", Self.builder], "\(path)")
                try FileManager.default.removeItem(atPath: path)
                let gone = try await Self.get(world, variables)
                #expect(gone.status == 1 && gone.value("password") == nil, "\(gone)")
            }
        }
    }

    @Test func `an instance of AWS's proves its role to Google, whose file names no other place for its keys`()
        async throws
    {
        try await Self.with { world in
            let instance = try #require(world.sandbox.machine.platforms["ec2"])
            let file = Self.file("aws_external_account", world).merging(["AWS_EC2_METADATA_DISABLED": "false"]) { $1 }
            let found = try await world.lanyard(
                ["explain", "--online", "\(world.sandbox.exchanges)/google/python/x"], file.merging(instance) { $1 })
            #expect(found.output.contains("as the identity google by another issuer's token"), "\(found)")
            let got = try await Self.get(world, file.merging(instance) { $1 })
            #expect(got.status == 0 && got.value("password")?.hasPrefix("ya29.") == true, "\(got)")
        }
    }

    @Test func `the metadata server answers last, for its own service account or a named one`() async throws {
        let further = """

            [[identity]]
            name = "named"
            plugin = "google"
            managed = "client-id:\(Self.builder)"

            [[identity]]
            name = "other"
            plugin = "google"
            managed = "client-id:other@contoso-project.iam.gserviceaccount.com"
            """
        try await Self.with(further) { world in
            let host = try #require(world.sandbox.machine.platforms["imds"]?.values.first?.dropFirst("http://".count))
            let machine = ["GCE_METADATA_HOST": String(host)]
            for name in ["google", "named"] {
                try await world.sandbox.clearLog()
                let got = try await Self.get(world, machine.merging(["LANYARD_IDENTITY": name]) { $1 })
                let checked = try await world.lanyard(["identity", "check", name], machine)
                #expect(got.status == 0 && checked.status == 0, "\(got) \(checked)")
                let asked = try await world.sandbox.machineRequests()
                #expect(asked.allSatisfy { $0.headers?["Metadata-Flavor"] == "Google" }, "\(asked)")
                #expect(asked.contains { $0.path.hasSuffix("/\(name == "google" ? "default" : Self.builder)/token") })
                #expect(asked.contains { $0.query?["scopes"]?.hasSuffix("/cloud-platform") == true }, "\(asked)")
            }
            let other = try await world.lanyard(["identity", "check", "other"], machine)
            #expect(other.status == 1 && other.errors.contains("no service account other@contoso"), "\(other)")
            let nowhere = try await world.lanyard(
                ["identity", "check", "google"], ["GCE_METADATA_HOST": "nowhere.localhost:9"])
            #expect(nowhere.status == 1 && nowhere.errors.contains("answers at nowhere.localhost:9"), "\(nowhere)")
            // What isn't Google's must not pass for it.
            try await world.sandbox.fault(
                #"{"path": "/token", "status": 200, "body": "{\"access_token\":\"x\",\"expires_in\":9}"}"#)
            let false_ = try await world.lanyard(["identity", "check", "google"], machine)
            #expect(false_.status == 1 && false_.errors.contains("something else answers in place"), "\(false_)")
        }
    }

    @Test func `ID tokens are for the rule's host, or for the client that protects it`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let host = try #require(world.sandbox.machine.platforms["imds"]?.values.first?.dropFirst("http://".count))
            try world.configure(
                after: """
                    \(Self.identity(world))
                    [[rule]]
                    url = "https://hello-1234567890.europe-west4.run.app"
                    identity = "google"
                    token = "id"
                    [[rule]]
                    url = "https://protected.contoso.example"
                    identity = "google"
                    token = "id"
                    scopes = ["audience:server:client_id:123.apps.googleusercontent.com"]
                    """)
            try await world.sandbox.assertion().write(
                toFile: "\(world.sandbox.google)/subject-token", atomically: true, encoding: .utf8)
            let audiences = [
                ("hello-1234567890.europe-west4.run.app", "https://hello-1234567890.europe-west4.run.app"),
                ("protected.contoso.example", "123.apps.googleusercontent.com"),
            ]
            let ways = [
                Self.file("service_account", world), Self.file("impersonated_service_account", world),
                Self.file("impersonated_external_account", world), ["GCE_METADATA_HOST": String(host)],
            ]
            for variables in ways {
                for (host, audience) in audiences {
                    let got = try await world.lanyard(["token", "https://\(host)/x"], variables)
                    let token = got.output.trimmingCharacters(in: .newlines)
                    #expect(claims(of: token)?["aud"] as? String == audience, "\(got)")
                }
            }
            let person = try await world.lanyard(
                ["token", "https://\(audiences[0].0)/"], Self.file("authorized_user", world))
            #expect(person.status == 1 && person.errors.contains("--impersonate-service-account"), "\(person)")
        }
    }

    @Test func `who asks for an ID token is never given an access token`() async throws {
        try await Self.with { world in
            let file = Self.file("service_account", world)
            func token(_ arguments: [String]) async throws -> Ended {
                try await world.lanyard(["token"] + arguments, file)
            }
            let url = world.sandbox.exchanges
            // An access token that is stored doesn't serve, either.
            #expect(try await token([url]).output.hasPrefix("ya29."))
            let asked = try await token(["--id-token", url])
            let text = asked.output.trimmingCharacters(in: .newlines)
            #expect(asked.status == 0 && claims(of: text)?["aud"] as? String == url, "\(asked)")
            let scope = "https://www.googleapis.com/auth/cloud-platform"
            let scoped = try await token(["--id-token", "--scope", scope, url])
            #expect(scoped.status == 1 && scoped.output.isEmpty, "\(scoped)")
            #expect(scoped.errors.contains("has no scope \(scope)"), "\(scoped)")
            #expect(try await token([url]).output.hasPrefix("ya29."))
        }
    }

    @Test(arguments: [
        ("https://us-python.pkg.dev", "https://www.googleapis.com/auth/cloud-platform"),
        ("https://gcr.io", "https://www.googleapis.com/auth/cloud-platform"),
        ("https://chromium.googlesource.com", "https://www.googleapis.com/auth/gerritcodereview"),
    ])
    func `a rule for a sign-in at Google asks for what the host needs`(_ url: String, _ scope: String) async throws {
        try await Home.with { home in
            let added = try await home.lanyard([
                "rule", "add", url, "--authority", "https://accounts.google.com", "--client-id", "app",
            ])
            #expect(added.status == 0, "\(added)")
            #expect(try await home.lanyard(["rule", "list"]).output.contains(scope))
            let explained = try await home.lanyard(["explain", "--json", url]).output
            #expect(explained.contains(scope), "\(explained)")
        }
    }

    @Test func `a rule for what is found here is one command, and git's needs no answer with --yes`() async throws {
        try await World.with { world in
            try world.configure(after: Self.identity(world))
            let file = Self.file("service_account", world)
            let url = "https://europe-west4-python.pkg.dev"
            let added = try await world.lanyard(["rule", "add", url, "--identity", "google"], file)
            #expect(added.status == 0, "\(added)")
            let wrong = try await world.lanyard(["rule", "add", "https://gcr.io", "--identity", "other"], file)
            #expect(wrong.status != 0, "\(wrong)")
            let git = "https://chromium.googlesource.com"
            let configured = try await world.lanyard(["configure", "git", git, "--yes"], file)
            #expect(configured.status == 0, "\(configured)")
            for url in [url, git] {
                let got = try await world.lanyard(["get"], file, input: "url=\(url)/x\n")
                #expect(got.value("username") == "oauth2accesstoken", "\(got)")
            }
        }
    }

    @Test(
        arguments: files.filter {
            ["service_account", "external_account", "impersonated_external_account"].contains($0.name)
        })
    func `sixty-four helpers of docker make each request once, and what is refused once is made anew once`(
        _ name: String, _ user: String, _ paths: [String]
    ) async throws {
        try await Self.with { world in
            try world.link("docker-credential-lanyard")
            let extra = world.environment.merging(Self.file(name, world)) { $1 }
            func docker(_ verb: String) async throws -> Ended {
                try await world.runInside(
                    "\(world.folder)/bin/docker-credential-lanyard", [verb], input: "\(world.sandbox.exchanges)\n",
                    environment: extra)
            }
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<64 { group.addTask { try await docker("get") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 0 } && Set(answers.map(\.output)).count == 1, "\(answers)")
            #expect(answers[0].output.contains(#""Username":"oauth2accesstoken""#), "\(answers[0])")
            #expect(try await Self.asked(world) == paths)
            #expect(try await docker("erase").status == 0)
            #expect(try await docker("get").output != answers[0].output)
            #expect(try await Self.asked(world) == paths + paths)
        }
    }

    @Test(arguments: [
        ("europe-west4-docker.pkg.dev", true), ("docker.europe-west4.rep.pkg.dev", true), ("gcr.io", true),
        ("us.gcr.io", true), ("eu.gcr.io", true), ("asia.gcr.io", true), ("marketplace.gcr.io", true),
        ("europe-west4-python.pkg.dev", true), ("chromium.googlesource.com", true),
        ("source.developers.google.com", true),
        ("contoso-1-git.europe-west4.sourcemanager.dev", true),
        ("contoso-1-git.europe-west4.p.sourcemanager.dev", true),
        ("evilgcr.io", false), ("x.gcr.io", false), ("gcr.io.evil.example", false), ("evilpkg.dev", false),
        ("pkg.dev", false), ("a.b.pkg.dev", false), ("dev.azure.com", false), ("github.com", false),
    ])
    func `its tokens go to Google's own hosts and to no other`(_ host: String, _ isGoogles: Bool) async throws {
        try await Self.with { world in
            let extra = Self.file("service_account", world).merging(["LANYARD_IDENTITY": "google"]) { $1 }
            let got = try await world.lanyard(["get"], extra, input: "url=https://\(host)/x/y\n")
            #expect((got.value("username") == "oauth2accesstoken") == isGoogles, "\(got)")
            #expect(try await Self.asked(world).isEmpty == !isGoogles)
        }
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The file whose members are changed, and how.
        var file = "service_account"
        var change: @Sendable (inout [String: Any]) -> Void
        var variables: [String: String] = [:]
        let says: String
    }

    static let faults = [
        Fault(
            testDescription: "a foreign token_uri", change: { $0["token_uri"] = "https://evil.example/token" },
            says: "nothing is sent there"),
        Fault(
            testDescription: "a foreign token_url", file: "external_account",
            change: { $0["token_url"] = "https://sts.googleapis.com.evil.example/v1/token" },
            says: "nothing is sent there"),
        Fault(
            testDescription: "a foreign impersonation", file: "impersonated_service_account",
            change: {
                $0["service_account_impersonation_url"] = "http://iamcredentials.googleapis.com/x:generateAccessToken"
            },
            says: "nothing is sent there"),
        Fault(
            testDescription: "another universe", change: { $0["universe_domain"] = "evil.example" },
            says: "universe-domain"),
        Fault(testDescription: "another key", change: { $0["private_key_id"] = "0" }, says: "Invalid JWT Signature"),
        Fault(testDescription: "no key", change: { $0["private_key"] = nil }, says: "lacks `private_key`"),
        Fault(
            testDescription: "a broken key", change: { $0["private_key"] = "hunter2" }, says: "is not an RSA key in PEM"
        ),
        Fault(
            testDescription: "an unknown type", change: { $0["type"] = "gdch_service_account" },
            says: "which lanyard can't use"),
        Fault(
            testDescription: "a dead sign-in", file: "authorized_user", change: { $0["refresh_token"] = "hunter2" },
            says: "gcloud auth application-default login"),
        Fault(
            testDescription: "a program that isn't allowed", file: "external_account",
            change: { $0["credential_source"] = ["executable": ["command": "/bin/echo x"]] },
            says: "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"),
        Fault(
            testDescription: "lanyard itself", file: "external_account",
            change: {
                $0["credential_source"] = [
                    "executable": ["command": "\(Built.lanyard) gcloud https://sts.googleapis.com"]
                ]
            },
            variables: ["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"], says: "doesn't ask itself"),
        Fault(
            testDescription: "a program that says no", file: "external_account",
            change: {
                $0["credential_source"] = [
                    "executable": ["command": "/bin/echo {\"version\":1,\"success\":false,\"message\":\"nobody\"}"]
                ]
            },
            variables: ["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"], says: "gave no token: nobody"),
        Fault(
            testDescription: "a host that only begins like this machine", file: "external_account",
            change: { $0["credential_source"] = ["url": "http://localhost.evil.example/token"] },
            says: "neither https nor this machine's"),
        Fault(
            testDescription: "a user name that looks like this machine", file: "external_account",
            change: { $0["credential_source"] = ["url": "http://localhost@evil.example/token"] },
            says: "neither https nor this machine's"),
        Fault(
            testDescription: "AWS's keys", file: "external_account",
            change: {
                $0["credential_source"] = [
                    "environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.evil.example?x",
                ]
            },
            variables: ["AWS_ACCESS_KEY_ID": "hunter2", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_REGION": "eu-west-1"],
            says: "is no URL of AWS's token service"),
        Fault(
            testDescription: "AWS's keys, without any", file: "aws_external_account", change: { _ in },
            variables: ["AWS_EC2_METADATA_DISABLED": "true"], says: "nothing on this machine has keys of AWS"),
        Fault(
            testDescription: "a certificate", file: "external_account",
            change: { $0["credential_source"] = ["certificate": ["use_default_certificate_config": true]] },
            says: "exchanges a certificate"),
    ]

    @Test(arguments: faults)
    func `what is wrong with a file is said, with what to do, and none of its secrets`(_ fault: Fault) async throws {
        try await Self.with { world in
            let source = URL(fileURLWithPath: "\(world.sandbox.google)/\(fault.file).json")
            var members = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: source)) as? [String: Any])
            fault.change(&members)
            let path = "\(world.folder)/broken.json"
            try JSONSerialization.data(withJSONObject: members).write(to: URL(fileURLWithPath: path))
            let variables = fault.variables.merging(["GOOGLE_APPLICATION_CREDENTIALS": path]) { $1 }
            let ended = try await world.lanyard(["identity", "check", "google"], variables)
            #expect(ended.status == 1 && ended.errors.replacing("\n", with: " ").contains(fault.says), "\(ended)")
            for secret in try Self.secrets(in: path) + ["hunter2"] {
                #expect(!ended.errors.contains(secret), "\(ended)")
            }
        }
    }

    @Test func `a file that anybody could have written is not used, and a missing one is no other`() async throws {
        try await Self.with { world in
            let path = "\(world.folder)/open.json"
            try FileManager.default.copyItem(atPath: "\(world.sandbox.google)/service_account.json", toPath: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
            for (file, says) in [(path, "other users can write to it"), (path + "x", "there is no file")] {
                let ended = try await world.lanyard(
                    ["identity", "check", "google"], ["GOOGLE_APPLICATION_CREDENTIALS": file])
                #expect(ended.status == 1 && ended.errors.contains(says), "\(ended)")
            }
            let nothing = try await world.lanyard(["identity", "check", "google"], ["NO_GCE_CHECK": "true"])
            #expect(
                nothing.status == 1 && nothing.errors.contains("gcloud auth application-default login"), "\(nothing)")
        }
    }

    @Test func `a program's token is exchanged, and the program learns what for`() async throws {
        try await Self.with { world in
            let program = "\(world.folder)/subject"
            let token = try await world.sandbox.assertion()
            try """
            #!/bin/sh
            [ "$GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE" = '\(Self.pool)' ] && [ "$1" = now ] || exit 1
            echo '{"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt","id_token":"\(token)"}'
            """.write(toFile: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
            let source = URL(fileURLWithPath: "\(world.sandbox.google)/external_account.json")
            var members = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: source)) as? [String: Any])
            members["credential_source"] = ["executable": ["command": "\(program) now"]]
            let path = "\(world.folder)/external.json"
            try JSONSerialization.data(withJSONObject: members).write(to: URL(fileURLWithPath: path))
            let got = try await Self.get(
                world, ["GOOGLE_APPLICATION_CREDENTIALS": path, "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"])
            #expect(got.status == 0 && got.value("password")?.hasPrefix("ya29.") == true, "\(got)")
        }
    }

    @Test func `one answer sets docker up if there are credentials, and without any it is said how to get some`()
        async throws
    {
        try await World.with { world in
            let host = "europe-west4-docker.pkg.dev"
            let none = try await world.lanyard(
                ["configure", "docker", host, "--yes"], ["NO_GCE_CHECK": "true"])
            #expect(none.errors.contains("gcloud auth application-default login"), "\(none)")
            try world.configure(after: "[plugin.google]\nendpoint = \"\(world.sandbox.exchanges)/google\"\n")
            let file = Self.file("service_account", world)
            let done = try await world.lanyard(["configure", "docker", host, "--yes"], file)
            #expect(done.status == 0 && done.errors.contains("plugin    = \"google\""), "\(done)")
            let got = try await world.lanyard(["get"], file, input: "url=https://\(host)/\n")
            #expect(got.value("username") == "oauth2accesstoken", "\(got)")
            let url = "https://chromium.googlesource.com"
            let git = try await world.atTerminal(
                ["lanyard", "configure", "git", url],
                answering: [
                    ("have git use what the plugin google finds on this machine", "y")
                ], file)
            #expect(git.status == 0 && git.output.contains("identity  = \"google\""), "\(git)")
            let cloned = try await world.lanyard(["get"], file, input: "url=\(url)/x\n")
            #expect(cloned.value("username") == "oauth2accesstoken", "\(cloned)")
            let again = try await world.lanyard(["configure", "docker", "us-docker.pkg.dev", "--yes"], file)
            #expect(again.status == 0 && !again.errors.contains("[[identity]]"), "\(again)")
        }
    }
}

/// The plugin `google` side by side with Google's own library.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct GoogleClientTests {
    /// Google's library, with its token endpoint at the sandbox.
    private static let library = """
        import sys, google.auth, google.auth.external_account, google.auth.iam, google.oauth2.credentials
        from google.auth.transport.requests import Request
        google.oauth2.credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT = sys.argv[1] + "/token"
        google.auth.iam._IAM_ENDPOINT = sys.argv[1] + "/v1/projects/-/serviceAccounts/{}:generateAccessToken"
        google.auth.external_account.Credentials.get_project_id = lambda *_, **__: None
        credentials, _ = google.auth.load_credentials_from_file(
            sys.argv[2], scopes=["https://www.googleapis.com/auth/cloud-platform"])
        credentials.refresh(Request())
        print(credentials.token[:5])
        """

    private struct Asked: Equatable {
        let path: String
        let form: [String: String]
        let authorization: String?

        /// Leaves out what differs each time.
        init(_ request: Sandbox.Request) {
            path = request.path
            authorization = request.authorization
            var form = request.form ?? [:]
            for name in ["assertion", "subject_token"] where form[name] != nil { form[name] = "one" }
            // The library has a blank in its JSON.
            form["options"] = form["options"]?.removingPercentEncoding?.replacing(": ", with: ":")
            // The library says what is the default.
            if form["delegates"] == "null" || form["delegates"] == "[]" { form["delegates"] = nil }
            self.form = form
        }
    }

    @Test(arguments: GoogleTests.files.map(\.name))
    func `it makes the requests of Google's library`(_ name: String) async throws {
        try await GoogleTests.with { world in
            let variables = try await GoogleTests.signIn(for: name, world)
            func asked() async throws -> [Asked] {
                let all = try await world.sandbox.requests().filter { $0.host == "exchanges" }.map(Asked.init)
                try await world.sandbox.clearLog()
                return all
            }
            let file = "\(world.sandbox.google)/\(name).json"
            let own = try await world.lanyard(
                ["identity", "check", "google"], variables.merging(["GOOGLE_APPLICATION_CREDENTIALS": file]) { $1 })
            #expect(own.status == 0, "\(own)")
            let ours = try await asked()
            let theirs = try await world.runInside(
                Clients.program("python3"), ["-c", Self.library, "\(world.sandbox.exchanges)/google", file],
                environment: world.environment.merging(variables) { $1 }
                    .merging(["REQUESTS_CA_BUNDLE": world.sandbox.caFile]) { $1 })
            #expect(theirs.output == "ya29.\n", "\(theirs)")
            #expect(try await asked() == ours)
        }
    }
}
