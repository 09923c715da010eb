import Foundation
import TestSupport
import Testing

/// What code hosts serve besides git, after the sign-in: packages and images, by the programs that people use.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct CodeHostPackagesTests {
    private static let npm = "/usr/bin/npm"
    private static let maven = "/usr/bin/mvn"
    private static let alice = "alice@contoso.example"

    /// A host's door besides git.
    struct Door: CustomTestStringConvertible, Sendable {
        let host: GitHost
        /// The scopes that it needs; nil if the token for git opens it.
        let scopes: [String]?
        /// The path of its packages.
        var packages = ""
        /// What npm's package is called there.
        var package = "hello"
        var testDescription: String { host.name }

        func images(_ sandbox: Sandbox) -> String {
            host.logged == "issuer" ? sandbox.registry : host.place(in: sandbox).url
        }
    }

    private static let gitea = Door(host: .gitea, scopes: nil, packages: "/api/packages/contoso")
    private static let forgejo = Door(host: .forgejo, scopes: nil, packages: "/api/packages/contoso")
    private static let gitHub = Door(
        host: .gitHub, scopes: ["repo", "write:packages"], packages: "/_registry", package: "@contoso/hello")
    private static let images = [
        gitea, forgejo, gitHub, Door(host: .gitLab, scopes: ["read_registry", "write_registry"]),
    ]
    private static let gitLabAPI = Door(host: .gitLab, scopes: ["read_api"], packages: "/api/v4/projects/1/packages")

    /// Runs the body in a world where Alice has cloned from the host, and has signed in for its door if that needs more.
    private static func atDoor(
        _ door: Door, _ url: @escaping @Sendable (Sandbox) -> String,
        _ body: @escaping @Sendable (World, String) async throws -> Void
    ) async throws {
        let isGitHub = door.host.logged == "forge"
        try await World.with(hosts: isGitHub ? [] : [door.host]) { world in
            let (place, host, browser) = (
                url(world.sandbox), door.host.place(in: world.sandbox), world.browser(as: alice)
            )
            if isGitHub {
                try await world.configureGitHub(scopes: door.scopes ?? [])
            } else if let scopes = door.scopes {
                let options = ["--authority", host.url, "--kind", door.host.kind, "--client-id", host.clientID]
                let added = try await world.lanyard(
                    ["rule", "add", place] + options + scopes.flatMap { ["--scope", $0] })
                #expect(added.status == 0, "\(added)")
            }
            let repository = door.host.repository(in: world.sandbox)
            let cloned = try await world.git(["clone", "--quiet", repository], browser)
            try #require(cloned.status == 0, "\(cloned)")
            let login = try await world.lanyard(["login", place], browser)
            try #require(login.status == 0, "\(login)")
            try await world.sandbox.clearLog()
            try await body(world, place)
            let asked = try await world.sandbox.requests().filter { [door.host.logged, "registry"].contains($0.host) }
            #expect(asked.allSatisfy { !$0.path.contains("oauth") }, "nobody signs in again: \(asked)")
            #expect(asked.contains { $0.status == 200 && $0.user == alice }, "\(asked)")
        }
    }

    private static func skopeo(_ world: World, _ url: String) async throws -> Ended {
        let settings = world.folder + "/auth.json"
        let host = url.dropFirst("https://".count)
        try #"{"credHelpers":{"\#(host)":"lanyard"}}"#.write(toFile: settings, atomically: true, encoding: .utf8)
        let certificates = world.folder + "/certs"
        try? FileManager.default.createDirectory(atPath: certificates, withIntermediateDirectories: true)
        try? FileManager.default.copyItem(atPath: world.sandbox.caFile, toPath: certificates + "/ca.crt")
        try? world.link("docker-credential-lanyard")
        return try await world.tool(
            Clients.program("skopeo"), ["list-tags", "--cert-dir", certificates, "docker://\(host)/contoso/hello"],
            ["REGISTRY_AUTH_FILE": settings])
    }

    @Test(arguments: images)
    func `skopeo gets a token of the registry's own for the host's`(door: Door) async throws {
        try await Self.atDoor(door, door.images) { world, url in
            let tags = try await Self.skopeo(world, url)
            #expect(tags.status == 0 && tags.output.contains("\"1.0\""), "\(tags)")
            let asked = try await world.sandbox.requests()
            #expect(asked.filter { $0.path.contains("tags") }.map(\.authorization) == ["Bearer"], "\(asked)")
        }
    }

    @Test func `a door with a rule of its own asks for a sign-in, which serves git as well`() async throws {
        let host = GitHost.gitLab
        try await World.with(hosts: [host]) { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 3}"#)
            let (repository, browser) = (host.repository(in: world.sandbox), world.browser(as: Self.alice))
            let cloned = try await world.git(["clone", "--quiet", repository], browser)
            try #require(cloned.status == 0, "\(cloned)")
            let (door, at) = (world.sandbox.registry, host.place(in: world.sandbox))
            let added = try await world.lanyard(
                ["rule", "add", door, "--authority", at.url, "--kind", host.kind, "--client-id", at.clientID]
                    + ["--scope", "read_registry", "--scope", "write_registry"])
            #expect(added.status == 0 && added.errors.contains("next: lanyard login \(door)"), "\(added)")
            let explained = try await world.lanyard(["explain", door])
            #expect(explained.output.contains("the sign-in was not for read_registry, write_registry"), "\(explained)")
            try await world.sandbox.clearLog()
            let refused = try await world.lanyard(["token", door])
            #expect(refused.status == 2 && refused.errors.contains("lanyard login \(door)"), "\(refused)")
            #expect(refused.errors.contains("the sign-in was not for read_registry, write_registry"), "\(refused)")
            #expect(try await world.sandbox.requests().isEmpty, "no renewal brings them")
            let login = try await world.lanyard(["login", door], browser)
            #expect(login.status == 0, "\(login)")
            let pages = try await world.sandbox.requests().filter { $0.path == "/oauth/authorize" }
            let asked = Set(pages.first?.query?["scope"]?.split(separator: " ").map(String.init) ?? [])
            #expect(
                asked.isSuperset(of: ["read_registry", "write_registry", "read_repository", "write_repository"]),
                "\(asked)")
            // Once the access token is over, each rule's is renewed.
            for _ in 1...2 {
                try await Task.sleep(for: .seconds(4))
                try await world.sandbox.clearLog()
                for url in [repository, door] {
                    let token = try await world.lanyard(["token", url])
                    #expect(token.status == 0, "\(token)")
                }
                let grants = try await world.sandbox.requests().compactMap { $0.form?["grant_type"] }
                #expect(!grants.isEmpty && Set(grants) == ["refresh_token"], "\(grants)")
            }
        }
    }

    @Test func `GitLab's registry refuses a token for git, and a fault there costs no sign-in`() async throws {
        try await World.with { world in
            let (url, issuer) = (world.sandbox.registry, world.sandbox.issuer)
            func rule(_ scopes: [String]) throws {
                try world.configure(
                    after: """
                        [[rule]]
                        url = "\(url)"
                        authority = "\(issuer.url)"
                        kind = "gitlab"
                        client-id = "\(issuer.clientID)"
                        scopes = \(scopes)

                        """)
            }
            let configuration = try String(contentsOfFile: world.configFile, encoding: .utf8)
            for (scopes, status) in [(["read_repository", "write_repository"], 403), (["read_registry"], 200)] {
                try configuration.write(toFile: world.configFile, atomically: true, encoding: .utf8)
                try rule(scopes)
                let login = try await world.lanyard(["login", url], world.browser(as: Self.alice))
                #expect(login.status == 0, "\(login)")
                try await world.sandbox.clearLog()
                let tags = try await Self.skopeo(world, url)
                #expect((tags.status == 0) == (status == 200), "\(tags)")
                let asked = try await world.sandbox.requests().filter { $0.path == "/jwt/auth" }
                #expect(asked.map(\.status) == [status] && asked.map(\.authorization) == ["Basic"], "\(asked)")
            }
            try await world.sandbox.fault(#"{"path": "/jwt/auth", "status": 503, "body": "oops"}"#)
            let failed = try await Self.skopeo(world, url)
            #expect(failed.status != 0, "\(failed)")
            try await world.sandbox.clearFaults()
            try await world.sandbox.clearLog()
            let again = try await Self.skopeo(world, url)
            #expect(again.status == 0, "\(again)")
            let asked = try await world.sandbox.requests()
            #expect(asked.allSatisfy { !$0.path.contains("oauth") }, "\(asked)")
        }
    }

    @Test(arguments: [gitea, forgejo])
    func `pip gets the token by the keyring that lanyard stands in for`(door: Door) async throws {
        try await Self.atDoor(door) {
            $0[door] + "/pypi/simple"
        } _: { world, url in
            let found = try await Self.pip(world, url)
            #expect(found.status == 0 && found.output.contains("hello (1.0)"), "\(found)")
        }
    }

    private static func pip(_ world: World, _ index: String) async throws -> Ended {
        try? world.link("keyring")
        return try await world.tool(
            Clients.program("pip"),
            [
                "index", "versions", "--no-input", "--no-cache-dir", "--keyring-provider", "subprocess", "--index-url",
                index, "hello",
            ],
            ["PIP_CONFIG_FILE": "/dev/null", "PIP_CERT": world.sandbox.caFile, "PIP_DISABLE_PIP_VERSION_CHECK": "1"])
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: npm), "there is no npm"),
        arguments: [gitea, forgejo, gitHub, gitLabAPI])
    func `npm gets the token in a variable`(door: Door) async throws {
        try await Self.atDoor(door) {
            $0[door] + "/npm/"
        } _: { world, registry in
            let file = world.folder + "/npmrc"
            try "registry=\(registry)\n\(registry.dropFirst("https:".count)):_authToken=${NPM_TOKEN}\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let seen = try await world.lanyard(
                ["exec", registry, "--env", "NPM_TOKEN", "--", Self.npm, "view", door.package, "version"],
                [
                    "PATH": "/usr/bin:/bin", "NPM_CONFIG_USERCONFIG": file, "NPM_CONFIG_CAFILE": world.sandbox.caFile,
                    "NPM_CONFIG_CACHE": world.folder + "/npm", "NPM_CONFIG_UPDATE_NOTIFIER": "false",
                ])
            #expect(seen.status == 0 && seen.output.contains("1.0.0"), "\(seen)")
        }
    }

    @Test(arguments: [
        ("/generic/hello/1.0/hello.txt", "hello\n"),
        ("/maven/example/hello/1.0/hello-1.0.pom", "<artifactId>hello</artifactId>"),
    ])
    func `GitLab's files are fetched with a token in a header`(path: String, text: String) async throws {
        let door = Self.gitLabAPI
        try await Self.atDoor(door) {
            $0[door] + path
        } _: { world, url in
            // The shell's own printf keeps the token out of all arguments.
            let program = #"printf 'Authorization: Bearer %s' "$TOKEN" | curl --silent --fail --cacert "$1" -H @- "$2""#
            let got = try await world.lanyard(
                ["exec", url, "--env", "TOKEN", "--", "sh", "-c", program, "sh", world.sandbox.caFile, url])
            #expect(got.status == 0 && got.output.contains(text), "\(got)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: maven), "there is no Maven"))
    func `Maven gets GitLab's packages with the token in a header of its settings`() async throws {
        let door = Self.gitLabAPI
        try await Self.atDoor(door) {
            $0[door] + "/maven"
        } _: { world, url in
            let folder = world.folder + "/maven"
            let files = [
                "settings.xml": """
                <settings><servers><server><id>gitlab</id><configuration><httpHeaders><property>
                <name>Authorization</name><value>Bearer ${env.TOKEN}</value>
                </property></httpHeaders></configuration></server></servers></settings>
                """,
                "pom.xml": """
                <project><modelVersion>4.0.0</modelVersion><artifactId>own</artifactId><packaging>pom</packaging>
                <parent><groupId>example</groupId><artifactId>hello</artifactId><version>1.0</version><relativePath/></parent>
                <repositories><repository><id>gitlab</id><url>\(url)</url></repository></repositories></project>
                """,
            ]
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, text) in files {
                try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            let trusted = try await world.runInside(
                "/usr/bin/keytool",
                [
                    "-importcert", "-noprompt", "-file", world.sandbox.caFile, "-keystore", "\(folder)/trust.p12",
                    "-storepass", "public",
                ])
            try #require(trusted.status == 0, "\(trusted)")
            let built = try await world.lanyard(
                ["exec", url, "--env", "TOKEN", "--", Self.maven, "--quiet", "--batch-mode"]
                    + ["--file", "\(folder)/pom.xml", "--settings", "\(folder)/settings.xml", "validate"],
                [
                    "PATH": "/usr/bin:/bin",
                    "MAVEN_OPTS": "-Dmaven.repo.local=\(folder)/own -Djavax.net.ssl.trustStore=\(folder)/trust.p12 "
                        + "-Djavax.net.ssl.trustStorePassword=public",
                ])
            #expect(built.status == 0, "\(built)")
        }
    }

    @Test func `GitLab takes no token of a sign-in from pip, but a personal one that a source has`() async throws {
        try await World.with(hosts: [.gitLab]) { world in
            let index = world.sandbox[Self.gitLabAPI] + "/pypi/simple"
            let login = try await world.lanyard(["login", index], world.browser(as: Self.alice))
            #expect(login.status == 0, "\(login)")
            let refused = try await Self.pip(world, index)
            #expect(refused.status != 0, "\(refused)")
            let asked = try await world.sandbox.requests().filter { $0.path.contains("pypi") }
            #expect(asked.map(\.status) == [401, 401] && asked.last?.authorization == "Basic", "\(asked)")
            try await world.sandbox.clearLog()
            try world.configure(
                after: """
                    [[rule]]
                    url = "\(index)"
                    source = 'command:printf "%s\\n" glpat-alice_contoso "user: alice_contoso"'

                    """)
            let found = try await Self.pip(world, index.replacing("https://", with: "https://alice_contoso@"))
            #expect(found.status == 0 && found.output.contains("hello (1.0)"), "\(found)")
        }
    }
}

extension Sandbox {
    /// The URL of a door's packages.
    fileprivate subscript(door: CodeHostPackagesTests.Door) -> String {
        door.host.place(in: self).url + door.packages
    }
}
