import Foundation
import TestSupport
import Testing

/// Accounts of several tenants, each used where it belongs.
@Suite struct TwoTenantsTests {
    static let alice = AccountChoiceTests.alice
    static let bob = AccountChoiceTests.bob
    static let carol = AccountChoiceTests.carol
    static let frank = "frank@northwind.example"
    static let dave = "dave@outlook.example"

    /// Runs the body in a world where Alice has signed in at Contoso, then Frank at Northwind.
    static func withBoth(_ body: @escaping @Sendable (World) async throws -> Void) async throws {
        try await World.with { world in
            try await world.signIn(alice, path: "contoso/hello.git")
            try await world.signIn(frank, path: "northwind/hello.git")
            try await world.sandbox.clearLog()
            try await body(world)
        }
    }

    static func user(_ world: World, _ path: String) async throws -> String? {
        try await world.get(path, ["LANYARD_ANSWER_CACHE": "0"]).value("username")
    }

    static func explained(_ world: World, _ path: String) async throws -> (user: String?, why: String?, step: String?) {
        let ended = try await world.lanyard(["explain", "--json", "\(world.sandbox.resource)/\(path)"])
        let json = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        let account = json?["account"] as? [String: Any]
        let next = json?["next"] as? [String: Any]
        return (account?["username"] as? String, account?["chosen"] as? String, next?["step"] as? String)
    }

    @Test func `git works at both, and explain says what get does`() async throws {
        try await Self.withBoth { world in
            for (tenant, user) in [("contoso", Self.alice), ("northwind", Self.frank), ("contoso", Self.alice)] {
                let path = "\(tenant)/hello.git"
                let folder = "\(tenant)-\(UInt32.random(in: 0 ... .max))"
                let clone = try await world.git(["clone", "\(world.sandbox.resource)/\(path)", folder])
                #expect(clone.status == 0, "\(clone)")
                let fetch = try await world.git(["-C", folder, "fetch"])
                #expect(fetch.status == 0, "\(fetch)")
                let explained = try await Self.explained(world, path)
                #expect(explained == (user, "selected-here", "answer"))
            }
            // Renewed tokens, too, and without any choice.
            try FileManager.default.removeItem(atPath: world.selectionFile)
            for (tenant, user) in [("contoso", Self.alice), ("northwind", Self.frank)] {
                let old = try #require(try await world.get("\(tenant)/hello.git").value("password"))
                try await world.lanyard(
                    ["erase"], input: "url=\(world.sandbox.resource)/\(tenant)/hello.git\npassword=\(old)\n")
                let explained = try await Self.explained(world, "\(tenant)/hello.git")
                #expect(explained == (user, "has-token", "renew"))
                #expect(try await Self.user(world, "\(tenant)/hello.git") == user)
            }
            #expect(try await world.sandbox.authorityRequests().signIns.isEmpty)
        }
    }

