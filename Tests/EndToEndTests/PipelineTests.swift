import Foundation
import JSON
import TestSupport
import Testing

/// Each kind of identity with each kind of tool, without a keyring, a session bus or a user.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct PipelineTests {
    /// A kind of identity: the last line of its table, and the variables of its process.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case secret, certificate, federation, machine

        var testDescription: String { rawValue }
    }

    private static let role = "arn:aws:iam::123456789012:role/deployer"

    /// Returns each tool's script for the folder `work`, and its expected output.
    private static func commands(_ world: World) -> [(tool: String, script: String, sight: String)] {
        let (git, registry) = ("\(world.sandbox.resource)/contoso/hello.git", "docker://\(world.registry)/hello:latest")
        let (curl, skopeo) = ("curl --silent --show-error --fail", Clients.program("skopeo"))
        return [
            ("git", "rm -rf hello && git clone --quiet '\(git)' && ls hello", "README.md"),
            (
                "skopeo", "rm -rf image && '\(skopeo)' copy --insecure-policy '\(registry)' dir:image && ls image",
                "manifest.json"
            ),
            (
                "curl",
                "lanyard token --header '\(git)' | \(curl) --header @- '\(git)/info/refs?service=git-upload-pack'",
                "refs/heads/main"
            ),
            ("aws", "'\(Clients.program("aws"))' sts get-caller-identity --output text --query Arn", role),
        ]
    }

    /// Sets up the tools, and the rules for a registry and a role, which every identity can use.
    private static func prepare(_ world: World) throws -> [String: String] {
        try world.link("docker-credential-lanyard")
        let exchanges = world.sandbox.exchanges
        try world.configure(
            after: """
                [[rule]]
                url = "\(exchanges)"
                authority = "\(world.sandbox.authority)/contoso.example"
                exchange = "acr"

                [[rule]]
                url = "\(exchanges)/arn:aws:iam::123456789012:role"
                authority = "\(world.sandbox.authority)/contoso.example"
                exchange = "aws-sts"
                scopes = ["api://sandbox-git/.default"]

                """)
        let docker = world.folder + "/auth.json"
        let helpers = #"{"credHelpers":{"\#(world.registry)":"lanyard"}}"#
        try helpers.write(toFile: docker, atomically: true, encoding: .utf8)
        let aws = world.folder + "/aws-config"
        let process = "\(world.folder)/bin/lanyard aws \(exchanges)/\(role)"
        try "[default]\nregion = eu-central-1\ncredential_process = \(process)\n"
            .write(toFile: aws, atomically: true, encoding: .utf8)
        let trust = world.sandbox.caFile
        return World.noKeyring.merging([
            "REGISTRY_AUTH_FILE": docker, "SSL_CERT_FILE": trust, "CURL_CA_BUNDLE": trust, "AWS_CONFIG_FILE": aws,
            "AWS_ENDPOINT_URL": exchanges, "AWS_CA_BUNDLE": trust,
        ]) { $1 }
    }

    /// Adds the sandbox's application as an identity, and returns the variables that select it.
    private static func application(_ proof: String, in world: World) throws -> [String: String] {
        try world.configure(
            after: """
                [[identity]]
                name = "release"
                authority = "\(world.sandbox.authority)/contoso.example"
                client-id = "\(world.sandbox.application.clientID)"
                \(proof)

                """)
        return ["LANYARD_IDENTITY": "release"]
    }

    /// Runs the body with the variables of a process that has an identity.
    private static func with(
        _ kind: Kind, in world: World, _ body: ([String: String]) async throws -> Void
    ) async throws {
        let application = world.sandbox.application
        switch kind {
        case .secret:
            var variables = try Self.application(#"secret-variable = "RELEASE_SECRET""#, in: world)
            variables["RELEASE_SECRET"] = application.secret
            try await body(variables)
        case .certificate:
            try await body(try Self.application(#"certificate = "\#(application.certificate)""#, in: world))
        case .federation:
            var variables = try Self.application(#"assertion = "github-actions""#, in: world)
            variables["ACTIONS_ID_TOKEN_REQUEST_URL"] = application.requestURL
            variables["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] = application.requestToken
            try await body(variables)
        case .machine:
            try await world.withMachineIdentity { variables in
                try await body(variables.merging(["LANYARD_IDENTITY": "machine"]) { $1 })
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `each tool works, and what it needs is got once`(_ kind: Kind) async throws {
        try await World.with(ownKernelKeys: true) { world in
            let surroundings = try Self.prepare(world)
            try await Self.with(kind, in: world) { variables in
                let environment = world.environment.merging(surroundings) { $1 }.merging(variables) { $1 }
                let explained = try await world.lanyard(["explain", world.sandbox.exchanges], environment)
                #expect(explained.output.contains("  acr, at \(world.registry)\n"), "\(explained)")
                #expect(explained.output.contains(", and exchange it"), "\(explained)")
                for _ in 0..<2 {
                    for (tool, script, sight) in Self.commands(world) {
                        let ended = try await world.runInside("/bin/sh", ["-c", script], environment: environment)
                        #expect(ended.status == 0 && ended.output.contains(sight), "\(tool) as \(kind) \(ended)")
                        #expect(!ended.errors.contains("lanyard: "), "\(tool) \(ended)")
                    }
                }
            }
            // One token for git, curl and AWS, one for the registry, and the credentials of the two hosts for them.
            let requests = try await world.sandbox.requests()
            #expect(requests.count(grant: "client_credentials") == 2, "\(requests)")
            #expect(requests.count { $0.path == "/oauth2/exchange" } == 1, "\(requests)")
            #expect(requests.count { $0.form?["Action"] == "AssumeRoleWithWebIdentity" } == 1, "\(requests)")
        }
    }
}
