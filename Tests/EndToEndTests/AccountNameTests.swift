import Foundation
import TestSupport
import Testing

/// How the user names an account: the start of its name suffices.
@Suite struct AccountNameTests {
    private static let alice = "alice@contoso.example"
    private static let bob = "bob@contoso.example"

    @Test func `the beginning of a name means an account if no other begins so`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, Self.bob)
            let url = "\(world.sandbox.resource)/common/hello.git"
            for name in ["al", "ALICE", "alice@con"] {
                let use = try await world.lanyard(["use", name])
                #expect(use.errors.hasPrefix("lanyard: using \(Self.alice) from now on\n"), "\(use)")
            }
            // The start of an identifier suffices, too.
            #expect(try await world.lanyard(["use", "b0b00"]).errors.contains("using \(Self.bob) "))
            let explained = try await world.lanyard(["explain", url, "--account", "al"])
            #expect(explained.output.contains("\(Self.alice) (named by --account)"), "\(explained)")
            let token = try await world.lanyard(["token", url, "--account", "al", "--decode", "--json"])
            #expect(token.output.contains("\"\(Self.alice)\""), "\(token)")
            let out = try await world.lanyard(["logout", "bo"])
            #expect(out.status == 0 && out.errors == "lanyard: signed out \(Self.bob)\n", "\(out)")
        }
    }

    @Test func `a beginning that several have is refused with the commands that name each`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            try await world.saveAccount("alina", "alina@contoso.example")
            for command in [["use", ""], ["logout", " "]] {
                let none = try await world.lanyard(command)
                #expect(none.status == 1 && none.errors.contains("has not signed in"), "\(none)")
            }
            let both = try await world.lanyard(["use", "ali"])
            #expect(both.status == 64 && both.output.isEmpty, "\(both)")
            #expect(both.errors.hasPrefix("lanyard: error: several accounts begin with ali\n"), "\(both)")
            for user in [Self.alice, "alina@contoso.example"] {
                #expect(both.errors.contains("lanyard use \(user)\n"), "\(both)")
            }
            let url = "\(world.sandbox.resource)/common/hello.git"
            let token = try await world.lanyard(["token", url, "--account", "ali"])
            #expect(token.status == 64 && token.output.isEmpty, "\(token)")
            #expect(token.errors.contains("several accounts begin with ali: \(Self.alice), alina@"), "\(token)")
            #expect(try await world.lanyard(["use", "alic"]).status == 0)
        }
    }

    @Test func `a mistyped name is answered with the nearest`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice, Self.bob)
            for (typed, meant) in [
                ("alcie", Self.alice), ("alice@contoso.exmaple", Self.alice), ("bbo@contoso.example", Self.bob),
            ] {
                let use = try await world.lanyard(["use", typed])
                #expect(use.status == 1 && use.errors.contains("the account \(typed) has not signed in\n"), "\(use)")
                #expect(use.errors.contains("lanyard: hint: did you mean: lanyard use \(meant)\n"), "\(use)")
            }
            // Other people, whatever of the address is the same.
            for other in ["somebody-else@northwind.example", "carol@contoso.example", "rob@contoso.example", "rob"]
                + ["alicia@contoso.example", "alice@northwind.example"]
            {
                let nobody = try await world.lanyard(["use", other])
                #expect(nobody.errors.hasSuffix("in\nlanyard: hint: see: lanyard status --accounts\n"), "\(nobody)")
            }
        }
    }

    @Test func `a whole address is nobody else's beginning`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            let out = try await world.lanyard(["logout", "alice@contoso.exam"])
            #expect(out.status == 1 && out.errors.contains("alice@contoso.exam has not signed in"), "\(out)")
            let url = "\(world.sandbox.resource)/common/hello.git"
            let token = try await world.lanyard(["token", url, "--account", "alice@contoso.exam"])
            #expect(token.status == 2 && token.output.isEmpty, "\(token)")
        }
    }

    @Test func `an account that has signed in elsewhere is told so`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            let url = "\(world.sandbox.resource)/b2c/hello.git"
            let use = try await world.lanyard(["use", "alice", url])
            #expect(use.status == 1, "\(use)")
            let error = "lanyard: error: \(Self.alice) has signed in, but not to \(world.sandbox.authority)"
            #expect(use.errors.hasPrefix(error), "\(use)")
            #expect(use.errors.hasSuffix("sign in there: lanyard login \(url) --account \(Self.alice)\n"), "\(use)")
        }
    }
}

extension World {
    /// Stores an account without a token.
    fileprivate func saveAccount(_ id: String, _ username: String) async throws {
        let host = sandbox.authority.dropFirst("https://".count)
        let record = [
            "home_account_id": "\(id).tenant", "environment": String(host), "realm": "tenant", "username": username,
            "authority_type": "MSSTS",
        ]
        let cache = try JSONSerialization.data(withJSONObject: ["Account": ["x": record]])
        let ended = try await keyring.run(
            Built.folder + "/StoreProbe", ["--group", "dev.lanyard", "save"],
            input: String(decoding: cache, as: UTF8.self))
        try #require(ended.status == 0, "\(ended)")
    }
}
