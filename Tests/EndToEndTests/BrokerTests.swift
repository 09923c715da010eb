import Foundation
import TestSupport
import Testing

/// Sign-ins held by the machine's broker: a real service on the session bus redeems its own refresh token at the
/// authority.
@Suite(.timeLimit(.minutes(5)))
struct BrokerTests {
    private static let path = "common/hello.git"
    /// The variables that turn off the answer cache.
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]

    @Test(arguments: IdentityBroker.Mode.allCases)
    func `a clone asks nobody, and renewals go to the broker`(_ mode: IdentityBroker.Mode) async throws {
        try await World.withBroker(mode) { world, broker, machine in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let before = try await world.lanyard(["explain", url], machine)
            #expect(before.output.contains("would ask the machine's broker, if there is one, for a token"), "\(before)")
            #expect(before.output.contains("entra-broker 0.1.0 asks it, if there is one, first"), "\(before)")
            #expect(broker.starts == 0)
            let early = try await world.lanyard(["status", url], machine)
            #expect(early.status == 2 && early.output.hasPrefix("signed out  "), "\(early)")

            // Shorter than the minimum remaining lifetime, so the token is due for renewal immediately.
            try broker.redeeming(lifetime: 200)
            let clone = try await world.git(["clone", "--quiet", url, "hello"], machine)
            #expect(clone.status == 0, "\(clone)")
            #expect(
                clone.errors.contains("lanyard: signed in as \(World.alice), by the machine's broker\n"), "\(clone)")
            #expect(FileManager.default.fileExists(atPath: world.folder + "/work/hello/README.md"))
            let silent = broker.methods.count { $0 == "acquireTokenSilently" }
            try broker.redeeming(lifetime: 3600)
            let renewed = try await world.git(["-C", "hello", "fetch"], machine)
            #expect(renewed.status == 0 && renewed.errors.isEmpty, "\(renewed)")
            #expect(broker.methods.count { $0 == "acquireTokenSilently" } == silent + 1)
            #expect(broker.calls.last?.explicit["username"] as? String == World.alice)

            // A stored token is used without the broker, and is marked as the broker's.
            broker.clearCalls()
            #expect(try await world.git(["-C", "hello", "fetch"], machine).status == 0)
            #expect(broker.calls.isEmpty)
            let exported = try await world.lanyard(["export"], machine).output
            let cache = try #require(try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: Any])
            #expect((cache["RefreshToken"] as? [String: Any] ?? [:]).isEmpty, "\(exported)")
            #expect(exported.contains("lanyard_broker") && exported.contains("entra-broker"), "\(exported)")
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.signIns.isEmpty && requests.count(grant: "authorization_code") == 0)

            let status = try await world.lanyard(["status", url], machine)
            #expect(status.status == 0 && status.output.contains("from the machine's broker"), "\(status)")
            #expect(try await world.lanyard(["status", "--accounts"], machine).output.contains("broker"))
            let explained = try await world.lanyard(["explain", url], machine.merging(Self.uncached) { $1 })
            #expect(explained.output.contains("; from the machine's broker"), "\(explained)")
            let doctor = try await world.lanyard(["doctor", "--all"], machine)
            #expect(doctor.output.contains("entra-broker answers: "), "\(doctor)")
            #expect(doctor.output.contains("1 account"), "\(doctor)")
            let online = try await world.lanyard(["doctor", "--online", "--all"], machine)
            #expect(online.output.contains(", by the machine's broker"), "\(online)")

            let logout = try await world.lanyard(["logout"], machine)
            #expect(logout.status == 0 && logout.errors.contains("the machine's broker stays signed in"), "\(logout)")
            #expect(!broker.methods.contains("removeAccount"))
            for call in broker.calls { #expect(call.wrong == nil, "\(call.method): \(call.wrong ?? "")") }
        }
    }

    @Test func `what a broker was disabled by keeps it from being asked`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            #expect(try await world.get(Self.path, machine.merging(["LANYARD_FLOW": "browser"]) { $1 }).status == 2)
            let policy = "\(world.folder)/policy.toml"
            try "[policy]\nbroker = false\n".write(toFile: policy, atomically: true, encoding: .utf8)
            let forbidden = try await world.runInside(
                Built.checkout + "/Tests/TestSupport/Scripts/with-system-file",
                [policy, "\(world.folder)/bin/lanyard", "token", "\(world.sandbox.resource)/\(Self.path)"],
                environment: world.environment.merging(machine) { $1 })
            #expect(forbidden.status == 2, "\(forbidden)")
            // Nor is it asked with a prompt that requires the user, or without a bus.
            #expect(try await world.get(Self.path, machine, lines: "prompt=login\n").status == 2)
            let busless = machine.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"]) { $1 }
            #expect(try await world.get(Self.path, busless).value("password") == nil)
            #expect(broker.starts == 0)
            let login = try await world.lanyard(
                ["login", "\(world.sandbox.resource)/\(Self.path)", "--flow", "browser"],
                machine.merging(world.browser(as: World.alice)) { $1 })
            #expect(login.status == 0, "\(login)")
            #expect(broker.starts == 0)
        }
    }

    @Test(arguments: [("auto", 0), ("broker", 1)])
    func `a machine without a broker fails doctor only if nothing else may be used`(
        flow: String, status: Int32
    ) async throws {
        try await World.with(.secretService) { world in
            let machine = try world.withBrokersPlugin().merging(["LANYARD_FLOW": flow]) { $1 }
            let doctor = try await world.lanyard(["doctor", "--all"], machine)
            #expect(doctor.status == status && doctor.output.contains("entra-broker: "), "\(doctor)")
            for text in ["flow allows no other way to sign in", "lanyard config set flow auto"] {
                #expect(doctor.output.contains(text) == (status != 0), "\(doctor)")
            }
        }
    }

    @Test(arguments: IdentityBroker.Mode.allCases)
    func `a token that a server refused is renewed by the broker, and asks nobody`(
        _ mode: IdentityBroker.Mode
    ) async throws {
        try await World.withBroker(mode) { world, broker, machine in
            try broker.set(["repeats": true])
            let place = "url=\(world.sandbox.resource)/\(Self.path)\n"
            var given: Set<String> = []
            for count in 1...3 {
                let answer = try await world.get(Self.path, machine)
                let token = try #require(answer.value("password"), "\(answer)")
                #expect(given.insert(token).inserted && answer.errors.contains("lanyard: hint") == false, "\(answer)")
                #expect(broker.calls.allSatisfy { $0.wrong == nil }, "\(broker.calls)")
                #expect(broker.calls.count { $0.explicit["accessTokenToRenew"] != nil } == count - 1)
                _ = try await world.lanyard(
                    ["erase"], machine, input: "\(place)username=\(World.alice)\npassword=\(token)\n")
            }
        }
    }

    @Test func `a token that a server refused isn't taken from a broker that keeps it`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            try broker.set(["repeats": "always"])
            let first = try await world.get(Self.path, machine)
            let token = try #require(first.value("password"), "\(first)")
            let place = "url=\(world.sandbox.resource)/\(Self.path)\n"
            _ = try await world.lanyard(
                ["erase"], machine, input: "\(place)username=\(World.alice)\npassword=\(token)\n")
            let again = try await world.get(Self.path, machine)
            #expect(again.status == 2, "\(again)")
            #expect(again.errors.contains("the server refused the token that the machine's broker gives"), "\(again)")
            try broker.set(["repeats": false])
            let other = try await world.get(Self.path, machine)
            #expect(other.status == 0 && other.value("password") != token, "\(other)")
        }
    }

    @Test func `a token of somebody else is refused`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            // The broker claims to have Bob's account, but returns Alice's token.
            let bob = IdentityBroker.account(
                "bob@contoso.example", id: "b0b00000-0000-4000-8000-00000000000b",
                tenant: "c0c0c0c0-1111-4111-8111-c0c0c0c0c0c0")
            try broker.set(["accounts": [bob]])
            for lines in ["", "account=bob@contoso.example\n"] {
                let ended = try await world.get(Self.path, machine, lines: lines)
                #expect(ended.status == 2, "\(ended)")
            }
            #expect(try await world.lanyard(["cache", "list"], machine).output.isEmpty)
        }
    }

    @Test func `accounts that only the broker has are listed as the broker's, after lanyard's own`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            func listed(_ arguments: String...) async throws -> [[String: Any]] {
                let ended = try await world.lanyard(["status", "--accounts", "--json"] + arguments, machine)
                return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Any]])
            }
            let table = try await world.lanyard(["status", "--accounts"], machine)
            #expect(
                table.lines.count == 2 && table.lines[1].hasPrefix("  \(World.alice) ")
                    && table.lines[1].hasSuffix(" broker"), "\(table)")
            let before = try await listed()
            #expect(before.map { $0["username"] as? String } == [World.alice], "\(before)")
            #expect(before.map { $0["broker"] as? String } == ["entra-broker"], "\(before)")
            #expect(before.map { ($0["clientIds"] as? [String])?.isEmpty } == [true], "\(before)")

            // With a token of hers, she is lanyard's own; others of the machine come after her.
            #expect(try await world.get(Self.path, machine).status == 0)
            let tenant = "c0c0c0c0-1111-4111-8111-c0c0c0c0c0c0"
            try broker.set([
                "accounts": [
                    IdentityBroker.account("anne@contoso.example", id: tenant, tenant: tenant),
                    IdentityBroker.account(World.alice, id: tenant, tenant: tenant),
                ]
            ])
            for arguments in [[], ["\(world.sandbox.resource)/\(Self.path)"]] {
                let ended = try await world.lanyard(["status", "--accounts"] + arguments, machine)
                #expect(ended.lines.count == 3, "\(ended)")
                #expect(ended.lines[1].hasPrefix("* \(World.alice) "), "\(ended)")
                #expect(ended.lines[2].hasPrefix("  anne@contoso.example "), "\(ended)")
            }
            // Rules needn't name the authority.
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let keys = "authority = \"\(world.sandbox.authority)/common\"\nclient-id = \"\(world.sandbox.clientID)\"\n"
            try (keys + text.prefix(upTo: try #require(text.firstRange(of: "[[rule]]")).lowerBound))
                .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            #expect(try await listed().map { $0["username"] as? String } == [World.alice, "anne@contoso.example"])
            // It isn't asked if it must not be, and one that fails costs nothing but its accounts.
            let alone = try await world.lanyard(
                ["status", "--accounts"], machine.merging(["LANYARD_FLOW": "browser"]) { $1 })
            #expect(alone.lines.count == 2, "\(alone)")
            try broker.set(["accounts_call": ["dbus": "org.freedesktop.DBus.Error.Failed"]])
            let failing = try await world.lanyard(["status", "--accounts"], machine)
            #expect(failing.status == 0 && failing.errors.isEmpty, "\(failing)")
        }
    }

    @Test func `of many at once one asks the broker`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<16 { group.addTask { try await world.get(Self.path, machine) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 0 }, "\(answers.filter { $0.status != 0 })")
            #expect(Set(answers.compactMap { $0.value("password") }).count == 1)
            #expect(broker.methods.count { $0 == "acquireTokenSilently" } == 1)
        }
    }
}
