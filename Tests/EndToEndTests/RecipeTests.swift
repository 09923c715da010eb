import Foundation
import TestSupport
import Testing

/// The recipes for pipelines and machines in docs/ci.md, run exactly as printed, in jobs without a terminal, keyring or
/// session bus.
///
/// The sandbox stands for Entra ID, the CI service's issuer, Azure DevOps and the registry. Two scripts stand for
/// docker and pip, which would need a daemon and an index; they run lanyard in the same way.
@Suite struct RecipeTests {
    struct Recipe: Decodable {
        struct Script: Decodable {
            let shell: [String]
            let script: String
            let variables: [String: String]
        }

        let heading: String
        let scripts: [Script]
    }

    /// A recipe, its service's way to run a step, and the variables of all its jobs.
    struct Service: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let job: [String]
        let variables: @Sendable (World) async throws -> [String: String]
    }

    static let services = [
        Service(testDescription: "GitHub Actions", job: ["github"]) { world in
            let application = world.sandbox.application
            return [
                "CI": "true", "ACTIONS_ID_TOKEN_REQUEST_URL": application.requestURL,
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": application.requestToken,
            ]
        },
        Service(testDescription: "GitLab CI", job: ["none"]) { world in
            ["CI": "true", "GITLAB_CI": "true", "AZURE_ID_TOKEN": try await world.sandbox.assertion()]
        },
        Service(testDescription: "Azure Pipelines", job: ["azure", "--task"]) { world in
            let application = world.sandbox.application
            return [
                "SYSTEM_OIDCREQUESTURI": "\(world.sandbox.authority)/_actions/oidctoken",
                "SYSTEM_ACCESSTOKEN": application.requestToken,
                "AZURESUBSCRIPTION_TENANT_ID": "contoso.example",
                "AZURESUBSCRIPTION_CLIENT_ID": application.clientID,
                "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "22222222-3333-4444-5555-666666666666",
            ]
        },
        Service(testDescription: "Kubernetes jobs", job: ["none"]) { world in
            let file = world.folder + "/azure-identity-token"
            try await world.sandbox.assertion().write(toFile: file, atomically: true, encoding: .utf8)
            return applicationVariables(world).merging(["AZURE_FEDERATED_TOKEN_FILE": file]) { $1 }
        },
        Service(testDescription: "Dev containers", job: ["none"]) { world in
            applicationVariables(world).merging(["AZURE_ID_TOKEN": try await world.sandbox.assertion()]) { $1 }
        },
        Service(testDescription: "cron on a machine", job: ["none"]) { world in
            try FileManager.default.copyItem(
                atPath: world.sandbox.application.certificate, toPath: place(world) + "/report.pem")
            return ["LOGNAME": "report", "SHELL": "/bin/sh"]
        },
    ]

    @Test(arguments: services)
    func `a recipe runs as it is printed, and can be run again`(service: Service) async throws {
        try await World.with { world in
            let environment = try await prepare(world).merging(service.variables(world)) { $1 }
            try await GuardedServer.serve(.files, in: world.folder + "/api") { api in
                try api.put(#"{"count":0,"value":[]}"#, at: "contoso/_apis/projects")
                try api.guarded(by: "Bearer ey*")
                let address = api.url.dropFirst("https://".count)
                try "connect-to = \"dev.azure.com:443:\(address)\"\ninsecure\n".write(
                    toFile: Self.place(world) + "/.curlrc", atomically: true, encoding: .utf8)
                let recipes = try await Self.recipes(world)
                let recipe = try #require(recipes.first { $0.heading == service.testDescription })
                var scripts = recipe.scripts
                if !service.testDescription.hasPrefix("cron") {
                    let checks = try #require(recipes.last { $0.heading == "If something is wrong" }).scripts
                    let variables = recipe.scripts[0].variables
                    scripts += checks.map { Recipe.Script(shell: $0.shell, script: $0.script, variables: variables) }
                }
                for round in 1...2 {
                    for script in scripts {
                        let ended = try await run(script, of: service, in: world, environment)
                        #expect(ended.status == 0, "\(round): \(script.script)\n\(ended)")
                        #expect(!(ended.output + ended.errors).contains("eyJ"), "\(script.script)\n\(ended)")
                    }
                    let clone = ["repo", "work/repo"].map { "\(Self.place(world))/\($0)" }
                        .first { FileManager.default.fileExists(atPath: $0 + "/README.md") }
                    try FileManager.default.removeItem(atPath: try #require(clone))
                    if service.testDescription.hasPrefix("cron") { break }
                }
                #expect(try api.readLog().allSatisfy { $0.hasPrefix("200 ") })
            }
            let requests = try await world.sandbox.requests()
            #expect(requests.contains { $0.user == "lanyard sandbox pipeline" })
            try await Self.expectNoSecret(in: Self.place(world), world)
        }
    }

    @Test func `every recipe of the page is run`() async throws {
        try await World.with { world in
            let headings = Set(try await Self.recipes(world).map(\.heading))
            let known = Self.services.map(\.testDescription) + ["What to set up in Entra ID", "If something is wrong"]
            #expect(headings == Set(known + CloudRecipeTests.clouds.map(\.testDescription)))
        }
    }

    // MARK: The place

    /// Returns the fresh home of a job.
    static func place(_ world: World) -> String { world.folder + "/job" }

    /// Creates a home in which the page's names lead to the sandbox, and returns the variables of every job.
    private func prepare(_ world: World) throws -> [String: String] {
        let home = Self.place(world)
        for folder in [".config/lanyard", ".local/bin", "work"] {
            try FileManager.default.createDirectory(
                atPath: "\(home)/\(folder)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        // The rules say about the sandbox what plugins know about Azure DevOps and registries.
        try world.configure(onlyRuleFor: "contoso")
        try world.configure(
            after: """
                [[rule]]
                url = "\(world.sandbox.exchanges)"
                authority = "\(world.sandbox.authority)/contoso.example"
                client-id = "azure-cli"
                exchange = "acr"

                """)
        try FileManager.default.copyItem(atPath: world.configFile, toPath: home + "/.config/lanyard/config.toml")
        try """
        [http]
        sslCAInfo = "\(world.sandbox.caFile)"
        [url "\(world.sandbox.resource)/contoso/hello.git"]
        insteadOf = https://dev.azure.com/contoso/project/_git/repo

        """.write(toFile: home + "/.gitconfig", atomically: true, encoding: .utf8)
        try world.link("docker-credential-lanyard")
        try FileManager.default.createSymbolicLink(
            atPath: world.folder + "/bin/docker",
            withDestinationPath: Built.checkout + "/Tests/TestSupport/Scripts/docker-pull")
        try Self.program("pip", in: world, #"keyring get "${3%/*}/" anybody | grep -q ^ey"#)
        return [
            "HOME": home, "PATH": "\(home)/.local/bin:\(world.folder)/bin:\(Programs.folder)", "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "LANYARD_CA_FILE": world.sandbox.caFile,
            "AZURE_AUTHORITY_HOST": world.sandbox.authority + "/",
        ]
    }

    static func program(_ name: String, in world: World, _ script: String) throws {
        let file = "\(world.folder)/bin/\(name)"
        try "#!/bin/bash\nset -eo pipefail\n\(script)\n".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }

    private static func applicationVariables(_ world: World) -> [String: String] {
        ["AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": world.sandbox.application.clientID]
    }

    /// Returns the page's recipes, with the sandbox's names.
    static func recipes(_ world: World) async throws -> [Recipe] {
        let names = [
            ("https://login.microsoftonline.com/contoso.com", world.sandbox.authority + "/contoso.example"),
            ("AZURE_TENANT_ID: contoso.com", "AZURE_TENANT_ID: contoso.example"),
            ("11111111-2222-3333-4444-555555555555", world.sandbox.application.clientID),
            ("contoso.azurecr.io/app", "\(world.registry)/hello"), ("contoso.azurecr.io", world.registry),
            ("HOME=/tmp", "HOME=\(place(world))"),
        ]
        let page = try String(contentsOfFile: Built.checkout + "/docs/ci.md", encoding: .utf8)
        let file = world.folder + "/ci.md"
        try names.reduce(page) { $0.replacing($1.0, with: $1.1) }.write(toFile: file, atomically: true, encoding: .utf8)
        let ended = try await TestSupport.run(
            Built.checkout + "/Tests/TestSupport/Scripts/recipes", [file], environment: ["PATH": Programs.folder])
        try #require(ended.status == 0, "\(ended)")
        return try JSONDecoder().decode([Recipe].self, from: Data(ended.output.utf8))
    }

    /// Runs a script as its service does: in the checkout's folder, or in the home for cron.
    private func run(
        _ script: Recipe.Script, of service: Service, in world: World, _ environment: [String: String]
    ) async throws -> Ended {
        let home = Self.place(world)
        return try await TestSupport.run(
            Built.checkout + "/Tests/TestSupport/Scripts/job",
            service.job + ["--"] + script.shell + [script.script],
            environment: environment.merging(script.variables) { $1 },
            folder: service.testDescription.hasPrefix("cron") ? home : home + "/work")
    }

    /// Expects that no file in a folder contains a token or the application's credentials.
    private static func expectNoSecret(in folder: String, _ world: World) async throws {
        let found = try await TestSupport.run(
            "/usr/bin/grep", ["--recursive", "--text", "--files-with-matches", "eyJ", folder],
            environment: ["PATH": Programs.folder])
        #expect(found.status == 1, "\(found)")
    }
}
