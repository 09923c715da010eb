import Foundation
import TestSupport
import Testing

/// `rule add --register`: the sandbox's issuer registers lanyard, and knows it from then on.
@Suite struct RegistrationTests {
    private static func add(_ world: World, _ further: [String]) async throws -> Ended {
        let url = world.sandbox.issuer.url
        return try await world.lanyard(["rule", "add", url, "--authority", url, "--register"] + further)
    }

    @Test(arguments: [
        ["--kind", "gitlab"],
        ["--kind", "oidc"] + ["openid", "offline_access", "read_repository"].flatMap { ["--scope", $0] },
    ])
    func `lanyard is registered once it was agreed to, and signs in with the ID that came`(
        options: [String]
    ) async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer.url
            let before = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let unasked = try await Self.add(world, options)
            #expect(
                unasked.status == 64 && unasked.errors.contains("to register without being asked: --yes"), "\(unasked)")
            #expect(try String(contentsOfFile: world.configFile, encoding: .utf8) == before)
            #expect(try await world.sandbox.requests().filter { $0.host == "issuer" }.isEmpty)

            let added = try await Self.add(world, options + ["--yes"])
            #expect(added.status == 0 && added.output.isEmpty, "\(added)")
            let note = try #require(added.errors.split(separator: "\n").first, "\(added)")
            let start = "lanyard: registered lanyard: its client ID is "
            #expect(note.hasPrefix(start) && note.hasSuffix(" at \(issuer)"), "\(added)")
            let id = note.dropFirst(start.count).dropLast(" at \(issuer)".count)
            let after = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(after.hasPrefix(before) && after.contains("client-id = \"\(id)\"\n"), "\(after)")

            let signedIn = try await world.lanyard(["login", issuer], world.browser(as: "alice_contoso"))
            #expect(signedIn.status == 0, "\(signedIn)")
            let got = try await world.lanyard(["get"], input: "url=\(issuer)\n")
            #expect(got.status == 0 && got.output.contains("password="), "\(got)")
        }
    }

    @Test func `the user says whether a server is what it looks like, before it registers anything`() async throws {
        try await World.with { world in
            let url = world.sandbox.issuer.url
            let before = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let unasked = try await Self.add(world, ["--yes"])
            #expect(
                unasked.status == 64 && unasked.errors.contains("looks like GitLab, but there is no terminal"),
                "\(unasked)")
            for hint in ["if it is: --kind gitlab\n", "if it is not: --kind oidc\n"] {
                #expect(unasked.errors.contains(hint), "\(unasked)")
            }
            #expect(try String(contentsOfFile: world.configFile, encoding: .utf8) == before)
            #expect(try await world.sandbox.requests().allSatisfy { $0.path.hasSuffix("/info/refs") })

            let added = try await world.atTerminal(
                ["lanyard", "rule", "add", url, "--authority", url, "--register"],
                answering: [
                    ("looks like GitLab; is it? [Y/n] ", ""), ("register lanyard as an app at \(url)? [Y/n] ", ""),
                ])
            #expect(added.status == 0, "\(added)")
            let after = try String(contentsOfFile: world.configFile, encoding: .utf8)
            #expect(after.contains("kind      = \"gitlab\"\n") && !after.contains("scopes    = [\"read"), "\(after)")
            let signedIn = try await world.lanyard(["login", url], world.browser(as: "alice_contoso"))
            #expect(signedIn.status == 0, "\(signedIn)")
            let got = try await world.lanyard(["get"], input: "url=\(url)\n")
            #expect(got.output.contains("username=oauth2\n"), "\(got)")
        }
    }

    @Test(arguments: ["gitlab", "oidc"])
    func `if the issuer registers none, nothing is written`(kind: String) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"registration":0}"#)
            let before = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let refused = try await Self.add(world, ["--yes", "--kind", kind, "--scope", "read_repository"])
            #expect(refused.status == 1 && refused.errors.contains("registers no applications by itself"), "\(refused)")
            #expect(refused.errors.contains("--client-id ID"), "\(refused)")
            #expect(try String(contentsOfFile: world.configFile, encoding: .utf8) == before)
        }
    }

    /// Installs a plugin that registers an app, after a command and with one more line in its answer; it logs the
    /// registrations that it deletes.
    private static func install(
        registering line: String, after command: String = "", takesBack: Bool = true, _ world: World
    ) throws -> [String: String] {
        let answer = takesBack ? "event=result" : "event=error\\ncode=unsupported\\nmessage=no"
        let script = """
            read -r operation
            if [ "$operation" = operation=unregister ]; then
                while read -r line && [ -n "$line" ]; do echo "$line" >>'\(world.folder)/taken-back'; done
                printf '\(answer)\\n\\n'
            else
                \(command)
                printf 'event=result\\nclient_id=made-up\\n\(line)\\nregistration_uri=https://id.example/r/1\\n'
                printf 'registration_token=geheim\\n\\n'
            fi
            """
        let further = """
            supports = ["register", "client-secrets"]
            [[authority]]
            hosts = ["id.example"]
            path = "/{path}"
            """
        return try world.install(plugin: "registrar", script: script, manifest: further)
    }

    private static let byPlugin = [
        "rule", "add", "https://git.example", "--authority", "https://id.example", "--scope", "s", "--register",
        "--yes",
    ]

    @Test(arguments: [true, false])
    func `an app whose secret can't be kept is taken back, or named`(_ takesBack: Bool) async throws {
        try await World.with(.secretService) { world in
            let bus = try #require(world.environment["DBUS_SESSION_BUS_ADDRESS"])
            // Somebody locks the keyring meanwhile.
            let lock =
                "DBUS_SESSION_BUS_ADDRESS='\(bus)' /usr/bin/dbus-send --session --print-reply "
                + "--dest=org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service.Lock "
                + "array:objpath:/org/freedesktop/secrets/collection/login >/dev/null"
            let plugins = try Self.install(
                registering: "client_secret=ge\\303\\244heim", after: lock, takesBack: takesBack, world)
            let before = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let failed = try await world.lanyard(
                Self.byPlugin, plugins.merging(["LANYARD_TRACE": "plugin"]) { $1 })
            #expect(failed.status == 1 && failed.errors.contains("the keyring is locked"), "\(failed)")
            #expect(!failed.errors.contains("geheim"), "\(failed)")
            let told =
                takesBack
                ? "its secret could not be kept, so the registration was undone\n"
                : "made-up at https://id.example is of no use; remove it on the authority's pages: no\n"
            #expect(failed.errors.contains(told), "\(failed)")
            let asked = try String(contentsOfFile: "\(world.folder)/taken-back", encoding: .utf8)
            for line in [
                "authority=https://id.example", "client_id=made-up", "registration_uri=https://id.example/r/1",
                "registration_token=geheim",
            ] { #expect(asked.split(separator: "\n").contains(line[...]), "\(line): \(asked)") }
            #expect(try String(contentsOfFile: world.configFile, encoding: .utf8) == before)
        }
    }

    @Test func `doctor says when a secret has ended, and how to get another`() async throws {
        try await World.with { world in
            let end = "client_secret=s\\nclient_secret_expires_at=1700000000"
            let plugins = try Self.install(registering: end, world)
            #expect(try await world.lanyard(Self.byPlugin, plugins).status == 0)
            let doctor = try await world.lanyard(["doctor"], plugins)
            for line in [
                "fail  client-secret  that of made-up at https://id.example has expired\n",
                "the stored client secret expired on 2023-11-14 ",
                "remove the rule: lanyard rule remove https://git.example\n",
                "and register again: lanyard rule add --authority https://id.example --register https://git.example\n",
            ] { #expect(doctor.output.contains(line), "\(line)\n\(doctor)") }
            // A typed secret replaces it, and its expiry is unknown.
            _ = try await world.lanyard(["rule", "secret", "made-up"], plugins, input: "another")
            let after = try await world.lanyard(["doctor", "--all"], plugins)
            #expect(!after.output.contains("client-secret"), "\(after)")
        }
    }

    @Test func `an issuer that wants a token of whoever registers is left to its pages`() async throws {
        try await World.with { world in
            try await world.sandbox.fault(
                #"{"path":"/oauth/register","status":401,"body":"{\"error\":\"invalid_token\"}","content_type":"application/json"}"#
            )
            let refused = try await Self.add(world, ["--yes", "--kind", "gitlab"])
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.errors.contains("requires a token to register an application\n"), "\(refused)")
            #expect(refused.errors.contains("hint: register one on its pages, or have it registered\n"), "\(refused)")
            #expect(refused.errors.contains("--client-id ID\n"), "\(refused)")
        }
    }

    @Test func `a plugin's secret goes into the keyring, and a plugin that registers nothing isn't asked`() async throws
    {
        try await World.with { world in
            let script = """
                read -r line
                printf 'event=result\\nclient_id=made-up\\nclient_secret=geheim\\n\\n'
                """
            let further = """
                supports = ["register", "client-secrets"]
                [[authority]]
                hosts = ["id.example"]
                path = "/{path}"
                """
            let plugins = try world.install(plugin: "registrar", script: script, manifest: further)
            let url = "https://git.example"
            let options = ["--authority", "https://id.example", "--scope", "s", "--register", "--yes"]
            let added = try await world.lanyard(["rule", "add", url] + options, plugins)
            #expect(added.status == 0 && !added.errors.contains("geheim"), "\(added)")
            #expect(
                added.errors.contains("the client secret of made-up at https://id.example is in the keyring"),
                "\(added)")
            let removed = try await world.lanyard(["rule", "secret", "made-up", "--remove"], plugins)
            #expect(removed.status == 0, "\(removed)")

            // A host of a known kind without a metadata document.
            let plain = world.sandbox.forge.url
            let forge = try await world.lanyard(
                ["rule", "add", plain, "--authority", plain, "--kind", "github", "--register", "--yes"])
            #expect(forge.status == 1 && forge.errors.contains("registers no applications by itself"), "\(forge)")

            let entra = ["--authority", "https://login.microsoftonline.com/contoso.com", "--scope", "s"]
            let refused = try await world.lanyard(
                ["rule", "add", "https://other.example", "--register", "--yes"] + entra)
            #expect(refused.status == 1 && refused.errors.contains("doesn't let programs register apps"), "\(refused)")
            let both = try await world.lanyard([
                "rule", "add", "https://other.example", "--register", "--client-id", "x",
            ])
            #expect(both.status == 64 && both.errors.contains("not both"), "\(both)")
        }
    }
}
