import Foundation
import TestSupport
import Testing

/// Clients with a secret: a real keyring stores it, and the sandbox's issuer requires it.
@Suite struct ClientSecretTests {
    @Test func `a secret goes to its issuer at a sign-in, a renewal and a logout, and nowhere else`() async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            let client = try #require(issuer.confidentialClientID)
            try configure(world, issuer.url, client, "scopes = [\"openid\", \"offline_access\", \"read_repository\"]")
            let browser = world.browser(as: "alice_contoso")

            let refused = try await world.lanyard(["login", issuer.url], browser)
            #expect(refused.status == 1 && refused.errors.contains(Self.hint(client)), "\(refused)")

            let kept = try await world.lanyard(["rule", "secret", client], input: issuer.clientSecret + "\n")
            #expect(kept.status == 0 && kept.output.isEmpty, "\(kept)")
            #expect(
                kept.errors == "lanyard: the client secret of \(client) at \(issuer.url) is in the keyring\n", "\(kept)"
            )
            let signedIn = try await world.lanyard(
                ["login", issuer.url], browser.merging(["LANYARD_TRACE": "plugin"]) { $1 })
            #expect(signedIn.status == 0 && !signedIn.errors.contains(issuer.clientSecret), "\(signedIn)")

            let first = try await get(world, issuer.url)
            _ = try await world.lanyard(["erase"], input: "url=\(issuer.url)\npassword=\(first)\n")
            let second = try await get(world, issuer.url)
            #expect(first != second)

            let out = try await world.lanyard(["logout", "--all"])
            #expect(out.status == 0 && !out.errors.contains("did not revoke the tokens"), "\(out)")
            let asked = try await world.sandbox.requests().filter { $0.host == "issuer" && $0.method == "POST" }
            let grants = asked.filter { $0.status == 200 }.map { $0.grantType ?? $0.path }
            #expect(grants.contains("authorization_code") && grants.contains("refresh_token"), "\(asked)")
            #expect(grants.contains { $0.hasSuffix("/revoke") }, "\(asked)")
            try requireNowhere(issuer.clientSecret, in: world)
        }
    }

    @Test func `attributes that a later version added to a secret survive its replacement`() async throws {
        try await World.with(.secretService) { world in
            let issuer = world.sandbox.issuer
            let client = try #require(issuer.confidentialClientID)
            try configure(world, issuer.url, client, "scopes = [\"openid\"]")
            #expect(try await world.lanyard(["rule", "secret", client], input: "old").status == 0)
            try await world.keyring.addAttributes()
            #expect(try await world.lanyard(["rule", "secret", client], input: "new").status == 0)
            let secrets = try await world.keyring.secretsWithAddedAttributes()
            #expect(secrets.count == 1 && secrets[0].contains("new"), "\(secrets)")
        }
    }

    @Test func `a secret is replaced, and removed once`() async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            let client = try #require(issuer.confidentialClientID)
            try configure(world, issuer.url, client, "scopes = [\"openid\"]")
            let browser = world.browser(as: "alice_contoso")
            #expect(try await world.lanyard(["rule", "secret", client], input: "wrong").status == 0)
            let wrong = try await world.lanyard(["login", issuer.url], browser)
            #expect(wrong.status == 1 && wrong.errors.hasSuffix(Self.anew(client)), "\(wrong)")
            #expect(try await world.lanyard(["rule", "secret", client], input: issuer.clientSecret).status == 0)
            #expect(try await world.lanyard(["login", issuer.url], browser).status == 0)
            // Clearing the tokens keeps the secret.
            #expect(try await world.lanyard(["cache", "clear", "--yes"]).status == 0)
            #expect(try await world.lanyard(["login", issuer.url], browser).status == 0)

            let removed = try await world.lanyard(["rule", "secret", client, "--remove"])
            #expect(
                removed.status == 0 && removed.errors.hasPrefix("lanyard: removed the client secret of"), "\(removed)")
            let again = try await world.lanyard(["rule", "secret", client, "--remove"])
            #expect(again.status == 1 && again.errors.contains("no client secret of"), "\(again)")
            let refused = try await world.lanyard(["login", issuer.url], browser)
            #expect(refused.status == 1 && refused.errors.contains(Self.hint(client)), "\(refused)")
        }
    }

    @Test func `GitHub's word for a wrong secret is understood, and a client that nobody knows is told`()
        async throws
    {
        try await World.with { world in
            let host = world.sandbox.forge
            try configure(world, host.url, host.clientID, "kind = \"github\"")
            let secret = ["rule", "secret", host.clientID]
            #expect(try await world.lanyard(secret, input: "wrong").status == 0)
            let browser = world.browser(as: "alice_contoso")
            let wrong = try await world.lanyard(["login", host.url], browser)
            #expect(wrong.status == 1 && wrong.errors.hasSuffix(Self.anew(host.clientID)), "\(wrong)")

            try configure(world, world.sandbox.issuer.url, "nobody", "scopes = [\"openid\"]")
            let unknown = try await world.lanyard(
                ["login", world.sandbox.issuer.url, "--flow", "device-code"], browser)
            #expect(unknown.status == 1, "\(unknown)")
            #expect(
                unknown.errors.contains(
                    "check the client ID in the rule: \(world.sandbox.issuer.url) may not know nobody"),
                "\(unknown)")
            let removal = "to replace the rule, remove it: lanyard rule remove \(world.sandbox.issuer.url)\n"
            #expect(unknown.errors.contains(removal), "\(unknown)")
        }
    }

    @Test func `a host that takes no client without a secret is not asked without one`() async throws {
        try await World.with { world in
            let host = world.sandbox.forge.url
            try configure(world, host, "my-key", "kind = \"bitbucket-dc\"")
            let ended = try await world.lanyard(["login", host], world.browser(as: "alice_contoso"))
            #expect(ended.status == 1, "\(ended)")
            #expect(
                ended.errors.contains(
                    "lanyard: error: \(host) requires the client secret of my-key, and none is stored\n"), "\(ended)")
            let store = "store it: lanyard rule secret my-key\n"
            #expect(ended.errors.hasSuffix(store), "\(ended)")
            // `explain` predicts this.
            let explained = try await world.lanyard(["explain", host], world.browser(as: "alice_contoso"))
            #expect(
                explained.output.contains("lanyard would give no answer: \(host) requires the client secret of my-key"),
                "\(explained)")
            #expect(explained.output.contains(store), "\(explained)")
            let status = try await world.lanyard(["status", host])
            #expect(status.status == 1 && status.output.contains("requires the client secret"), "\(status)")
            #expect(status.errors.contains(store), "\(status)")
            let doctor = try await world.lanyard(["doctor"])
            #expect(doctor.output.contains("fail  client-secret  \(host) requires that of my-key"), "\(doctor)")
            #expect(doctor.output.contains(store), "\(doctor)")
            let asked = try await world.sandbox.requests().filter { $0.host == "forge" }
            #expect(asked.isEmpty)
        }
    }

    @Test func `what a secret would allow is told, until it is stored`() async throws {
        try await World.with { world in
            let host = world.sandbox.forge
            try configure(world, host.url, host.clientID, "kind = \"github\"")
            let more =
                "without the app's client secret, you sign in by device-code only; with it, by browser, paste too"
            let command = "store it: lanyard rule secret \(host.clientID)\n"
            let browser = world.browser(as: "alice_contoso")
            let before = try await world.lanyard(["explain", host.url], browser)
            #expect(before.output.contains("lanyard would ask you to sign in with a code"), "\(before)")
            #expect(before.output.contains("\(more); \(command)"), "\(before)")
            let doctor = try await world.lanyard(["doctor", "--all"])
            #expect(doctor.output.contains("\(host.clientID) at \(host.url): \(more)\n"), "\(doctor)")
            #expect(doctor.output.contains(command), "\(doctor)")

            _ = try await world.lanyard(["rule", "secret", host.clientID], input: host.clientSecret)
            let after = try await world.lanyard(["explain", host.url], browser)
            #expect(after.output.contains("lanyard would ask you to sign in in the browser"), "\(after)")
            #expect(!after.output.contains("client secret"), "\(after)")
            let stored = try await world.lanyard(["doctor", "--all"])
            #expect(stored.output.contains("that of \(host.clientID) at \(host.url) is stored\n"), "\(stored)")
        }
    }

    @Test func `a secret is one issuer's, whoever else has a client of that ID`() async throws {
        try await World.with { world in
            let hosts = [world.sandbox.issuer.url, world.sandbox.gitea.url]
            for host in hosts { try configure(world, host, "same", "scopes = [\"openid\"]") }
            let unclear = try await world.lanyard(["rule", "secret", "same"], input: "s")
            #expect(unclear.status == 64 && hosts.allSatisfy(unclear.errors.contains), "\(unclear)")
            #expect(unclear.errors.contains("--authority \(hosts[0])"), "\(unclear)")

            let named = ["rule", "secret", "same", "--authority"]
            #expect(try await world.lanyard(named + [hosts[0]], input: "s").status == 0)
            #expect(try await world.lanyard(named + [hosts[1], "--remove"]).status == 1)
            #expect(try await world.lanyard(named + [hosts[0], "--remove"]).status == 0)
        }
    }

    @Test(arguments: [
        ("nobody's", "s", "no rule has the client ID nobody's"), ("mine", "", "no client secret was given"),
        ("mine", "two\nlines\n", "it must be one line of UTF-8, of at most 4096 bytes"),
        ("mine", "caf\u{1B}e", "that is not a client secret, which has no control characters"),
        ("entra", "s", "doesn't accept client secrets"),
    ])
    func `what can be no secret, and whose nobody can tell, is refused`(
        _ client: String, _ input: String, _ message: String
    ) async throws {
        try await World.with { world in
            try configure(world, world.sandbox.issuer.url, "mine", "scopes = [\"openid\"]")
            try world.configure(rule: "https://git.example", at: "contoso.example", client: "entra")
            let ended = try await world.lanyard(["rule", "secret", client], input: input)
            #expect(ended.status != 0 && ended.errors.contains(message), "\(ended)")
        }
    }

    private static func hint(_ client: String) -> String {
        "lanyard: hint: if the app has a secret, store it: lanyard rule secret \(client)\n"
    }

    private static func anew(_ client: String) -> String {
        "hint: the stored client secret is wrong, or no longer valid; store the current one: lanyard rule secret \(client)\n"
    }

    private func configure(_ world: World, _ host: String, _ client: String, _ further: String) throws {
        let rule = "[[rule]]\nurl = \"\(host)\"\nauthority = \"\(host)\"\nclient-id = \"\(client)\"\n\(further)\n"
        try world.configure(after: rule)
    }

    private func get(_ world: World, _ url: String) async throws -> String {
        let got = try await world.lanyard(["get"], input: "url=\(url)\n")
        let line = try #require(got.output.split(separator: "\n").first { $0.hasPrefix("password=") }, "\(got)")
        return String(line.dropFirst("password=".count))
    }

    /// Searches everything that lanyard may write for a secret; the keyring's file is encrypted.
    private func requireNowhere(_ secret: String, in world: World) throws {
        let files = try #require(FileManager.default.enumerator(atPath: world.folder))
        for case let path as String in files where !path.hasPrefix("sandbox") {
            let bytes = FileManager.default.contents(atPath: "\(world.folder)/\(path)") ?? Data()
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(path)")
        }
    }
}
