import Foundation
import TestSupport
import Testing

/// Which account is used, and how the user sees and changes it.
@Suite struct AccountChoiceTests {
    static let path = "common/hello.git"
    static let alice = "alice@contoso.example"
    static let bob = "bob@contoso.example"
    static let carol = "carol@fabrikam.example"

    static func user(_ world: World, _ lines: String = "") async throws -> String? {
        try await world.get(path, lines: lines).value("username")
    }

    @Test func `the last one who signed in is used, and use changes that`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let everywhere = " for \(world.sandbox.authority)/common"
            let login = try await world.lanyard(["login", url, "--account", Self.bob], world.browser(as: Self.bob))
            #expect(
                login.errors.hasSuffix(
                    "signed in as \(Self.bob)\n"
                        + "lanyard: using \(Self.bob)\(everywhere) from now on; to go back: lanyard use -\n"),
                "\(login)")
            #expect(try await Self.user(world) == Self.bob)
            for (argument, user) in [("-", Self.alice), ("-", Self.bob), ("ALICE@contoso.example", Self.alice)] {
                let use = try await world.lanyard(["use", argument])
                let place = argument == "-" ? everywhere : ""
                #expect(use.status == 0 && use.errors == "lanyard: using \(user)\(place) from now on\n", "\(use)")
                #expect(use.output.isEmpty)
                // Twice, so that a cached answer would show.
                for _ in 0..<2 { #expect(try await Self.user(world) == user) }
            }
            let current = try await world.lanyard(["use"])
            #expect(current.status == 0 && current.output == "\(Self.alice)\n" && current.errors.isEmpty, "\(current)")
            let identifier = try await Self.accounts(world).first { $0["username"] as? String == Self.bob }
            _ = try await world.lanyard(["use", try #require(identifier?["homeAccountId"] as? String)])
            #expect(try await Self.user(world) == Self.bob)
            #expect(try await Self.user(world, "account=\(Self.alice)\n") == Self.alice)
            #expect(try await Self.user(world, "username=\(Self.alice)\n") == Self.alice)
            let text = try String(contentsOfFile: world.selectionFile, encoding: .utf8)
            #expect(!text.contains("@") && text.split(separator: "\n").count == 4, "\(text)")
        }
    }

    @Test func `an account that only its issuer takes is chosen for that issuer`() async throws {
        try await World.with(hosts: [.gitLab]) { world in
            try await world.signIn(Self.alice)
            let issuer = world.sandbox.issuer.url
            let login = try await world.lanyard(["login", issuer], world.browser(as: "alice_contoso"))
            #expect(login.status == 0, "\(login)")
            #expect(try await world.lanyard(["use", Self.alice]).errors.hasSuffix("using \(Self.alice) from now on\n"))
            let use = try await world.lanyard(["use", "alice_contoso"])
            #expect(use.errors == "lanyard: using alice_contoso for \(issuer) from now on\n", "\(use)")
            #expect(try await Self.user(world) == Self.alice)
            let table = try await world.lanyard(["status", "--accounts"]).lines
            #expect(table.contains { $0.hasPrefix("* \(Self.alice)  all ") }, "\(table)")
            let place = issuer.dropFirst("https://".count)
            #expect(table.contains { $0.hasPrefix("* alice_contoso") && $0.contains("  \(place)  ") }, "\(table)")
        }
    }

    @Test func `the first sign-in by git is chosen, a later one for a named account is not`() async throws {
        try await World.with { world in
            #expect(try await world.get(Self.path, world.browser(as: Self.alice)).status == 0)
            #expect(try await world.lanyard(["use"]).output == "\(Self.alice)\n")
            let named = try await world.get(
                Self.path, world.browser(as: Self.bob), lines: "account=\(Self.bob)\n")
            #expect(named.value("username") == Self.bob, "\(named)")
            #expect(try await Self.user(world) == Self.alice)
            // Signing out leaves the other account, which is then the only one.
            #expect(try await world.lanyard(["logout", Self.alice]).status == 0)
            #expect(try await Self.user(world) == Self.bob)
        }
    }

    @Test func `a choice among one authority's accounts is none among another's`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, Self.carol)
            try await world.signIn("erin@example.net", path: "b2c/hello.git")
            #expect(try await Self.user(world) == Self.carol)
            let b2c = "\(world.sandbox.resource)/b2c/hello.git"
            #expect(try await world.lanyard(["use", Self.alice, b2c]).status == 1)
            #expect(
                try await world.lanyard(["use", Self.alice, "--authority", "\(world.sandbox.authority)/common"]).status
                    == 0)
            #expect(try await world.get("b2c/hello.git").value("username") == "erin@example.net")
            #expect(try await Self.user(world) == Self.alice)
            let listed = try await world.lanyard(["status", "--accounts", b2c])
            #expect(listed.lines.count == 2 && listed.lines[1].hasPrefix("* erin@example.net"), "\(listed)")
        }
    }

    @Test func `without a choice several are an error that lists them, and a name chooses`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, Self.carol)
            try FileManager.default.removeItem(atPath: world.selectionFile)
            let both = try await world.get(Self.path)
            #expect(both.status == 1 && both.hasNoCredential)
            #expect(
                both.errors.hasPrefix(
                    """
                    lanyard: error: several accounts could be meant: \(Self.alice), \(Self.carol)
                    lanyard: hint: choose one: lanyard use \(Self.alice) \(world.sandbox.resource)/\(Self.path)

                    """), "\(both)")
            let use = try await world.lanyard(["use"])
            #expect(
                use.status == 1 && use.errors.hasPrefix("lanyard: error: no account has been chosen yet\n"), "\(use)")
            let nobody = try await world.lanyard(["use", "zoe@contoso.example"])
            #expect(nobody.status == 1, "\(nobody)")
            #expect(nobody.errors.hasPrefix("lanyard: error: the account zoe@contoso.example has not signed in\n"))
            let none = try await world.lanyard(["use", "-"])
            #expect(
                none.status == 1 && none.errors.hasPrefix("lanyard: error: no account was used before\n"), "\(none)")
        }
    }

    @Test func `one name under two policies is told apart by identifier`() async throws {
        try await World.with { world in
            let authority = "\(world.sandbox.authority)/tfp/contosob2c.onmicrosoft.example"
            let scope = "https://contosob2c.onmicrosoft.example/sandbox-git/Repo.Read"
            for policy in ["B2C_1_susi", "B2C_1_edit"] {
                let login = try await world.lanyard(
                    [
                        "login", "--authority", "\(authority)/\(policy)", "--client-id", world.sandbox.b2cClientID,
                        "--scope", scope,
                    ], world.browser(as: "erin@example.net"))
                #expect(login.status == 0, "\(login)")
            }
            let both = try await world.lanyard(["use", "erin@example.net"])
            #expect(both.status == 64, "\(both)")
            #expect(both.errors.hasPrefix("lanyard: error: several accounts are called erin@example.net\n"), "\(both)")
            let hint = both.errors.split(separator: "\n").first { $0.contains("b2c_1_susi: lanyard use ") }
            let identifier = try #require(hint?.split(separator: " ").last.map(String.init))
            #expect(try await world.lanyard(["use", identifier]).status == 0)
            let named = ["use", "erin@example.net", "--authority", "\(authority)/B2C_1_edit"]
            #expect(try await world.lanyard(named).status == 0)
            let kinds = try await Self.accounts(world).map { $0["policy"] as? String }
            #expect(kinds == ["b2c_1_edit", "b2c_1_susi"])
        }
    }

    @Test func `accounts tells all there is to know, and its JSON has a fixed shape`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            try await world.signIn(Self.alice, path: "fabrikam/hello.git")
            try await world.signIn("dave@outlook.example", Self.carol)
            let table = try await world.lanyard(["status", "--accounts"])
            #expect(
                table.output == """
                      ACCOUNT                 USED FOR          NAME          KIND            TENANTS                                     RENEWS
                    * carol@fabrikam.example  common            Carol Cooper  work or school  fabrikam.example                            yes
                    - dave@outlook.example                      Dave Dyer     personal                                                    yes
                    * alice@contoso.example   fabrikam.example  Alice Archer  work or school  contoso.example, guest in fabrikam.example  yes

                    """, "\(table)")
            let narrow = try await world.atTerminal(["lanyard", "status", "--accounts"], answering: [])
            #expect(narrow.lines.count == 4 && narrow.lines.allSatisfy { $0.count <= 80 }, "\(narrow)")
            let json = try await Self.accounts(world)
            #expect(json.map { $0["kind"] as? String } == ["work-or-school", "personal", "work-or-school"])
            #expect(json.map { $0["current"] as? Bool } == [true, false, true])
            #expect(json.map { $0["previous"] as? Bool } == [false, true, false])
            let alice = try #require(json.last)
            #expect(
                Set(alice.keys) == [
                    "broker", "canRenew", "clientIds", "current", "domain", "environment", "homeAccountId", "kind",
                    "name",
                    "previous",
                    "tenant", "tenants", "usedElsewhere", "usedFor", "username",
                ])
            #expect(alice["usedFor"] as? [String] == ["\(world.sandbox.authority)/fabrikam.example"])
            let tenants = try #require(alice["tenants"] as? [[String: Any]])
            #expect(tenants.map { $0["home"] as? Bool } == [true, false])
            #expect(tenants.map { $0["domain"] as? String } == ["contoso.example", "fabrikam.example"])
            #expect(json.map { $0["domain"] as? String } == ["fabrikam.example", "", "contoso.example"])
            #expect(tenants.last?["localAccountId"] as? String == "a11ce000-0000-4000-8000-00000000fab8")
            // The guest's object ID, which older tools use, finds the account.
            let guest = try await Self.user(world, "account=A11CE000-0000-4000-8000-00000000FAB8\n")
            #expect(guest == Self.alice)
            #expect(try await Self.user(world, "account=  Alice@Contoso.Example \n") == Self.alice)
            #expect(try await world.lanyard(["status", "--accounts", "https://nowhere.example/"]).status == 1)
        }
    }

    @Test func `a selection that can't be kept costs nothing but the choice`() async throws {
        try await World.with { world in
            try FileManager.default.createDirectory(
                atPath: world.folder + "/home/.local/state/lanyard", withIntermediateDirectories: true)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: world.folder + "/home/.local/state/lanyard")
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let login = try await world.lanyard(["login", url], world.browser(as: Self.alice))
            #expect(login.status == 0 && login.errors.contains("signed in as \(Self.alice)\n"), "\(login)")
            let reason = "\(world.folder)/home/.local/state/lanyard cannot be used: other users can write to it\n"
            #expect(login.errors.contains("lanyard: error: \(reason)"), "\(login)")
            #expect(try await Self.user(world) == Self.alice)
            let use = try await world.lanyard(["use", Self.alice])
            #expect(use.status == 1 && use.errors.hasPrefix("lanyard: error: \(reason)"), "\(use)")
        }
    }

    static func accounts(_ world: World) async throws -> [[String: Any]] {
        let listed = try await world.lanyard(["status", "--accounts", "--json"])
        return try #require(try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]])
    }
}
