import Foundation
import JSON
import TestSupport
import Testing

/// Applications that get tokens by themselves, through the real plugin.
@Suite struct ApplicationIdentityTests {
    /// Adds an identity with the sandbox's application to the configuration.
    private static func add(
        _ name: String, _ proof: String, to world: World, tenant: String = "contoso.example", client: String? = nil
    ) throws {
        let application = world.sandbox.application
        try world.configure(
            after: """
                [[identity]]
                name = "\(name)"
                authority = "\(world.sandbox.authority)/\(tenant)"
                client-id = "\(client ?? application.clientID)"
                \(proof)

                """)
    }

    private static func token(_ world: World, as name: String, _ extra: [String: String] = [:]) async throws -> Ended {
        try await world.get("contoso", extra, lines: "identity=\(name)\n")
    }

    /// Returns the variables of a GitHub Actions job.
    private static func job(_ world: World) -> [String: String] {
        let application = world.sandbox.application
        return [
            "ACTIONS_ID_TOKEN_REQUEST_URL": application.requestURL,
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": application.requestToken,
        ]
    }

    /// Returns an assertion as the sandbox's jobs receive it.
    private static func assertion(_ world: World) async throws -> String {
        let application = world.sandbox.application
        let asked = try await run(
            "curl",
            [
                "--silent", "--fail", "--cacert", world.sandbox.caFile, "--header",
                "Authorization: Bearer \(application.requestToken)",
                application.requestURL + "&audience=api%3A%2F%2FAzureADTokenExchange",
            ], environment: world.environment)
        return try #require(JSONValue(bytes: asked.output.utf8)?["value"]?.string)
    }

