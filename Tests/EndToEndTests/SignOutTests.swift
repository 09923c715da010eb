import Foundation
import TestSupport
import Testing

/// What a sign-out removes, here and in the browser.
@Suite struct SignOutTests {
    static let alice = AccountChoiceTests.alice
    static let family = ["fa311100-0000-4000-8000-0000000000a1", "fa311100-0000-4000-8000-0000000000b2"]

    static func login(_ world: World, client: String, as user: String = alice) async throws {
        let ended = try await world.lanyard(
            [
                "login", "--authority", "\(world.sandbox.authority)/common", "--client-id", client, "--scope",
                "api://sandbox-git/.default",
            ], world.browser(as: user))
        #expect(ended.status == 0, "\(ended)")
    }

    @Test func `it takes this client's tokens and no other's, until the account is forgotten`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            for client in Self.family { try await Self.login(world, client: client) }
            let first = try await world.lanyard(["logout"])
            #expect(
                first.errors
                    == "lanyard: signed out \(Self.alice); other apps keep theirs: \(Self.family.joined(separator: ", "))\n",
                "\(first)")
            #expect(try await world.lanyard(["use"]).output == "\(Self.alice)\n")
            let again = try await world.lanyard(["logout", Self.alice])
            #expect(again.status == 1, "\(again)")
            #expect(
                again.errors.hasPrefix("lanyard: error: only other apps have tokens for \(Self.alice): "), "\(again)"
            )
            // One of a family takes the family's refresh token with it: the other has its access token and no more.
            let one = "sign one of them out: lanyard logout --client-id ID \(Self.alice)\n"
            #expect(again.errors.contains(one), "\(again)")
            #expect(try await world.lanyard(["logout", "--client-id", Self.family[0].uppercased()]).status == 0)
            let only = try await world.lanyard(["logout", Self.alice])
            let it = "sign it out there: lanyard logout --client-id \(Self.family[1]) \(Self.alice)\n"
            #expect(only.status == 1 && only.errors.contains(it), "\(only)")
            #expect(only.errors.hasSuffix("or everywhere: lanyard logout --forget \(Self.alice)\n"), "\(only)")
            let left = try #require(try await AccountChoiceTests.accounts(world).first)
            #expect(left["clientIds"] as? [String] == [Self.family[1]])
            #expect(left["canRenew"] as? Bool == false)
            let forgotten = try await world.lanyard(["logout", "--forget"])
            #expect(forgotten.status == 0 && forgotten.errors == "lanyard: signed out \(Self.alice)\n", "\(forgotten)")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
            #expect(try String(contentsOfFile: world.selectionFile, encoding: .utf8).isEmpty)
            // There is nothing to do, unless somebody is named.
            for words in [[], ["--all"]] {
                let nobody = try await world.lanyard(["logout"] + words)
                #expect(nobody.status == 0 && nobody.errors == "lanyard: nobody is signed in\n", "\(nobody)")
            }
            let named = try await world.lanyard(["logout", Self.alice])
            #expect(named.status == 1 && named.errors.contains("\(Self.alice) has not signed in"), "\(named)")
        }
    }

    @Test func `several and no name is an error, and all are signed out at once`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, AccountChoiceTests.carol)
            let which = try await world.lanyard(["logout"])
            #expect(which.status == 64, "\(which)")
            #expect(
                which.errors
                    == """
                    lanyard: error: several accounts match: \(AccountChoiceTests.carol), \(Self.alice)
                    lanyard: hint: name the account, or give --all

                    """)
            // No client of the configuration's has these tokens.
            for client in Self.family { try await Self.login(world, client: client) }
            let all = try await world.lanyard(["logout", "--all"])
            #expect(all.status == 0 && all.errors.split(separator: "\n").count == 2, "\(all)")
            #expect(!all.errors.contains("other apps"), "\(all)")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
        }
    }

    @Test(arguments: [
        ("common/hello.git", alice, "logout_hint=alice%40contoso.example"),
        ("b2c/hello.git", "erin@example.net", "id_token_hint=ey"),
    ])
    func `with --browser the next sign-in asks for the password again`(
        _ path: String, _ user: String, _ hint: String
    ) async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/\(path)"
            let cookies = "--cookies \(world.folder)/cookies.json"
            let browser = world.browser(as: user, cookies)
            // The cookie signs this browser in, whatever password it would type.
            let forgetful = world.browser(as: user, "--password wrong \(cookies)")
            let login = ["login", url, "--timeout", "10", "--account", user]
            #expect(try await world.lanyard(login, browser).status == 0)
            #expect(try await world.lanyard(["logout"]).status == 0)
            #expect(try await world.lanyard(login, forgetful).status == 0)
            let logout = try await world.lanyard(["logout", "--browser"], browser)
            #expect(
                logout.status == 0
                    && logout.errors
                        == "lanyard: signed out \(user)\nlanyard: ending the browser's session: the sign-out page is open\n",
                "\(logout)")
            let asked = try await world.lanyard(login, forgetful)
            #expect(asked.status != 0, "\(asked)")
            #expect(try await world.lanyard(login, browser).status == 0)
            // If no browser can be opened, the page is shown, and everything else is done nevertheless.
            let shown = try await world.lanyard(["logout", "--browser"])
            #expect(shown.status == 0 && shown.errors.contains("to end the browser's session too, open"), "\(shown)")
            #expect(shown.errors.contains("/oauth2/v2.0/logout?") && shown.errors.contains(hint), "\(shown)")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
        }
    }

    @Test func `an issuer without a page to sign out at is no failure`() async throws {
        try await World.with(hosts: [.gitea]) { world in
            let url = GitHost.gitea.repository(in: world.sandbox)
            #expect(try await world.lanyard(["login", url], world.browser(as: "alice_contoso")).status == 0)
            let logout = try await world.lanyard(["logout", "--browser"], world.browser(as: "alice_contoso"))
            let lines = logout.errors.split(separator: "\n")
            #expect(logout.status == 0 && lines.count == 3, "\(logout)")
            #expect(lines.dropFirst().first?.contains("was not ended: ") == true, "\(logout)")
            #expect(lines.dropFirst().first?.hasSuffix("has no page to end a session at") == true, "\(logout)")
            #expect(lines.last == "lanyard: hint: sign out on its page in the browser", "\(logout)")
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
        }
    }

    @Test func `an authority that is down keeps nobody signed in`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            await world.sandbox.stop()
            let logout = try await world.lanyard(["logout", "--browser"])
            #expect(logout.status == 1, "\(logout)")
            #expect(
                logout.errors.hasPrefix("lanyard: signed out \(Self.alice)\nlanyard: error: the browser's session at "))
            #expect(try await AccountChoiceTests.accounts(world).isEmpty)
        }
    }
}
