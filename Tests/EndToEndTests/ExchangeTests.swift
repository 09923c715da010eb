import Foundation
import TestSupport
import Testing

/// Hosts that exchange tokens for credentials of their own: the sandbox's registry, as docker and other tools use it.
@Suite struct ExchangeTests {
    /// docker's view of the answer.
    private struct DockerAnswer: Decodable {
        var Username: String
        var Secret: String
    }

    private static let nobody = "00000000-0000-0000-0000-000000000000"

    @Test func `docker gets a registry's own token, which opens the registry`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            let answer = try await Self.docker(world)
            #expect(answer.Username == Self.nobody)
            #expect(claims(of: answer.Secret)?["aud"] as? String == world.registry)

            let token = try await Self.curl(
                world, "\(world.sandbox.exchanges)/oauth2/token?service=\(world.registry)",
                "user = \"\(answer.Username):\(answer.Secret)\"\n")
            let access = try #require(
                try JSONSerialization.jsonObject(with: Data(token.output.utf8)) as? [String: Any])
            let manifest = try await Self.curl(
                world, "\(world.sandbox.exchanges)/v2/hello/manifests/latest",
                "header = \"Authorization: Bearer \(access["access_token"] as? String ?? "")\"\n")
            #expect(manifest.output.contains(#""schemaVersion":2"#), "\(manifest)")
        }
    }

    @Test func `what was exchanged is kept and shown, and dropped if it is refused`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            let url = world.sandbox.exchanges
            let before = try await world.lanyard(["explain", url])
            #expect(before.output.contains("exchange   acr, at \(world.registry)\n"), "\(before)")
            #expect(before.output.contains("lanyard would exchange the stored access token"), "\(before)")
            let first = try await Self.docker(world)
            for _ in 0..<3 { #expect(try await Self.docker(world).Secret == first.Secret) }
            #expect(try await world.exchanges() == 1)

            let listed = try await world.lanyard(["cache", "list"])
            #expect(listed.output.contains("exchanged"), "\(listed)")
            #expect(listed.output.contains("for \(world.registry)\n"), "\(listed)")
            let explained = try await world.lanyard(["explain", "--json", url])
            #expect(explained.output.contains(#""exchange" : "acr""#), "\(explained)")
            let exported = try await world.lanyard(["export"])
            #expect(exported.status == 0 && !exported.output.contains(first.Secret), "\(exported.status)")

            let refused = try await world.docker("erase")
            #expect(refused.status == 0 && refused.output.isEmpty, "\(refused)")
            #expect(try await Self.docker(world).Secret != first.Secret)
            #expect(try await world.exchanges() == 2)
            #expect(try await world.sandbox.authorityRequests().renewals.isEmpty)
        }
    }

    @Test func `docker lists a registry while somebody is signed in there, and a login keeps nothing`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            #expect(try await Self.list(world) == [world.registry: "alice@contoso.example"])
            let answer = try await Self.docker(world)
            #expect(try await Self.list(world) == [world.registry: Self.nobody])
            #expect(try await world.exchanges() == 1)

            // `docker login` without a name stores the credential that it received.
            let same = try await Self.login(world, answer.Username, answer.Secret)
            #expect(same.status == 0 && same.errors.isEmpty, "\(same)")
            let other = try await Self.login(world, "robot", "correct horse")
            #expect(other.status == 0 && other.output.isEmpty, "\(other)")
            #expect(other.errors.contains("lanyard: a rule maps https://\(world.registry)/ to a token"), "\(other)")
            #expect(try await Self.docker(world).Secret == answer.Secret)

            #expect(try await world.lanyard(["logout", "--all"]).status == 0)
            #expect(try await Self.list(world) == [:])
        }
    }

    @Test func `docker lists a registry only if nobody has to be asked`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            // The token has to be renewed first.
            let token = try await world.stored("accesstoken")
            _ = try await world.lanyard(["erase"], input: "url=\(world.sandbox.exchanges)\npassword=\(token)\n")
            #expect(try await Self.list(world) == [world.registry: "alice@contoso.example"])
            let identity = [
                "LANYARD_IDENTITY": "environment", "AZURE_AUTHORITY_HOST": world.sandbox.authority,
                "AZURE_TENANT_ID": "contoso.example", "AZURE_CLIENT_ID": UUID().uuidString, "AZURE_CLIENT_SECRET": "s",
            ]
            #expect(try await Self.list(world, identity) == [world.registry: ""])

            let login = try await world.lanyard(
                ["login", world.sandbox.exchanges], world.browser(as: "bob@contoso.example"))
            #expect(login.status == 0, "\(login)")
            #expect(try await Self.list(world) == [world.registry: "bob@contoso.example"])
            try FileManager.default.removeItem(atPath: world.selectionFile)
            #expect(try await Self.list(world, world.browser(as: "bob@contoso.example")) == [:])
            #expect(try await world.exchanges() == 0)
        }
    }

    @Test(.enabled(if: CachedAnswerTests.hasKernelKeyring, "the kernel stores no keys"))
    func `what was exchanged is remembered at once`() async throws {
        try await World.withRegistry(as: "alice@contoso.example", ownKernelKeys: true) { world in
            let first = try await Self.docker(world)
            try await world.keyring.suspend()
            #expect(try await Self.docker(world).Secret == first.Secret)
            try await world.keyring.resume()
        }
    }

    @Test func `git and lanyard token get the same, as a password`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            let url = world.sandbox.exchanges
            let answer = try await world.lanyard(["get"], input: "url=\(url)\ncapability[]=authtype\n")
            #expect(answer.value("username") == Self.nobody && answer.value("authtype") == nil, "\(answer)")
            let secret = try #require(answer.value("password"))
            #expect(try await world.lanyard(["token", url]).output == secret + "\n")
            let basic = Data("\(Self.nobody):\(secret)".utf8).base64EncodedString()
            let header = try await world.lanyard(["token", "--header", url])
            #expect(header.output == "Authorization: Basic \(basic)\n", "\(header)")
            #expect(try await world.exchanges() == 1)

            let out = try await world.lanyard(["logout", "--client-id", "azure-cli"])
            #expect(out.status == 0, "\(out)")
            let gone = try await world.docker("get")
            #expect(gone.status == 1 && gone.output.contains("lanyard login \(url)"), "\(gone)")
            #expect(try await world.lanyard(["cache", "list"]).output.contains("exchanged") == false)
        }
    }

    @Test func `guests bring a token of the registry's tenant`() async throws {
        try await World.withRegistry(as: "carol@fabrikam.example", guest: true) { world in
            #expect(try await Self.docker(world).Username == Self.nobody)
            let requests = try await world.sandbox.requests()
            let tenants = requests.filter { $0.path == "/oauth2/exchange" }.map { $0.form?["tenant"] }
            #expect(tenants == ["c0a70500-0000-4000-8000-00000c0a7050"], "\(requests)")
        }
    }

    @Test func `a token of another tenant is refused in the registry's words, and nobody loops`() async throws {
        try await World.withRegistry(as: "carol@fabrikam.example", authority: "organizations") { world in
            let refused = try await world.docker("get")
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.output.contains("\(world.registry) refuses the token: authentication"), "\(refused)")
            #expect(refused.output.contains("the rule's authority must be the registry's tenant"), "\(refused)")
            // Once with the stored token, once with a new one.
            #expect(try await world.exchanges() == 2)
        }
    }

    @Test func `what is near its end is exchanged anew, and serves while the registry is down`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            try await world.sandbox.set(#"{"registry_token_lifetime": 200}"#)
            let first = try await Self.docker(world)
            let second = try await Self.docker(world)
            #expect(first.Secret != second.Secret)
            #expect(try await world.exchanges() == 2)
            try await world.sandbox.fault(#"{"path": "/oauth2/exchange", "status": 503}"#)
            #expect(try await Self.docker(world).Secret == second.Secret)
        }
    }

    @Test func `a rule can't name an exchange that there isn't`() async throws {
        try await World.with { world in
            try world.configure(rule: world.sandbox.exchanges, at: "contoso.example", #"exchange = "acme""#)
            let refused = try await world.lanyard(["get"], input: "url=\(world.sandbox.exchanges)\n")
            #expect(refused.status == 1 && refused.errors.contains("has no exchange acme"), "\(refused)")
            let doctor = try await world.lanyard(["doctor"])
            #expect(doctor.output.contains("has no exchange acme"), "\(doctor)")
            #expect(doctor.output.contains("the rule for \(world.sandbox.exchanges): the plugin"), "\(doctor)")
        }
    }

    private static func docker(_ world: World) async throws -> DockerAnswer {
        let ended = try await world.docker("get")
        #expect(ended.status == 0, "\(ended)")
        return try JSONDecoder().decode(DockerAnswer.self, from: Data(ended.output.utf8))
    }

    private static func list(_ world: World, _ extra: [String: String] = [:]) async throws -> [String: String] {
        let ended = try await world.docker("list", world.environment.merging(extra) { $1 })
        return try JSONDecoder().decode([String: String].self, from: Data(ended.output.utf8))
    }

    /// Stores a name and a secret with docker's helper.
    private static func login(_ world: World, _ username: String, _ secret: String) async throws -> Ended {
        let login = ["ServerURL": world.registry, "Username": username, "Secret": secret]
        return try await world.runInside(
            "\(world.folder)/bin/docker-credential-lanyard", ["store"],
            input: String(decoding: try JSONEncoder().encode(login), as: UTF8.self))
    }

    private static func curl(_ world: World, _ url: String, _ configuration: String) async throws -> Ended {
        try await world.runInside(
            "/usr/bin/curl",
            ["--silent", "--show-error", "--fail", "--cacert", world.sandbox.caFile, "--config", "-", url],
            input: configuration)
    }
}
