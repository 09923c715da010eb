import Foundation
import JSON
import TestSupport
import Testing
import Vectors

/// Unmodified Azure Identity for Python finds what lanyard shares with it.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools has no SDK"))
struct ShareTests {
    private static let alice = "alice@contoso.example"
    private static let scope = "api://sandbox-git/.default"

    /// Prints the token that Azure Identity gets without asking the user.
    private static let program = """
        import sys
        from azure.identity import *
        authority, ca, name, kind = sys.argv[1:5]
        record = AuthenticationRecord.deserialize(open("record.json").read())
        common = dict(connection_verify=ca, disable_instance_discovery=True)
        cache = dict(cache_persistence_options=TokenCachePersistenceOptions(name=name))
        own = dict(client_id=record.client_id, authentication_record=record,
                   disable_automatic_authentication=True, **cache)
        try:
            if kind == "SharedTokenCacheCredential":
                credential = SharedTokenCacheCredential(
                    username=record.username, authority=authority, **common, **cache)
            else:
                credential = {"InteractiveBrowserCredential": InteractiveBrowserCredential,
                              "DeviceCodeCredential": DeviceCodeCredential}[kind](**own, **common)
            print(credential.get_token("api://sandbox-git/.default").token)
        except Exception as error:
            print(type(error).__name__, error)
        """

    /// Runs the body in a world where Alice shares a token in a cache; passes the output.
    private static func with(
        _ body: @escaping @Sendable (World, Ended) async throws -> Void
    ) async throws {
        try await World.with(.secretService) { world in
            let first = try await world.get("contoso/hello.git", world.browser(as: alice))
            try #require(first.status == 0, "\(first)")
            let shared = try await share(world)
            try #require(shared.status == 0, "\(shared)")
            try shared.output.write(toFile: world.folder + "/work/record.json", atomically: true, encoding: .utf8)
            try await body(world, shared)
        }
    }

    @discardableResult
    private static func share(_ world: World, _ name: String = "mine", _ more: [String] = []) async throws -> Ended {
        try await world.lanyard(
            ["share", "--with", "azure-identity", name, "\(world.sandbox.resource)/contoso/hello.git"] + more,
            home(world))
    }

    private static func home(_ world: World) -> [String: String] { ["HOME": world.folder + "/home"] }

    /// Returns Azure Identity's token; the interpreter is one of the clients', and Debian has its library for the
    /// keyring.
    private static func token(
        _ world: World, _ credential: String = "InteractiveBrowserCredential", name: String = "mine"
    ) async throws -> String {
        var environment = world.environment.merging(home(world)) { $1 }
        environment["PYTHONPATH"] = "/usr/lib/python3/dist-packages"
        let ended = try await world.runInside(
            Clients.program("python"),
            ["-c", program, world.sandbox.authority, world.sandbox.caFile, name, credential],
            environment: environment)
        #expect(ended.status == 0, "\(ended)")
        return ended.lines.last ?? ""
    }

    /// Returns the item as other programs read it.
    private static func item(_ world: World, _ name: String = "mine.nocae") async throws -> String {
        try await world.keyring.run(
            "secret-tool",
            ["lookup", "xdg:schema", name, "MsalClientID", "Microsoft.Developer.IdentityService"]
        ).output
    }

    private static func replace(_ world: World, with text: String, _ name: String = "mine.nocae") async throws {
        let stored = try await world.keyring.run(
            "secret-tool",
            [
                "store", "--label=MSALCache", "xdg:schema", name, "MsalClientID",
                "Microsoft.Developer.IdentityService",
            ], input: text)
        #expect(stored.status == 0, "\(stored)")
    }

    @Test(arguments: ["InteractiveBrowserCredential", "DeviceCodeCredential"])
    func `Azure Identity gets the token without a question, and no refresh token`(credential: String) async throws {
        try await Self.with { world, shared in
            let token = try await world.lanyard(["token", "\(world.sandbox.resource)/contoso/hello.git"])
            #expect(try await Self.token(world, credential) == token.lines.first)
            let item = try await Self.item(world)
            let refresh = try await world.keyring.run("secret-tool", ["lookup", "kind", "refreshtoken"])
            #expect(!item.lowercased().contains("refreshtoken") && !item.contains("lanyard"), "\(item)")
            #expect(!refresh.output.isEmpty && !shared.output.contains("secret"), "\(shared)")
            #expect(shared.errors.contains("mine has 1 access token of \(Self.alice)"), "\(shared)")
        }
    }

    @Test(arguments: BrokerVectors.followed("cache-sign-in"))
    func `what Azure Identity finds in a cache`(_ vector: VectorCase) async throws {
        try await Self.with { world, _ in
            let tenant = "organizations"
            var text = try await Self.item(world)
            let token = vector.input["access_token"]
            if token?["client"]?.string == "another" {
                text = text.replacing(world.sandbox.clientID, with: "99999999-0000-4000-8000-000000000000")
            }
            var document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            if token?["realm"]?.string == "organizations" {
                var entries = document["AccessToken"] as? [String: [String: Any]] ?? [:]
                for key in entries.keys { entries[key]?["realm"] = tenant }
                document["AccessToken"] = entries
            }
            if let family = vector.input["refresh_token"]?["family_id"]?.string {
                let account = (document["Account"] as? [String: [String: Any]])?.values.first ?? [:]
                document["RefreshToken"] = [
                    "family": [
                        "credential_type": "RefreshToken", "secret": "not-a-token", "family_id": family,
                        "home_account_id": account["home_account_id"] ?? "", "client_id": "another", "target": "",
                        "environment": account["environment"] ?? "",
                    ]
                ]
            }
            let changed = try JSONSerialization.data(withJSONObject: document)
            try await Self.replace(world, with: String(decoding: changed, as: UTF8.self))
            let kind = vector.text("credential")?.split(separator: " ").first.map(String.init) ?? ""
            let given = try await Self.token(world, kind)
            #expect((given.split(separator: ".").count == 3) == (vector.expect["silent"] == .bool(true)), "\(given)")
        }
    }