    @Test func `each proof gets a token, and nobody is asked`() async throws {
        try await World.with { world in
            let application = world.sandbox.application
            let file = world.folder + "/assertion"
            try (try await Self.assertion(world) + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let source = world.folder + "/bin/assertion"
            try "#!/bin/sh\ncat '\(file)'\n".write(toFile: source, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: source)
            let azure = [
                "AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": application.clientID,
                "AZURE_AUTHORITY_HOST": world.sandbox.authority + "/",
            ]
            try Self.add("by-secret", #"secret-variable = "PIPELINE_SECRET""#, to: world)
            try Self.add("by-job", #"assertion = "github-actions""#, to: world)
            try Self.add("by-file", #"assertion = "file:\#(file)""#, to: world)
            try Self.add("by-command", #"assertion = "command:\#(source)""#, to: world)
            for (name, extra) in [
                ("pipeline", [:]), ("by-secret", ["PIPELINE_SECRET": application.secret]), ("by-job", Self.job(world)),
                ("by-file", [:]), ("by-command", [:]),
                // What is left of a file that became a variable.
                ("environment", azure.merging(["AZURE_CLIENT_SECRET": application.secret + "\r\n"]) { $1 }),
                ("environment", azure.merging(["AZURE_CLIENT_CERTIFICATE_PATH": application.certificate]) { $1 }),
                ("environment", azure.merging(["AZURE_FEDERATED_TOKEN_FILE": file]) { $1 }),
            ] {
                try await world.sandbox.clearLog()
                let got = try await Self.token(
                    world, as: name, extra.merging(world.browser(as: "alice@contoso.example")) { $1 })
                #expect(got.status == 0 && got.output.contains("\npassword=ey"), "\(name) \(got)")
                #expect(!got.errors.contains(application.secret))
                let requests = try await world.sandbox.authorityRequests()
                #expect(requests.signIns.isEmpty && requests.count(grant: "authorization_code") == 0, "\(name)")
            }
        }
    }

    @Test func `git clones as a pipeline does`() async throws {
        try await World.with { world in
            let cloned = try await world.git(
                ["clone", "--quiet", "\(world.sandbox.resource)/contoso/hello.git"], ["LANYARD_IDENTITY": "pipeline"])
            #expect(cloned.status == 0, "\(cloned)")
            #expect(FileManager.default.fileExists(atPath: "\(world.folder)/work/hello/README.md"))
            #expect(try await world.sandbox.requests().contains { $0.user == "lanyard sandbox pipeline" })
        }
    }

    @Test func `a refusal says what an administrator can do, soon and without secrets`() async throws {
        try await World.with { world in
            try Self.add("by-secret", #"secret-variable = "PIPELINE_SECRET""#, to: world)
            // A failure of one application is cached for a second, so these are different ones.
            try Self.add(
                "by-job", #"assertion = "github-actions""#, to: world, client: "a9911ca7-0000-4000-8000-0000000000e6")
            try Self.add("common", #"secret-variable = "PIPELINE_SECRET""#, to: world, tenant: "common")
            try Self.add(
                "absent", #"certificate = "/nowhere/application.pem""#, to: world,
                client: "a9911ca7-0000-4000-8000-0000000000e7")
            let secret = ["PIPELINE_SECRET": "a-wrong-secret"]
            for (name, extra, words) in [
                ("by-secret", secret, "AADSTS7000215"), ("by-job", [:], "permissions: id-token: write"),
                ("common", secret, "by its id or domain"), ("absent", [:], "/nowhere/application.pem"),
            ] {
                let start = ContinuousClock.now
                let got = try await Self.token(world, as: name, extra)
                #expect(got.status != 0 && got.hasNoCredential && got.errors.contains(words), "\(name) \(got)")
                #expect(!got.errors.contains("a-wrong-secret") && got.errors.contains("hint: "), "\(got)")
                #expect(ContinuousClock.now - start < .seconds(10))
            }
        }
    }
}

/// An application's requests to Entra, compared with those of the SDK for Python.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools has no SDK"))
struct AzureApplicationTests {
    private static let program = """
        import sys
        from azure.identity import CertificateCredential, ClientSecretCredential, WorkloadIdentityCredential
        kind, authority, tenant, client, proof, ca, scope = sys.argv[1:]
        common = {"authority": authority, "disable_instance_discovery": True, "connection_verify": ca}
        credential = {
            "secret": lambda: ClientSecretCredential(tenant, client, proof, **common),
            "certificate": lambda: CertificateCredential(tenant, client, proof, **common),
            "workload": lambda: WorkloadIdentityCredential(
                tenant_id=tenant, client_id=client, token_file_path=proof, **common),
        }[kind]()
        try:
            print(credential.get_token(scope, enable_cae=True).token)
        except Exception as error:
            print(type(error).__name__, error)
        """

    /// Returns a token request without the parts that differ every time.
    private static func form(_ world: World, without names: Set<String> = []) async throws -> [String: String] {
        let asked = try await world.sandbox.authorityRequests().filter { $0.grantType == "client_credentials" }
        #expect(asked.count == 1 && asked.first?.path.hasSuffix("/oauth2/v2.0/token") == true, "\(asked)")
        var form = asked.first?.form ?? [:]
        form["path"] = asked.first?.path
        // JSON may be written in several ways.
        form["claims"] = form["claims"].flatMap { JSONValue(bytes: $0.utf8) }?.encodedText
        return form.filter { !names.contains($0.key) }
    }

    @Test(arguments: ["secret", "certificate", "workload"])
    func `lanyard asks for a token as azure-identity does`(_ kind: String) async throws {
        try await World.with { world in
            let application = world.sandbox.application
            let file = world.folder + "/assertion"
            try "e30.e30.c2ln".write(toFile: file, atomically: true, encoding: .utf8)
            let proofs = ["secret": application.secret, "certificate": application.certificate, "workload": file]
            let variables = [
                "secret": "AZURE_CLIENT_SECRET", "certificate": "AZURE_CLIENT_CERTIFICATE_PATH",
                "workload": "AZURE_FEDERATED_TOKEN_FILE",
            ]
            let (proof, variable) = (try #require(proofs[kind]), try #require(variables[kind]))
            let given = try await world.tool(
                Clients.program("python"),
                [
                    "-c", Self.program, kind, world.sandbox.authority, "contoso.example", application.clientID, proof,
                    world.sandbox.caFile, "api://sandbox-git/.default",
                ])
            // MSAL for Python requests `client_info` although there is no account, and names a certificate by its
            // SHA-1, which the sandbox rejects. Without MSAL, as for workloads, it writes the given tenant into the
            // path instead of the one from discovery.
            let changing: Set = [
                "client_info", ["certificate": "client_assertion", "workload": "path"][kind] ?? "client_info",
            ]
            #expect(given.output.hasPrefix("ey") == (kind == "secret"), "\(given)")
            let theirs = try await Self.form(world, without: changing)
            try await world.sandbox.clearLog()
            let got = try await world.get(
                "contoso",
                [
                    "AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": application.clientID,
                    "AZURE_AUTHORITY_HOST": world.sandbox.authority, variable: proof,
                ], lines: "identity=environment\n")
            #expect((got.status == 0) == (kind != "workload"), "\(got)")
            let ours = try await Self.form(world, without: changing)
            #expect(ours == theirs)
        }
    }
}
