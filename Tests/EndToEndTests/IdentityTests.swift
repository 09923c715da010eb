import Foundation
import TestSupport
import Testing

/// Applications that get tokens without a user, usually without a keyring or session bus, as in a pipeline.
@Suite struct IdentityTests {
    private static let path = "contoso/hello.git"
    /// No bus answers here, so there is no keyring.
    private static let noKeyring = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]

    static func configure(_ world: World, _ proof: String? = nil) throws {
        let application = world.sandbox.application
        try world.configure(
            after: """
                [[identity]]
                name = "release"
                authority = "\(world.sandbox.authority)/contoso.example"
                client-id = "\(application.clientID)"
                \(proof ?? "certificate = \"\(application.certificate)\"")
                """)
    }

    private static func variables(_ world: World) -> [String: String] {
        noKeyring.merging([
            "AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": world.sandbox.application.clientID,
            "AZURE_CLIENT_SECRET": world.sandbox.application.secret, "AZURE_AUTHORITY_HOST": world.sandbox.authority,
        ]) { $1 }
    }

    private static func asked(_ world: World) async throws -> Int {
        try await world.sandbox.authorityRequests().count(grant: "client_credentials")
    }

    @Test func `git clones as an identity, without a keyring`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            try Self.configure(world)
            let environment = Self.noKeyring.merging(["LANYARD_IDENTITY": "release"]) { $1 }
            let cloned = try await world.git(["clone", "\(world.sandbox.resource)/\(Self.path)"], environment)
            #expect(cloned.status == 0, "\(cloned)")
            #expect(try await world.git(["-C", "hello", "fetch"], environment).status == 0)
            #expect(try await Self.asked(world) == 1)
        }
    }

    @Test func `with a keyring the token is stored, and every process of the user's has it`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            try Self.configure(world)
            let first = try await world.get(Self.path, lines: "identity=release\n")
            #expect(first.status == 0, "\(first)")
            let second = try await world.get(
                Self.path, ["LANYARD_IDENTITY": "release", "LANYARD_ANSWER_CACHE": "0"])
            #expect(first.value("password") == second.value("password"))
            #expect(try await Self.asked(world) == 1)
        }
    }

    @Test func `a variable that changes makes an answer not count`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let environment = Self.variables(world)
            let first = try await world.get(Self.path, environment, lines: "identity=environment\n")
            #expect(first.status == 0, "\(first)")
            let other = try await world.get(
                Self.path, environment.merging(["AZURE_CLIENT_ID": "00000000-0000-4000-8000-000000000000"]) { $1 },
                lines: "identity=environment\n")
            #expect(other.status == 1 && other.hasNoCredential, "\(other)")
            let again = try await world.get(Self.path, environment, lines: "identity=environment\n")
            #expect(again.value("password") == first.value("password"), "\(again)")
            #expect(!(first.errors + other.errors).contains(world.sandbox.application.secret))
        }
    }

    struct Lack: CustomTestStringConvertible, Sendable {
        let name: String
        let proof: String
        let says: String
        var testDescription: String { name }
    }

    static let lacks = [
        Lack(name: "no certificate", proof: "certificate = \"/nonexistent.pem\"", says: "/nonexistent.pem"),
        Lack(name: "no variable", proof: "secret-variable = \"NOT_SET\"", says: "NOT_SET"),
        Lack(name: "no keyring", proof: "secret = true", says: "keyring"),
        Lack(name: "no platform", proof: "assertion = \"github-actions\"", says: "ACTIONS_ID_TOKEN_REQUEST"),
    ]

    @Test(arguments: lacks)
    func `what is missing is named, and the status is 1`(lack: Lack) async throws {
        try await World.with(.secretService) { world in
            try Self.configure(world, lack.proof)
            let got = try await world.get(Self.path, Self.noKeyring, lines: "identity=release\n")
            #expect(got.status == 1 && got.hasNoCredential && got.errors.contains(lack.says), "\(got)")
            let checked = try await world.lanyard(["identity", "check", "release"], Self.noKeyring)
            #expect(checked.status == 1 && checked.errors.contains("lanyard: hint: "), "\(checked)")
        }
    }

    @Test func `an identity is added, checked and removed`() async throws {
        try await World.with { world in
            let application = world.sandbox.application
            let added = try await world.lanyard([
                "identity", "add", "release", "--authority", "\(world.sandbox.authority)/contoso.example",
                "--client-id", application.clientID, "--secret",
            ])
            #expect(added.status == 0 && added.errors.contains("lanyard identity secret release"), "\(added)")
            let kept = try await world.lanyard(
                ["identity", "secret", "release"], input: application.secret + "\n")
            #expect(kept.status == 0 && kept.output.isEmpty, "\(kept)")
            let checked = try await world.lanyard(["identity", "check", "release", world.sandbox.resource + "/contoso"])
            #expect(checked.status == 0 && checked.output.contains(application.clientID), "\(checked)")
            #expect(checked.output.contains("\ntenant     ") && checked.output.contains("\nname  "), "\(checked)")
            let explained = try await world.lanyard(
                ["explain", "\(world.sandbox.resource)/\(Self.path)"], ["LANYARD_IDENTITY": "release"])
            #expect(explained.output.contains("release (named by LANYARD_IDENTITY)"), "\(explained)")
            #expect(try await world.lanyard(["identity", "remove", "release"]).status == 0)
            #expect(try await world.lanyard(["identity", "remove", "release"]).status == 1)
        }
    }

    @Test func `a proof that a host doesn't take, and a source that no plugin has, are named`() async throws {
        try await World.with { world in
            func add(_ options: [String]) async throws -> Ended {
                try await world.lanyard(
                    ["identity", "add", "bot", "--client-id", "bot", "--trust-authority"] + options)
            }
            let secret = try await add(["--authority", "https://github.com", "--secret-variable", "SECRET"])
            #expect(secret.status != 0 && secret.errors.contains("by its private key"), "\(secret)")
            let identity = """
                [[identity]]
                name = "hub"
                authority = "https://github.com"
                client-id = "bot"
                secret-variable = "SECRET"

                """
            try world.configure(after: identity)
            let doctor = try await world.lanyard(["doctor"], ["SECRET": "x"])
            #expect(doctor.output.contains("hub: at github.com, an application proves"), "\(doctor)")
            let source = ["--authority", world.sandbox.issuer.url, "--kind", "oidc", "--assertion", "github-action"]
            let misspelt = try await add(source)
            #expect(misspelt.status == 0, "\(misspelt)")
            let checked = try await world.lanyard(["identity", "check", "bot", "--scope", "x"])
            #expect(checked.errors.contains("there is no source of assertions called github-action\n"), "\(checked)")
            #expect(checked.errors.contains("there are github-actions, gitlab"), "\(checked)")
        }
    }

    @Test func `one line sets up git in a pipeline`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let environment = Self.variables(world)
            let configured = try await world.lanyard(["configure", "git", "--identity", "environment"], environment)
            #expect(configured.status == 0 && configured.errors.contains("default-identity"), "\(configured)")
            let cloned = try await world.git(["clone", "\(world.sandbox.resource)/\(Self.path)"], environment)
            #expect(cloned.status == 0, "\(cloned)")
            let ruled = try await world.lanyard(
                ["configure", "git", "https://git.contoso.example/team", "--identity", "machine", "--scope", "s"],
                environment)
            #expect(ruled.status == 0, "\(ruled)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(text.contains("identity  = \"machine\"\n"), "\(text)")
            for arguments in [[], ["https://git.contoso.example/team", "--scope", "s"]] {
                let name = arguments.isEmpty ? "environment" : "machine"
                let again = try await world.lanyard(["configure", "git", "--identity", name] + arguments, environment)
                #expect(again.status == 0 && again.errors.contains("nothing has to be changed"), "\(again)")
            }
            let undone = try await world.lanyard(["unconfigure", "git", "--yes"], environment)
            #expect(undone.status == 0 && undone.errors.contains("lanyard config unset default-identity"), "\(undone)")
        }
    }

    @Test func `a rule of others' is told apart, and left as it is`() async throws {
        try await World.with(.noBus) { world in
            try Self.configure(world)
            let before = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let url = "\(world.sandbox.resource)/contoso"
            let configure = ["configure", "git", url, "--identity"]
            let peoples = try await world.lanyard(configure + ["release"])
            #expect(
                peoples.status == 1 && peoples.errors.contains("is for people, and not for the identity release"),
                "\(peoples)")
            #expect(
                peoples.errors.contains(#"identity = "release""#)
                    && peoples.errors.contains("lanyard rule remove \(url)"))
            let named = before.replacing("url = \"\(url)\"\n", with: "url = \"\(url)\"\nidentity = \"release\"\n")
            try named.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let other = try await world.lanyard(configure + ["machine"])
            #expect(other.status == 1 && other.errors.contains("is for the identity release, and not"), "\(other)")
            for _ in 1...2 { #expect(try await world.lanyard(configure + ["release"]).status == 0) }
            #expect(try String(contentsOfFile: world.configFile, encoding: .utf8) == named)
        }
    }

    @Test func `what still names an identity is told when it is removed`() async throws {
        try await World.with(.noBus) { world in
            try Self.configure(world)
            let url = "https://git.contoso.example/team"
            for arguments in [["configure", "git"], ["configure", "git", url, "--scope", "s"]] {
                let ended = try await world.lanyard(arguments + ["--identity", "release"])
                #expect(ended.status == 0, "\(ended)")
            }
            let removed = try await world.lanyard(["identity", "remove", "release"])
            #expect(removed.status == 0, "\(removed)")
            #expect(removed.errors.contains("the rule for \(url) still names it"), "\(removed)")
            #expect(removed.errors.contains("lanyard config unset default-identity"), "\(removed)")
            try Self.configure(world)
            let named = try await world.lanyard(["identity", "remove", "release"], ["LANYARD_IDENTITY": "release"])
            #expect(named.status == 0 && named.errors.contains("unset LANYARD_IDENTITY"), "\(named)")
        }
    }

    @Test func `a configuration that isn't there yet is made`() async throws {
        try await Home.with { home in
            for (index, arguments) in [
                ["configure", "git", "--identity", "environment"], ["config", "set", "default-identity", "machine"],
                ["identity", "add", "deploy", "--managed", "system"],
            ].enumerated() {
                let file = "\(home.folder)/new-\(index)/config.toml"
                let ended = try await home.lanyard(arguments, ["LANYARD_CONFIG": file])
                #expect(ended.status == 0, "\(ended)")
                #expect(FileManager.default.fileExists(atPath: file), "\(arguments)")
            }
        }
    }
}