    @Test func `entries of others, what nobody here knows, and their encoding stay`() async throws {
        try await Self.with { world, _ in
            for isEncoded in [false, true] {
                let others = #"{"AccessToken":{"k1":{"client_id":"another","secret":"A"}},"Future":{"x":1}}"#
                let text = isEncoded ? Data(others.utf8).base64EncodedString() : others
                try await Self.replace(world, with: text)
                #expect(try await Self.share(world).status == 0)
                var item = try await Self.item(world)
                if isEncoded { item = String(decoding: Data(base64Encoded: item) ?? Data(), as: UTF8.self) }
                let document = try JSONSerialization.jsonObject(with: Data(item.utf8)) as? [String: [String: Any]]
                #expect(document?["Future"]?["x"] as? Int == 1, "\(item)")
                #expect((document?["AccessToken"]?["k1"] as? [String: String])?["secret"] == "A", "\(item)")
                #expect(document?["AccessToken"]?.count == 2 && document?["Account"]?.isEmpty == false, "\(item)")
                #expect(document?["AppMetadata"] == nil && document?["RefreshToken"] == nil, "\(item)")
            }
            let items = try await world.keyring.run(
                "secret-tool", ["search", "--all", "xdg:schema", "mine.nocae"])
            #expect(items.output.components(separatedBy: "label = MSALCache").count == 2, "\(items)")
        }
    }

    @Test func `what is no cache stays as it is`() async throws {
        try await Self.with { world, _ in
            try await Self.replace(world, with: "something else")
            let refused = try await Self.share(world)
            #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
            #expect(try await Self.item(world) == "something else")
        }
    }

    @Test func `the file that tells of a change is made and touched, and the lock is gone`() async throws {
        try await Self.with { world, _ in
            let folder = world.folder + "/home/.IdentityService"
            let signal = folder + "/mine.nocae"
            try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: signal)
            #expect(try await Self.share(world).status == 0)
            let changed = try FileManager.default.attributesOfItem(atPath: signal)[.modificationDate] as? Date
            #expect(try #require(changed) > Date.now - 60)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["mine.nocae"])
        }
    }

    @Test(arguments: BrokerVectors.followed("cache-lock").filter { $0.text("file") == "exists" })
    func `whoever has the lock keeps others out`(_ vector: VectorCase) async throws {
        try await Self.with { world, _ in
            let path = world.folder + "/home/.IdentityService/mine.nocae.lockfile"
            let process = try Self.holder(of: path, by: vector.text("kind") ?? "")
            defer { process.waitUntilExit() }
            defer { kill(process.processIdentifier, SIGKILL) }
            let before = try await Self.item(world)
            let refused = try await Self.share(world)
            #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("another program is writing to the cache"), "\(refused)")
            #expect(try await Self.item(world) == before)
            // The leftovers of a killed program block nobody.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(try await Self.share(world).status == 0)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    /// Starts a program that holds the lock, in one of the ways that libraries use.
    private static func holder(of path: String, by kind: String) throws -> Process {
        let holder = """
            import fcntl, os, sys, time
            file = open(sys.argv[1], "w")
            if sys.argv[2] == "flock": fcntl.flock(file, fcntl.LOCK_EX)
            if sys.argv[2] == "fcntl": fcntl.lockf(file, fcntl.LOCK_EX)
            file.write(str(os.getpid()) + " holder")
            file.flush()
            print("held", flush=True)
            time.sleep(300)
            """
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", holder, path, kind]
        process.standardOutput = output
        try process.run()
        _ = try output.fileHandleForReading.read(upToCount: 4)
        return process
    }

    @Test func `what another program writes while it has the lock stays`() async throws {
        try await Self.with { world, _ in
            let path = world.folder + "/home/.IdentityService/mine.nocae.lockfile"
            let process = try Self.holder(of: path, by: "flock")
            async let shared = Self.share(world)
            try await Task.sleep(for: .seconds(2))
            try await Self.replace(world, with: #"{"AccessToken":{"k1":{"secret":"A"}}}"#)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let ended = try await shared
            #expect(ended.status == 0, "\(ended)")
            let item = try await Self.item(world)
            #expect(item.contains(#""k1""#) && item.contains(Self.alice), "\(item)")
        }
    }

    @Test func `nothing but an account of Entra ID's is shared`() async throws {
        try await World.with(.secretService) { world in
            for name in ["", ".x", "a/b", "a b", String(repeating: "x", count: 65)] {
                #expect(try await Self.share(world, name).status == 64)
            }
            let tenant = "contosob2c.onmicrosoft.example"
            let refused = try await world.lanyard(
                [
                    "share", "--with", "azure-identity", "mine", "--authority",
                    "\(world.sandbox.authority)/tfp/\(tenant)/B2C_1_susi", "--client-id", world.sandbox.b2cClientID,
                    "--scope", "https://\(tenant)/sandbox-git/Repo.Read",
                ], world.browser(as: "erin@example.net"))
            #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("Azure Identity accepts only accounts of Microsoft Entra ID"), "\(refused)")
        }
    }
}
