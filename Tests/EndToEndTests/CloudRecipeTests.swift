import Foundation
import TestSupport
import Testing

/// The recipes of docs/ci.md for AWS and Google Cloud, run exactly as printed, in GitHub's jobs, with pip itself.
///
/// The sandbox stands for the clouds, whose hosts a proxy leads to it, and for GitHub's issuer. What each cloud's own action leaves in
/// the job is there from the beginning.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct CloudRecipeTests {
    /// A recipe, and what its cloud's own action leaves in the job.
    struct Cloud: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let action: @Sendable (World) async throws -> [String: String]
    }

    static let clouds = [
        Cloud(
            testDescription: "AWS without keys"
        ) { world in
            try await GoogleTests.keysOfAWS(world)
        },
        Cloud(testDescription: "Google Cloud without keys") { world in
            let application = world.sandbox.application
            let source = URL(fileURLWithPath: "\(world.sandbox.google)/external_account.json")
            var members = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: source)) as? [String: Any])
            members["credential_source"] = [
                "url": application.requestURL + "&audience=api%3A%2F%2FAzureADTokenExchange",
                "headers": ["Authorization": "Bearer \(application.requestToken)"],
                "format": ["type": "json", "subject_token_field_name": "value"],
            ]
            let file = RecipeTests.place(world) + "/work/gha-creds-1.json"
            try JSONSerialization.data(withJSONObject: members).write(to: URL(fileURLWithPath: file))
            return ["GOOGLE_APPLICATION_CREDENTIALS": file, "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE": file]
        },
    ]

    @Test(arguments: clouds)
    func `a recipe runs as it is printed, and can be run again`(cloud: Cloud) async throws {
        try await World.with { world in
            try await world.withDetour { network in
                let environment = try Self.prepare(world).merging(network) { $1 }
                    .merging(try await cloud.action(world)) { $1 }
                let recipe = try #require(
                    try await RecipeTests.recipes(world).first { $0.heading == cloud.testDescription })
                #expect(recipe.scripts.count == 2)
                for round in 1...2 {
                    for script in recipe.scripts {
                        // The only image and the only package that there are.
                        let text = script.script.replacing("/PROJECT/REPOSITORY/IMAGE", with: "/hello")
                            .replacing("amazonaws.com/app", with: "amazonaws.com/hello")
                            .replacing("PROJECT/REPOSITORY", with: "contoso-project/tools")
                            .replacing("/feed/", with: "/tools/").replacing(" tool", with: " hello")
                        // A rule is there already in the second round.
                        let printed = round == 1 ? text : text.replacing(/lanyard rule add .*/, with: "true")
                        let ended = try await TestSupport.run(
                            Built.checkout + "/Tests/TestSupport/Scripts/job",
                            ["github", "--"] + script.shell + [printed],
                            environment: environment.merging(script.variables) { $1 },
                            folder: RecipeTests.place(world) + "/work")
                        #expect(ended.status == 0, "\(round): \(printed)\n\(ended)")
                        let sight = printed.contains("docker") ? "pulled schema 2" : "Would install hello-1.0"
                        #expect(ended.output.contains(sight), "\(printed)\n\(ended)")
                        for secret in ["ya29.", "eyJ", environment["AWS_SECRET_ACCESS_KEY"]].compactMap(\.self) {
                            #expect(!(ended.output + ended.errors).contains(secret), "\(printed)\n\(ended)")
                        }
                    }
                }
            }
        }
    }

    /// Creates a job's home, and returns its variables.
    private static func prepare(_ world: World) throws -> [String: String] {
        let home = RecipeTests.place(world)
        for folder in [".config/lanyard", ".local/bin", "work"] {
            try FileManager.default.createDirectory(
                atPath: "\(home)/\(folder)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try """
        [plugin.aws]
        endpoint = "\(world.sandbox.exchanges)"
        [plugin.google]
        endpoint = "\(world.sandbox.exchanges)/google"

        """.write(toFile: home + "/.config/lanyard/config.toml", atomically: true, encoding: .utf8)
        try world.link("docker-credential-lanyard")
        try FileManager.default.createSymbolicLink(
            atPath: world.folder + "/bin/docker",
            withDestinationPath: Built.checkout + "/Tests/TestSupport/Scripts/docker-pull")
        // Only the package's metadata is there.
        try RecipeTests.program(
            "pip", in: world, "exec '\(Clients.program("pip"))' \"$@\" --dry-run --no-deps --no-cache-dir")
        return [
            "HOME": home, "PATH": "\(home)/.local/bin:\(world.folder)/bin:\(Programs.folder)", "LANG": "C.UTF-8",
            "CI": "true", "LANYARD_CA_FILE": world.sandbox.caFile, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        ]
    }
}