    @Test func `a choice for all leaves alone who it does not fit, and one for a URL counts there`() async throws {
        try await Self.withBoth { world in
            let use = try await world.lanyard(["use", Self.frank])
            let place = "\(world.sandbox.authority)/contoso.example"
            #expect(
                use.status == 0
                    && use.errors == """
                        lanyard: using \(Self.frank) from now on
                        lanyard: \(Self.alice) stays in use for \(place); to change that: lanyard use \
                        --authority \(place) \(Self.frank)

                        """,
                "\(use)")
            #expect(try await Self.user(world, "contoso/hello.git") == Self.alice)
            #expect(try await Self.user(world, "northwind/hello.git") == Self.frank)
            let table = try await world.lanyard(["status", "--accounts"]).lines
            #expect(table.contains { $0.hasPrefix("* \(Self.frank)  all but contoso.example ") }, "\(table)")
            #expect(table.contains { $0.hasPrefix("* \(Self.alice)    contoso.example ") }, "\(table)")

            // Frank isn't a guest there: the choice is followed, and the error says how to undo it.
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            #expect(try await world.lanyard(["use", Self.frank, url]).status == 0)
            let explained = try await Self.explained(world, "contoso/hello.git")
            #expect(explained == (Self.frank, "selected-here", "try-renewal"))
            let refused = try await world.get("contoso/hello.git")
            #expect(refused.status == 2 && refused.errors.contains("AADSTS50020"), "\(refused)")
            let hint = "hint: to use another account here than \(Self.frank): lanyard use ACCOUNT \(url)\n"
            #expect(refused.errors.contains(hint), "\(refused)")
            let back = try await world.lanyard(["use", "-"])
            #expect(
                back.status == 0 && back.errors == "lanyard: using \(Self.alice) for \(place) from now on\n", "\(back)")
            #expect(try await Self.user(world, "contoso/hello.git") == Self.alice)
        }
    }

    @Test func `a guest is chosen for a tenant by its URL, and is known there from then on`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            try await world.signIn(Self.carol, path: "fabrikam/hello.git")
            #expect(try await Self.user(world, "fabrikam/hello.git") == Self.carol)
            let url = "\(world.sandbox.resource)/fabrikam/hello.git"
            #expect(try await world.lanyard(["use", Self.alice, url]).status == 0)
            #expect(try await Self.user(world, "fabrikam/hello.git") == Self.alice)
            #expect(try await world.lanyard(["use", url]).output == "\(Self.alice)\n")
            #expect(try await world.lanyard(["use", "-", url]).status == 0)
            #expect(try await Self.user(world, "fabrikam/hello.git") == Self.carol)
            // Now that she has signed in there, a choice for all includes that tenant.
            #expect(
                try await world.lanyard(["use", Self.alice]).errors == "lanyard: using \(Self.alice) from now on\n")
            #expect(try await Self.user(world, "fabrikam/hello.git") == Self.alice)
            #expect(try await Self.user(world, "common/hello.git") == Self.alice)
            #expect(try await world.sandbox.authorityRequests().signIns.count == 2)
        }
    }

    @Test func `a personal account that was chosen is not taken to a tenant, where another is at home`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, Self.dave)
            #expect(try await world.lanyard(["use", Self.dave]).status == 0)
            #expect(try await Self.user(world, "common/hello.git") == Self.dave)
            #expect(try await Self.explained(world, "contoso/hello.git") == (Self.alice, "at-home", "renew"))
            #expect(try await Self.user(world, "contoso/hello.git") == Self.alice)
        }
    }

    @Test func `who signs in instead of one that a tenant refused is used there from then on`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, path: "contoso/hello.git")
            #expect(try await Self.explained(world, "northwind/hello.git") == (Self.alice, "only-one", "try-renewal"))
            let frank = try await world.get("northwind/hello.git", world.browser(as: Self.frank))
            #expect(frank.value("username") == Self.frank, "\(frank)")
            #expect(try await Self.user(world, "northwind/hello.git") == Self.frank)
            #expect(try await Self.user(world, "contoso/hello.git") == Self.alice)
        }
    }

    @Test func `several that are at home are asked about, for this authority only`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, Self.bob)
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let nobody = try await world.get("contoso/hello.git")
            #expect(nobody.status == 1, "\(nobody)")
            #expect(nobody.errors.contains("hint: choose one: lanyard use \(Self.alice) \(url)\n"), "\(nobody)")
            let clone = try await world.atTerminal(
                ["git", "clone", "-q", url, "one"], answering: [(AccountMenuTests.question, "1")])
            #expect(clone.status == 0, "\(clone)")
            let told = "using \(Self.alice) for \(world.sandbox.authority)/contoso.example from now on"
            #expect(clone.output.split { " \n".contains($0) }.joined(separator: " ").contains(told), "\(clone)")
            #expect(try await Self.user(world, "contoso/hello.git") == Self.alice)
            #expect(try await Self.user(world, "common/hello.git") == Self.bob)
        }
    }

    @Test func `the user name in a URL decides, whoever was chosen`() async throws {
        try await Self.withBoth { world in
            try await world.signIn(Self.alice)
            let get = try await world.get("common/hello.git", lines: "username=\(Self.frank.uppercased())\n")
            #expect(get.value("username") == Self.frank, "\(get)")
            #expect(try await Self.user(world, "common/hello.git") == Self.alice)
        }
    }

    @Test func `signing out takes an account's choices, and choosing at once loses none`() async throws {
        try await Self.withBoth { world in
            try await withThrowingTaskGroup(of: Ended.self) { group in
                for user in [Self.alice, Self.frank] {
                    for path in ["common", "contoso", "northwind", "fabrikam"] {
                        let url = "\(world.sandbox.resource)/\(path)/hello.git"
                        group.addTask { try await world.lanyard(["use", user, url]) }
                    }
                }
                for try await ended in group { #expect(ended.status == 0, "\(ended)") }
            }
            func lines() throws -> [Substring] {
                try String(contentsOfFile: world.selectionFile, encoding: .utf8).split(separator: "\n")
            }
            #expect(try lines().count == 8)
            #expect(try lines().allSatisfy { $0.split(separator: " ").count == 3 && !$0.contains("@") })
            #expect(try await world.lanyard(["logout", Self.frank]).status == 0)
            #expect(try lines().count == 4)
            #expect(try await Self.user(world, "contoso/hello.git") == Self.alice)
        }
    }

    @Test func `another who signs in than the URL names is refused`() async throws {
        try await World.with { world in
            let lines = "username=\(Self.alice)\n"
            let wrong = try await world.get("common/hello.git", world.browser(as: Self.bob), lines: lines)
            #expect(wrong.status == 1 && wrong.hasNoCredential, "\(wrong)")
            let error = "lanyard: error: \(Self.bob) signed in instead of \(Self.alice)\n"
            #expect(wrong.errors.contains(error), "\(wrong)")
            let hint = "lanyard login \(world.sandbox.resource)/common/hello.git --account \(Self.alice) --prompt"
            #expect(wrong.errors.contains(hint), "\(wrong)")
            let right = try await world.get("common/hello.git", world.browser(as: Self.alice), lines: lines)
            #expect(right.value("username") == Self.alice, "\(right)")
            let again = try await world.get("common/hello.git", lines: "username=ALICE@contoso.example\n")
            #expect(again.value("username") == Self.alice, "\(again)")
            // An organisation isn't a user, and may have any account.
            #expect(
                try await world.get("common/hello.git", lines: "account=\(Self.bob)\nusername=contoso\n").status == 0)
        }
    }
}
