import Foundation
import TestSupport
import Testing

/// `status`: who is signed in, what each rule would return, and whether the user is needed.
@Suite struct StatusTests {
    private static let alice = "alice@contoso.example"
    private static let frank = "frank@northwind.example"

    private static func json(_ world: World) async throws -> [String: Any] {
        let ended = try await world.lanyard(["status", "--json"])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
        #expect(json["status"] as? Int == Int(ended.status) && ended.errors.isEmpty, "\(ended)")
        return json
    }

    /// Returns the state of each rule, by the last part of its URL.
    private static func steps(_ world: World) async throws -> [String: String] {
        let rules = try #require(try await json(world)["rules"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: rules.map { rule in
                let place = (rule["url"] as? String)?.split(separator: "/").last ?? ""
                let whose = (rule["account"] as? String).map { " \($0)" } ?? ""
                return (String(place), "\(rule["step"] as? String ?? "")\(whose)")
            })
    }

    @Test func `it says of each rule what get then does, and starts no plugin`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, path: "contoso/hello.git")
            try await world.signIn(Self.frank, path: "northwind/hello.git")
            try await world.sandbox.clearLog()
            let steps = try await Self.steps(world)
            #expect(steps["contoso"] == "answer \(Self.alice)" && steps["northwind"] == "answer \(Self.frank)")
            #expect(steps["b2c"] == "sign-in" && steps["fabrikam"] == "choose", "\(steps)")
            // Several rules need a choice or a sign-in, and one hint of each kind says how.
            let hints = try await world.lanyard(["status"]).errors.split(separator: "\n")
            for kind in ["choose one: ", "sign in: ", "or name one with account"] {
                #expect(hints.count { $0.hasPrefix("lanyard: hint: \(kind)") } == 1, "\(kind): \(hints)")
            }
            let json = try await Self.json(world)
            #expect((json["accounts"] as? [[String: Any]])?.count == 2)
            let contoso = try #require((json["rules"] as? [[String: Any]])?.first)
            #expect(contoso["expiresOn"] as? Double ?? 0 > Date().timeIntervalSince1970 + 300)
            // A rejected token must be renewed.
            let token = try #require(try await world.get("contoso/hello.git").value("password"))
            try await world.lanyard(
                ["erase"], input: "url=\(world.sandbox.resource)/contoso/hello.git\nusername=x\npassword=\(token)\n")
            #expect(try await Self.steps(world)["contoso"] == "renew \(Self.alice)")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            #expect(try await world.get("contoso/hello.git").value("username") == Self.alice)
        }
    }

    @Test func `the exit status tells scripts whether a user is needed`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let nobody = try await world.lanyard(["status", url])
            #expect(nobody.status == 2 && nobody.output == "signed out  \(url)\n", "\(nobody)")
            let hint = "lanyard: hint: sign in: lanyard login \(url)\n"
            #expect(nobody.errors == "lanyard: nobody is signed in\n" + hint, "\(nobody)")
            try await world.signIn(Self.alice, path: "contoso/hello.git")
            let ready = try await world.lanyard(["status", url])
            #expect(ready.status == 0 && ready.errors.isEmpty, "\(ready)")
            #expect(ready.output.contains("\nready  \(url) as \(Self.alice), for "), "\(ready)")
            let guest = try await world.lanyard(["status", "\(world.sandbox.resource)/northwind/hello.git"])
            let elsewhere = "northwind/hello.git, but \(Self.alice)'s sign-in elsewhere is tried first\n"
            #expect(guest.status == 2 && guest.output.contains("\nsigned out  "), "\(guest)")
            #expect(guest.output.hasSuffix(elsewhere), "\(guest)")
            let unmapped = try await world.lanyard(["status", "https://nobody.example/"])
            #expect(unmapped.status == 1 && unmapped.errors.contains("no rule maps https://nobody.example/"))
            try world.configure(rule: "https://other.example", at: "contoso.example", "kind = \"nobodys\"")
            let wrong = try await world.lanyard(["status", "https://other.example/"])
            #expect(wrong.status == 1 && wrong.output.contains("\nfails  https://other.example/: "), "\(wrong)")
        }
    }

    @Test func `a rule that another takes the place of is unused`() async throws {
        try await World.with { world in
            try world.configure(rule: "\(world.sandbox.resource)/contoso/", at: "contoso.example")
            let ended = try await world.lanyard(["status"])
            let start = "unused      \(world.sandbox.resource)/contoso: the rule at "
            #expect(ended.lines.contains { $0.hasPrefix(start) }, "\(ended)")
        }
    }

    @Test func `a locked keyring is not unlocked, whoever could be asked`() async throws {
        try await World.with(.locked) { world in
            let ended = try await world.lanyard(["status"], ["DISPLAY": ":99"])
            #expect(ended.status == 2 && !ended.output.contains("ready"), "\(ended)")
            #expect(ended.output.contains("waits  \(world.sandbox.resource)/contoso\n"), "\(ended)")
            // However many rules wait for it.
            #expect(!ended.output.contains("locked"), "\(ended)")
            let told = "lanyard: the keyring is locked\nlanyard: hint: unlock it: lanyard unlock\n"
            #expect(ended.errors == told, "\(ended)")
        }
    }

    @Test func `a remembered answer counts without a keyring`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let first = try await world.get("contoso/hello.git", world.browser(as: Self.alice))
            try #require(first.status == 0, "\(first)")
            try await world.keyring.suspend()
            let ended = try await world.lanyard(["status", url])
            #expect(ended.status == 0 && ended.output.hasPrefix("ready  \(url) as \(Self.alice), for "), "\(ended)")
            let forgotten = try await world.lanyard(["status", url], ["LANYARD_ANSWER_CACHE": "0"])
            #expect(forgotten.status == 1 && forgotten.output == "fails  \(url)\n", "\(forgotten)")
            let told = world.keyring.state == .sealed ? "has no sealed keyring" : "does not answer"
            #expect(forgotten.errors.contains(told), "\(forgotten)")
        }
    }

    @Test func `without a keyring it fails, and without rules it says how to make one`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["status"])
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.hasPrefix("lanyard: there is no D-Bus session, so no keyring"), "\(ended)")
            #expect(ended.errors.contains("no rules; add one for git: lanyard configure git URL\n"), "\(ended)")
            #expect(
                ended.errors.contains("into ~/.profile: dbus-daemon --session --fork "),
                "\(ended)")
        }
    }

    @Test func `at a terminal of 80 columns nothing is cut but a command to copy`() async throws {
        try await World.with { world in
            let ended = try await world.atTerminal(["lanyard", "status"], answering: [])
            #expect(ended.status == 2 && ended.lines.allSatisfy { $0.count <= 80 || $0.contains("login") }, "\(ended)")
            #expect(ended.output.contains("signed out  \(world.sandbox.resource)/contoso"), "\(ended)")
        }
    }
}
