import Foundation
import TestSupport
import Testing

/// AWS's CodeArtifact and Google's Artifact Registry by the names of their hosts, with the programs that people use.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct CloudPackagesTests {
    enum Cloud: String, CaseIterable, Sendable { case codeArtifact, artifactRegistry }

    /// A world with a rule or an identity for one cloud's packages, whose hosts a proxy leads to the sandbox.
    private struct Shop: Sendable {
        let cloud: Cloud
        let world: World
        let variables: [String: String]

        static func with(_ cloud: Cloud, _ body: @escaping @Sendable (Shop) async throws -> Void) async throws {
            let main: @Sendable (World) async throws -> Void = { world in
                try await world.withDetour { variables in
                    let machine = GoogleTests.file("service_account", world)
                    let identity =
                        cloud == .artifactRegistry ? machine.merging(["LANYARD_IDENTITY": "google"]) { $1 } : [:]
                    let shop = Shop(cloud: cloud, world: world, variables: variables.merging(identity) { $1 })
                    try await body(shop)
                }
            }
            switch cloud {
            case .codeArtifact: try await IdentityCenterTests.with { try await main($0) }
            case .artifactRegistry: try await GoogleTests.with { try await main($0) }
            }
        }

        /// The URL of the repository in a format.
        func place(_ format: String) -> String {
            switch cloud {
            case .codeArtifact: "https://\(IdentityCenterTests.index)/\(format == "python" ? "pypi" : format)/tools"
            case .artifactRegistry: "https://europe-west4-\(format).pkg.dev/contoso-project/tools"
            }
        }

        func run(
            _ program: String, _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
        ) async throws -> Ended {
            try await world.tool(program, arguments, variables.merging(extra) { $1 }, input: input)
        }

        func lanyard(
            _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
        ) async throws -> Ended {
            try await world.lanyard(arguments, variables.merging(extra) { $1 }, input: input)
        }

        /// Runs a program with the token in a variable.
        func exec(
            _ format: String, _ command: [String], _ extra: [String: String] = [:]
        ) async throws -> Ended {
            try await lanyard(["exec", place(format) + "/", "--env", "TOKEN", "--"] + command, extra)
        }

        /// Expects that a program's requests were all opened, with a token of the right user's that it shows to nobody.
        func expectOpened(_ ended: Ended, _ sight: String, _ paths: String...) async throws {
            #expect(ended.status == 0 && (sight.isEmpty || ended.output.contains(sight)), "\(ended)")
            let requests = try await world.sandbox.requests().filter { $0.host == "exchanges" }
            let user = cloud == .codeArtifact ? "alice@contoso.example" : GoogleTests.builder
            for path in paths {
                #expect(
                    requests.contains { $0.path.hasSuffix(path) && $0.status == 200 && $0.user == user },
                    "\(path) \(requests)")
            }
            let token = try await lanyard(["token", place("npm") + "/"]).lines.first ?? ""
            #expect(token.count > 100 && !(ended.output + ended.errors).contains(token), "\(ended)")
            try await world.sandbox.clearLog()
        }
    }

    @Test(arguments: Cloud.allCases)
    func `pip, uv and twine get the token by the keyring that lanyard stands in for`(cloud: Cloud) async throws {
        try await Shop.with(cloud) { shop in
            try shop.world.link("keyring")
            let root = shop.place("python")
            let pip = try await shop.run(
                Clients.program("pip"),
                [
                    "index", "versions", "--no-input", "--no-cache-dir", "--keyring-provider", "subprocess",
                    "--index-url", root + "/simple/", "hello",
                ], ["PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1"])
            try await shop.expectOpened(pip, "hello (1.0)", "/simple/hello/")

            let file = shop.world.folder + "/uv.toml"
            try "[[index]]\nurl = \"\(root)/simple\"\ndefault = true\nauthenticate = \"always\"\n"
                .write(toFile: file, atomically: true, encoding: .utf8)
            let uv = try await shop.run(
                Clients.program("uv"),
                ["--config-file", file, "pip", "compile", "--python", Clients.program("python3"), "-"],
                ["UV_NO_CACHE": "1", "UV_KEYRING_PROVIDER": "subprocess"], input: "hello\n")
            try await shop.expectOpened(uv, "hello==1.0", "/simple/hello/", ".whl.metadata")

            let wheel = try await shop.world.keyringBackend()
            let twine = try await shop.run(
                Clients.program("twine"),
                ["upload", "--non-interactive", "--disable-progress-bar", "--repository-url", root + "/", wheel],
                ["PYTHONPATH": wheel])
            try await shop.expectOpened(twine, "Uploading", "/tools/")
        }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/npm"), "there is no npm"),
        arguments: Cloud.allCases)
    func `npm gets the token in a variable, and pnpm's helper gives the same`(cloud: Cloud) async throws {
        try await Shop.with(cloud) { shop in
            let registry = shop.place("npm") + "/"
            let file = shop.world.folder + "/npmrc"
            try "registry=\(registry)\n\(registry.dropFirst("https:".count)):_authToken=${TOKEN}\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let npm = try await shop.exec(
                "npm", ["/usr/bin/npm", "view", "hello", "version"],
                [
                    "PATH": "/usr/bin:/bin", "NPM_CONFIG_USERCONFIG": file,
                    "NPM_CONFIG_CACHE": shop.world.folder + "/npm", "NPM_CONFIG_UPDATE_NOTIFIER": "false",
                ])
            try await shop.expectOpened(npm, "1.0.0", "/tools/hello")
            let token = try await shop.lanyard(["token", registry]).lines.first ?? ""
            #expect(try await shop.lanyard(["pnpm", registry]).output == "Bearer \(token)\n")
        }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/mvn"), "there is no Maven"),
        arguments: Cloud.allCases)
    func `Maven gets the token in a variable`(cloud: Cloud) async throws {
        try await Shop.with(cloud) { shop in
            let folder = shop.world.folder + "/maven"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let trust = folder + "/trust.p12"
            let made = try await shop.run(
                "/usr/bin/keytool",
                [
                    "-importcert", "-noprompt", "-alias", "sandbox", "-file", shop.world.sandbox.caFile, "-keystore",
                    trust, "-storepass", "changeit", "-storetype", "PKCS12",
                ])
            try #require(made.status == 0, "\(made)")
            let proxy = try #require(shop.variables["HTTPS_PROXY"]?.split(separator: ":").last)
            let user = cloud == .codeArtifact ? "aws" : "oauth2accesstoken"
            try """
            <settings><localRepository>\(folder)/local</localRepository>
            <proxies><proxy><id>detour</id><protocol>https</protocol><host>127.0.0.1</host><port>\(proxy)</port></proxy></proxies>
            <servers><server><id>tools</id><username>\(user)</username><password>${env.TOKEN}</password></server></servers>
            </settings>
            """.write(toFile: folder + "/settings.xml", atomically: true, encoding: .utf8)
            // Only a parent is got before any of Maven's own parts.
            try """
            <project><modelVersion>4.0.0</modelVersion>
            <parent><groupId>example</groupId><artifactId>hello</artifactId><version>1.0</version><relativePath/></parent>
            <artifactId>app</artifactId><packaging>pom</packaging>
            <repositories><repository><id>tools</id><url>\(shop.place("maven"))/</url></repository></repositories>
            </project>
            """.write(toFile: folder + "/pom.xml", atomically: true, encoding: .utf8)
            let maven = try await shop.exec(
                "maven",
                [
                    "/usr/bin/mvn", "--batch-mode", "--settings", folder + "/settings.xml", "--file",
                    folder + "/pom.xml", "validate",
                ],
                [
                    "PATH": "/usr/bin:/bin",
                    "MAVEN_OPTS": "-Djavax.net.ssl.trustStore=\(trust) -Djavax.net.ssl.trustStorePassword=changeit",
                ])
            try await shop.expectOpened(maven, "BUILD SUCCESS", "/hello-1.0.pom")
        }
    }

    @Test func `go gets Artifact Registry's token by GOAUTH`() async throws {
        try await Shop.with(.artifactRegistry) { shop in
            let go = try await shop.run(
                Clients.program("go"), ["list", "-m", "-versions", "example.com/hello"],
                [
                    "GOAUTH": "lanyard goauth", "GOPROXY": shop.place("go"), "GOSUMDB": "off", "GOTOOLCHAIN": "local",
                    "GOFLAGS": "-mod=mod -modcacherw", "GOPATH": shop.world.folder + "/go", "GOTELEMETRY": "off",
                    "GOCACHE": shop.world.folder + "/go-cache",
                ])
            try await shop.expectOpened(go, "example.com/hello v1.0.0", "/@v/list")
        }
    }

    @Test func `NuGet's and Swift's requests are opened`() async throws {
        try await Shop.with(.codeArtifact) { shop in
            let index = shop.place("nuget") + "/v3/index.json"
            let asked = try await shop.lanyard(["get"], input: "url=\(index)\n")
            // curl reads what it is to send from its input, and so no argument has it.
            let login = "user = \"\(asked.value("username") ?? ""):\(asked.value("password") ?? "")\"\n"
            let curl = ["--silent", "--fail", "--config", "-"]
            let nuget = try await shop.run("/usr/bin/curl", curl + [index], input: login)
            try await shop.expectOpened(nuget, "\"version\":\"3.0.0\"", "/v3/index.json")
            let header = #"printf 'Authorization: Bearer %s' "$TOKEN" | curl --silent --fail -H @- "$1""#
            let swift = try await shop.exec(
                "swift", ["sh", "-c", header, "sh", shop.place("swift") + "/example/hello"])
            try await shop.expectOpened(swift, "releases", "/example/hello")
        }
    }

    @Test(.enabled(if: Clients.newerFolder != nil, "script/test --with newer-tools runs this"))
    func `cargo gets CodeArtifact's token without a scheme`() async throws {
        try await Shop.with(.codeArtifact) { shop in
            try shop.world.link("cargo-credential-lanyard")
            try shop.world.writeCrate(registry: "tools")
            let manifest = shop.world.folder + "/work/app/Cargo.toml"
            let cargo = try await shop.run(
                Clients.newer("cargo"), ["generate-lockfile", "--manifest-path", manifest],
                [
                    "CARGO_HOME": shop.world.folder + "/cargo", "RUSTC": Clients.newer("rustc"),
                    "CARGO_REGISTRIES_TOOLS_INDEX": "sparse+\(shop.place("cargo"))/",
                    "CARGO_REGISTRIES_TOOLS_CREDENTIAL_PROVIDER": "cargo-credential-lanyard",
                    "CARGO_HTTP_CAINFO": shop.world.sandbox.caFile,
                ])
            try await shop.expectOpened(cargo, "", "/config.json", "/he/ll/hello")
        }
    }

    /// The hosts of images, by what opens them.
    private static let images: [(cloud: Cloud, host: String)] = [
        (.codeArtifact, IdentityCenterTests.registry), (.codeArtifact, "public.ecr.aws"),
        (.artifactRegistry, "europe-west4-docker.pkg.dev"),
    ]

    @Test(arguments: images)
    func `skopeo and oras get the passwords of the clouds' registries`(cloud: Cloud, host: String) async throws {
        try await Shop.with(cloud) { shop in
            try? shop.world.link("docker-credential-lanyard")
            let folder = shop.world.folder + "/docker"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try #"{"credHelpers":{"\#(host)":"lanyard"}}"#.write(
                toFile: folder + "/config.json", atomically: true, encoding: .utf8)
            let settings = ["REGISTRY_AUTH_FILE": folder + "/config.json", "DOCKER_CONFIG": folder]
            let skopeo = try await shop.run(
                Clients.program("skopeo"), ["list-tags", "docker://\(host)/hello"], settings)
            try await shop.expectOpened(skopeo, "\"latest\"", "/hello/tags/list")
            guard Clients.newerFolder != nil else { return }
            let oras = try await shop.run(Clients.newer("oras"), ["repo", "tags", "\(host)/hello"], settings)
            try await shop.expectOpened(oras, "latest", "/hello/tags/list")
        }
    }

    @Test func `Google's backend for keyring makes the same request, and gives the same user name`() async throws {
        try await Shop.with(.artifactRegistry) { shop in
            try shop.world.link("keyring")
            let url = shop.place("python") + "/simple/"
            let program = "\(shop.world.folder)/bin/keyring"
            let own = try await shop.run(program, ["--mode=creds", "--output=json", "get", url])
            let ours = try await Self.requests(shop.world)
            let theirs = try await shop.run(
                Clients.program("keyring"), ["--mode=creds", "--output=json", "get", url],
                [
                    "PYTHONPATH": "\(Clients.folder ?? "")/google",
                    "PYTHON_KEYRING_BACKEND": "keyrings.gauth.GooglePythonAuth",
                ])
            let answers = [own, theirs].map { ended in
                let members = try? JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: String]
                return [members?["username"], members?["password"].map { String($0.prefix(5)) }]
            }
            #expect(answers == [["oauth2accesstoken", "ya29."], ["oauth2accesstoken", "ya29."]], "\(own) \(theirs)")
            #expect(ours == ["POST /google/token assertion grant_type"], "\(ours)")
            #expect(try await Self.requests(shop.world) == ours)
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: Clients.newer("docker-credential-gcr")),
            "there is none: script/get newer-tools says why"),
        arguments: ["external_account", "impersonated_external_account"])
    func `Google's helper for docker makes the same requests`(_ name: String) async throws {
        try await Shop.with(.artifactRegistry) { shop in
            try? shop.world.link("docker-credential-lanyard")
            // By itself, the other one asks gcloud first. A service account signs its tokens without a request there.
            let settings = shop.world.folder + "/gcr.json"
            try #"{"TokenSources":["env"]}"#.write(toFile: settings, atomically: true, encoding: .utf8)
            let variables = GoogleTests.file(name, shop.world).merging([
                "DOCKER_CREDENTIAL_GCR_CONFIG": settings, "SSL_CERT_FILE": shop.world.sandbox.caFile,
            ]) { $1 }
            var asked: [[String]] = []
            for program in [
                "\(shop.world.folder)/bin/docker-credential-lanyard", Clients.newer("docker-credential-gcr"),
            ] {
                let ended = try await shop.run(
                    program, ["get"], variables, input: "https://europe-west4-docker.pkg.dev")
                #expect(ended.status == 0 && ended.output.contains(#""Secret":"ya29."#), "\(ended)")
                asked.append(try await Self.requests(shop.world))
            }
            #expect(!asked[0].isEmpty && asked[0] == asked[1], "\(asked)")
        }
    }

    @Test(arguments: [IdentityCenterTests.registry, "public.ecr.aws"])
    func `Amazon's helper makes the same request, and gives the same user name`(host: String) async throws {
        try await Shop.with(.codeArtifact) { shop in
            let role = "https://portal.sso.eu-central-1.amazonaws.com/123456789012/Developer"
            let keys = try await shop.lanyard(
                ["exec", role, "--", "sh", "-c", "env | grep ^AWS_ >\"$0\"", shop.world.folder + "/keys"])
            try #require(keys.status == 0, "\(keys)")
            var machine: [String: String] = [:]
            for line in try String(contentsOfFile: shop.world.folder + "/keys", encoding: .utf8).split(separator: "\n")
            {
                let pair = line.split(separator: "=", maxSplits: 1).map(String.init)
                machine[pair[0]] = pair[1]
            }
            let person = """
                authority = "https://contoso.awsapps.com/start"
                exchange-parameters = { role = "123456789012/Developer" }
                """
            try shop.world.configText().replacing(person, with: "identity = \"role\"").write(
                toFile: shop.world.configFile, atomically: true, encoding: .utf8)
            try shop.world.configure(after: "[[identity]]\nname = \"role\"\nplugin = \"aws\"\n")
            try? shop.world.link("docker-credential-lanyard")
            try await shop.world.sandbox.clearLog()
            let own = try await shop.run(
                "\(shop.world.folder)/bin/docker-credential-lanyard", ["get"], machine, input: "https://\(host)\n")
            let ours = try await Self.requests(shop.world)
            let theirs = try await shop.run(
                Clients.program("docker-credential-ecr-login"), ["get"], machine, input: host)
            for ended in [own, theirs] {
                #expect(ended.status == 0 && ended.output.contains(#""Username":"AWS""#), "\(ended)")
            }
            #expect(ours == ["POST /"], "\(ours)")
            // It names the registry, which narrows nothing.
            #expect(try await Self.requests(shop.world).map { $0.replacing(" registryIds", with: "") } == ours)
        }
    }

    /// The requests since the last time, each with the names of its fields.
    private static func requests(_ world: World) async throws -> [String] {
        let all = try await world.sandbox.requests().filter { $0.host == "exchanges" }
        try await world.sandbox.clearLog()
        return all.map { request in
            (["\(request.method) \(request.path)"] + (request.form ?? [:]).keys.sorted()).joined(separator: " ")
        }
    }
}
