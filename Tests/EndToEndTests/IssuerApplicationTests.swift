import Foundation
import TestSupport
import Testing

/// Applications at issuers of the plugin `oauth`.
@Suite struct IssuerApplicationTests {
    @Test func `an application signs in with its secret, and one request serves all`() async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            let client = try #require(issuer.confidentialClientID)
            try world.configure(
                after: """
                    [[identity]]
                    name = "bot"
                    authority = "\(issuer.url)"
                    kind = "oidc"
                    client-id = "\(client)"
                    secret-variable = "BOT_SECRET"

                    [[rule]]
                    url = "\(issuer.url)"
                    identity = "bot"
                    scopes = ["read_repository"]

                    """)
            let secret = ["BOT_SECRET": issuer.clientSecret]
            try await world.sandbox.clearLog()
            let token = try await world.lanyard(["token", issuer.url], secret)
            #expect(token.status == 0 && token.lines.count == 1, "\(token)")
            let again = try await world.lanyard(["token", issuer.url], secret)
            #expect(again.output == token.output, "\(again)")
            let asked = try await world.sandbox.requests().filter { $0.method == "POST" }
            #expect(asked.map(\.grantType) == ["client_credentials"], "\(asked)")
            #expect(asked.first?.form?["scope"] == "read_repository")
            try await world.sandbox.clearLog()
            let open = try await world.lanyard(["identity", "check", "bot"], secret)
            #expect(open.status == 0, "\(open)")
            let form = try await world.sandbox.requests().first { $0.grantType == "client_credentials" }?.form
            #expect(form != nil && form?["scope"] == nil, "\(String(describing: form))")
            let wrong = try await world.lanyard(["token", "--claims", "{}", issuer.url], ["BOT_SECRET": "wrong"])
            #expect(wrong.status == 0, "a stored token is handed out: \(wrong)")
            let check = try await world.lanyard(["identity", "check", "bot", issuer.url], ["BOT_SECRET": "wrong"])
            #expect(check.status == 1 && check.errors.contains("the authority refuses"), "\(check)")
            let id = try await world.lanyard(["token", "--id-token", issuer.url], secret)
            #expect(id.status == 1 && id.errors.contains("the identity bot has no ID token"), "\(id)")
        }
    }

    private static func identity(_ name: String, at world: World, _ rest: String) -> String {
        """
        [[identity]]
        name = "\(name)"
        authority = "\(world.sandbox.issuer.url)"
        kind = "oidc"
        client-id = "sandbox-robot"
        \(rest)

        """
    }

    @Test func `a key, and tokens of CI services and clusters, prove an application where they are checked strictly`()
        async throws
    {
        try await World.with { world in
            let (application, issuer) = (world.sandbox.application, world.sandbox.issuer)
            let file = world.folder + "/assertion"
            let token = try await world.sandbox.assertion()
            try token.write(toFile: file, atomically: true, encoding: .utf8)
            let key = world.folder + "/robot.key"
            let both = try String(contentsOfFile: application.certificate, encoding: .utf8)
            let end = try #require(both.range(of: "-----BEGIN CERTIFICATE"))
            try String(both[..<end.lowerBound]).write(toFile: key, atomically: true, encoding: .utf8)
            let command = world.folder + "/bin/assertion"
            try "#!/bin/sh\ncat '\(file)'\n".write(toFile: command, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: command)
            let github = [
                "ACTIONS_ID_TOKEN_REQUEST_URL": application.requestURL,
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": application.requestToken,
            ]
            let azure = [
                "SYSTEM_OIDCREQUESTURI": "\(world.sandbox.authority)/_actions/oidctoken",
                "SYSTEM_ACCESSTOKEN": application.requestToken,
            ]
            let cases: [(proof: String, variables: [String: String])] = [
                ("certificate = \"\(application.certificate)\"", [:]), ("certificate = \"\(key)\"", [:]),
                ("assertion = \"file:\(file)\"", [:]), ("assertion = \"command:\(command)\"", [:]),
                ("assertion = \"kubernetes:\(file)\"", [:]), ("assertion = \"gitlab\"", ["AZURE_ID_TOKEN": token]),
                ("assertion = \"variable:JOB_TOKEN\"", ["JOB_TOKEN": token]),
                ("assertion = \"github-actions\"", github),
                ("assertion = \"azure-pipelines:connection\"", azure),
                ("subject-token = \"file:\(file)\"\naudience = \"sandbox-service\"", [:]),
                ("subject-token = \"github-actions\"", github),
            ]
            try world.configure(
                after: cases.enumerated().map { Self.identity("proof\($0.offset)", at: world, $0.element.proof) }
                    .joined()
                        + """
                        [[rule]]
                        url = "\(issuer.url)"
                        identity = "proof0"
                        scopes = ["read_repository"]

                        """)
            for (number, one) in cases.enumerated() {
                try await world.sandbox.clearLog()
                // Each asks anew, although a token is stored by then: an assertion that was seen before would be refused.
                for _ in 0..<2 {
                    let checked = try await world.lanyard(
                        ["identity", "check", "proof\(number)", issuer.url], one.variables)
                    #expect(checked.status == 0, "\(one.proof): \(checked)")
                }
                let asked = try await world.sandbox.requests().filter { $0.path == "/oauth/token" }
                let isExchange = one.proof.hasPrefix("subject-token")
                let grant = isExchange ? "urn:ietf:params:oauth:grant-type:token-exchange" : "client_credentials"
                #expect(asked.map(\.grantType) == [grant, grant], "\(one.proof): \(asked)")
                #expect(asked.allSatisfy { $0.form?["scope"] == "read_repository" && $0.authorization == nil })
                #expect(asked.first?.form?["audience"] == (one.proof.contains("audience") ? "sandbox-service" : nil))
            }
            let got = try await world.lanyard(["token", issuer.url])
            #expect(got.status == 0 && got.lines.count == 1, "\(got)")
        }
    }

    @Test(arguments: [
        ("github-actions", "permissions: id-token: write"), ("gitlab", "name it in the job's id_tokens"),
        ("azure-pipelines:connection", "it is there in jobs of Azure Pipelines only"),
        ("hcp-terraform", "TFC_WORKLOAD_IDENTITY_AUDIENCE"), ("variable:JOB_TOKEN", "set it where lanyard runs"),
        ("kubernetes", "that the pod or job mounts the token"),
        ("file:/nowhere", "that the pod or job mounts the token"),
        ("command:/nowhere", "check its path, and that it is executable"),
    ])
    func `a source that isn't there says what it needs`(source: String, remedy: String) async throws {
        try await World.with { world in
            try world.configure(after: Self.identity("absent", at: world, "assertion = \"\(source)\""))
            let checked = try await world.lanyard(["identity", "check", "absent", "--scope", "read_repository"])
            #expect(checked.status == 1 && checked.errors.contains(remedy), "\(checked)")
            #expect(try await world.sandbox.requests().allSatisfy { $0.path != "/oauth/token" })
        }
    }

    @Test func `an audience of an identity's tokens keeps them apart, and another issuer's token has to be trusted`()
        async throws
    {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            let (file, wrong) = (world.folder + "/assertion", world.folder + "/wrong")
            try (try await world.sandbox.assertion()).write(toFile: file, atomically: true, encoding: .utf8)
            try "not.a.token".write(toFile: wrong, atomically: true, encoding: .utf8)
            try world.configure(
                after: Self.identity("plain", at: world, "subject-token = \"file:\(file)\"")
                    + Self.identity(
                        "narrow", at: world, "subject-token = \"file:\(file)\"\naudience = \"sandbox-service\"")
                    + Self.identity("elsewhere", at: world, "subject-token = \"file:\(file)\"\naudience = \"other\"")
                    + Self.identity("wrong", at: world, "subject-token = \"file:\(wrong)\"")
                        + """
                        [[rule]]
                        url = "\(issuer.url)"
                        authority = "\(issuer.url)"
                        client-id = "\(issuer.clientID)"
                        kind = "oidc"
                        scopes = ["read_repository"]

                        """)
            func token(as name: String) async throws -> Ended {
                try await world.lanyard(["token", "--identity", name, issuer.url])
            }
            let plain = try await token(as: "plain")
            let narrow = try await token(as: "narrow")
            #expect(plain.status == 0 && narrow.status == 0 && plain.output != narrow.output, "\(plain) \(narrow)")
            #expect(try await token(as: "plain").output == plain.output)
            for arguments in [["token", "--identity", "elsewhere"], ["identity", "check", "wrong"]] {
                let refused = try await world.lanyard(arguments + [issuer.url])
                #expect(refused.status == 1 && refused.errors.contains("hint: "), "\(refused)")
            }
            let entra = try await world.lanyard([
                "identity", "add", "entra", "--authority", "\(world.sandbox.authority)/contoso.example", "--client-id",
                world.sandbox.application.clientID, "--subject-token", "file:\(file)",
            ])
            #expect(entra.status == 0, "\(entra)")
            let refused = try await world.lanyard(
                ["identity", "check", "entra", "--scope", "https://vault.azure.net/.default"])
            #expect(refused.status == 1 && refused.errors.contains("exchange tokens of other issuers"), "\(refused)")
        }
    }
}
