import Foundation
import TestSupport
import Testing

/// lanyard at moto, which knows AWS by itself and verifies signatures with botocore's own code, and boto3 with what it gets there.
@Suite(.enabled(if: Clients.folder != nil, "there is none: script/get tools says why"))
struct MotoTests {
    private struct Moto: Decodable {
        let port: Int
        let id: String
        let secret: String
    }

    private static let role = "https://sts.eu-central-1.amazonaws.com/arn:aws:iam::123456789012:role/build"
    private static let registry = "https://123456789012.dkr.ecr.eu-central-1.amazonaws.com"

    /// Runs the body while moto stands in for AWS, with the variables that have its user's keys and certificate.
    private static func with(
        _ body:
            @escaping @Sendable (World, _ variables: [String: String], _ log: @Sendable () throws -> [String])
            async throws -> Void
    ) async throws {
        try await World.with { world in
            let folder = world.folder + "/moto"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let made = try await world.runInside(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(folder)/key.pem", "-out",
                    "\(folder)/cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost",
                ])
            try #require(made.status == 0, "\(made)")
            let script = Built.checkout + "/Tests/TestSupport/Scripts/moto"
            _ = try await TestSupport.with(
                Clients.program("python3"), [script, folder], output: folder + "/output",
                environment: world.environment
            ) {
                let file = folder + "/moto.json"
                var patience = 600
                while !FileManager.default.fileExists(atPath: file), patience > 0 {
                    try await Task.sleep(for: .milliseconds(50))
                    patience -= 1
                }
                let moto = try JSONDecoder().decode(Moto.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
                let url = "https://localhost:\(moto.port)"
                try world.configure(
                    after: """
                        [plugin.aws]
                        region = "eu-central-1"
                        endpoint = "\(url)"
                        [[identity]]
                        name = "found"
                        plugin = "aws"
                        [[rule]]
                        url = "https://sts.eu-central-1.amazonaws.com"
                        identity = "found"
                        [[rule]]
                        url = "\(registry)"
                        identity = "found"
                        exchange-parameters = { role = "arn:aws:iam::123456789012:role/build" }

                        """)
                let variables = [
                    "AWS_ACCESS_KEY_ID": moto.id, "AWS_SECRET_ACCESS_KEY": moto.secret, "AWS_ENDPOINT_URL": url,
                    "AWS_CA_BUNDLE": "\(folder)/cert.pem", "AWS_CONFIG_FILE": "\(folder)/config",
                    "GIT_SSL_CAINFO": "\(folder)/cert.pem",
                ]
                try await body(world, variables) {
                    try String(contentsOfFile: folder + "/log", encoding: .utf8).split(separator: "\n").map(String.init)
                }
            }
        }
    }

    @Test func `it takes lanyard's signatures, and boto3 uses the keys that they get`() async throws {
        try await Self.with { world, variables, log in
            let keys = try await world.lanyard(["aws", Self.role], variables)
            #expect(keys.status == 0 && keys.output.contains(#""AccessKeyId":"ASIA"#), "\(keys)")
            // Its passwords have ended in 2015.
            let password = try await world.lanyard(["get"], variables, input: "url=\(Self.registry)\n")
            #expect(password.value("username") == "AWS", "\(password)")
            #expect(password.value("password") == "123456789012-auth-token", "\(password)")
            #expect(try log() == ["POST / 200", "POST / 200", "POST / 200"])

            var wrong = variables
            wrong["AWS_SECRET_ACCESS_KEY"] = "hunter2"
            let refused = try await world.lanyard(["aws", Self.role], wrong)
            #expect(refused.status == 1 && refused.errors.contains("refuses the signature"), "\(refused)")
            #expect(!refused.errors.contains("hunter2"), "\(refused)")

            let file = try #require(variables["AWS_CONFIG_FILE"])
            try """
            [profile build]
            region = eu-central-1
            credential_process = \(world.folder)/bin/lanyard aws \(Self.role)
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let program = """
                import boto3
                session = boto3.Session(profile_name="build")
                print(session.client("sts").get_caller_identity()["Arn"].split("/")[1])
                print(len(session.client("ecr").get_authorization_token()["authorizationData"]))
                """
            let boto = try await world.runInside(
                Clients.program("python3"), ["-c", program], environment: world.environment.merging(variables) { $1 })
            #expect(boto.output == "build\n1\n", "\(boto)")
        }
    }
}
