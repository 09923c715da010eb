import Foundation
import TestSupport
import Testing

/// What tools report about tokens they were given: a token is recognised by itself, whatever else the report says.
@Suite struct TokenReportTests {
    private static let alice = "alice_contoso"
    private static let bob = "bob_contoso"

    /// A host like GitHub, whose tokens are endless, with a rule for each of these user names; nil for a rule without.
    private static func withForge(
        users: [String?], forwarding: Bool = false,
        _ body: @escaping @Sendable (World, Forge) async throws -> Void
    ) async throws {
        try await World.with { world in
            let host = world.sandbox.forge
            let place = host.url.replacing("https://", with: "")
            for user in users {
                try world.configure(
                    after: """
                        [[rule]]
                        url = "https://\(user.map { "\($0)@" } ?? "")\(place)"
                        authority = "\(host.url)"
                        kind = "github"
                        client-id = "\(host.clientID)"
                        scopes = ["repo"]

                        """)
            }
            if forwarding { try world.configure(forward: "devbox", urls: [host.url]) }
            // Tokens without an end, which can't be renewed.
            try await world.sandbox.set(#"{"device_code_interval": 1, "offline_access": 0}"#)
            try await body(world, Forge(place: place))
        }
    }

    struct Forge: Sendable {
        /// The host and its port.
        let place: String

        func url(_ user: String? = nil) -> String {
            "https://\(user.map { "\($0)@" } ?? "")\(place)/contoso/hello.git"
        }

        /// Signs a user in, and returns the token that git gets.
        func token(of user: String, _ world: World) async throws -> String {
            try await world.signInByDevice(url(user), as: user)
            let got = try await world.lanyard(["get"], input: "url=\(url(user))\n")
            return try #require(got.value("password"), "\(got)")
        }

        /// Reports a password as git 2.45 does: with the user name that it was given.
        func report(_ verb: String, _ password: String, as user: String, _ world: World) async throws {
            let ended = try await world.lanyard(
                [verb], input: "protocol=https\nhost=\(place)\nusername=\(user)\npassword=\(password)\n")
            #expect(ended.status == 0 && ended.output.isEmpty && ended.errors.isEmpty, "\(ended)")
        }
    }

    /// Returns the labels and attributes of all passwords in the keyring.
    private static func passwords(_ world: World) async throws -> String {
        let found = try await world.keyring.secretTool(["search", "--all", "xdg:schema", "org.git.Password"])
        return found.output + found.errors
    }

    @Test func `a token of a rule with a user name is no password, and is dropped when it is refused`() async throws {
        try await Self.withForge(users: [Self.alice]) { world, forge in
            let token = try await forge.token(of: Self.alice, world)
            for user in ["x-access-token", Self.alice, "somebody"] {
                try await forge.report("store", token, as: user, world)
            }
            #expect(try await Self.passwords(world).isEmpty)
            let nobody = try await world.lanyard(["get"], input: "url=\(forge.url())\n")
            #expect(nobody.status == 0 && nobody.output.isEmpty, "\(nobody)")

            try await forge.report("erase", "another", as: "x-access-token", world)
            #expect(
                try await world.lanyard(["get"], input: "url=\(forge.url(Self.alice))\n").value("password") == token)
            try await forge.report("erase", token, as: "x-access-token", world)
            let refused = try await world.lanyard(["get"], input: "url=\(forge.url(Self.alice))\n")
            #expect(refused.status == 2 && refused.hasNoCredential, "\(refused)")
            // The remedy works as it is printed.
            #expect(refused.errors.contains("lanyard login https://\(Self.alice)@\(forge.place)/contoso/hello.git\n"))
            // The token is still known by itself.
            try await forge.report("store", token, as: "x-access-token", world)
            #expect(try await Self.passwords(world).isEmpty)
        }
    }

    @Test func `a real git leaves no password of a token, and recovers once it is revoked`() async throws {
        try await Self.withForge(users: [Self.alice]) { world, forge in
            let token = try await forge.token(of: Self.alice, world)
            let url = forge.url(Self.alice)
            let clone = try await world.git(["clone", "-q", url, "hello"])
            #expect(clone.status == 0, "\(clone)")
            #expect(try await Self.passwords(world).isEmpty)
            let host = world.sandbox.forge
            let revoked = try await world.runInside(
                "curl",
                [
                    "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                    "--cacert", world.sandbox.caFile, "--request", "DELETE", "--user",
                    "\(host.clientID):\(host.clientSecret)", "--data", "@-",
                    "\(host.url)/api/v3/applications/\(host.clientID)/token",
                ], input: #"{"access_token":"\#(token)"}"#)
            #expect(revoked.output == "204", "\(revoked)")
            _ = try await world.git(["-C", "hello", "fetch"])
            let listed = try await world.lanyard(["cache", "list"])
            #expect(!listed.output.contains("valid until it is revoked"), "\(listed)")
            try await world.signInByDevice(url, as: Self.alice)
            let fetch = try await world.git(["-C", "hello", "fetch", "-q"])
            #expect(fetch.status == 0, "\(fetch)")
            #expect(try await world.stored("accesstoken") != token)
        }
    }

    @Test func `a token is no password in any form or place, even when nobody has it any more`() async throws {
        try await Self.withForge(users: [Self.alice]) { world, forge in
            let token = try await forge.token(of: Self.alice, world)
            let basic = Data("x:\(token)".utf8).base64EncodedString()
            let ways = [
                "username=x\npassword=\(token)\n", "username=\(token)\npassword=x-oauth-basic\n",
                "username=x\npassword=Bearer \(token)\n",
                "capability[]=authtype\nauthtype=Bearer\ncredential=\(token)\n",
                "capability[]=authtype\nauthtype=token\ncredential=\(token)\n",
                "capability[]=authtype\nauthtype=Basic\ncredential=\(basic)\n",
            ]
            for isSignedOut in [false, true] {
                if isSignedOut { #expect(try await world.lanyard(["logout", "--all"]).status == 0) }
                for place in ["protocol=https\nhost=\(forge.place)\n", "protocol=https\nhost=other.example\npath=a\n"] {
                    for way in ways {
                        let ended = try await world.lanyard(["store"], input: place + way)
                        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
                    }
                }
                #expect(try await Self.passwords(world).isEmpty)
                let found = try await world.keyring.secretTool(["search", "--all", "kind", "authorization"])
                #expect(found.output.isEmpty, "\(found)")
            }
            // Whoever relies on it being kept is told that it isn't.
            let login = #"{"ServerURL":"registry.example","Username":"u","Secret":"\#(token)"}"#
            try world.link("docker-credential-lanyard")
            let kept = try await world.runInside(
                "\(world.folder)/bin/docker-credential-lanyard", ["store"], input: login)
            #expect(kept.status == 1 && kept.output.contains("is not kept as a password"), "\(kept)")
        }
    }

    @Test func `a refused token is dropped whosever it is, and no other`() async throws {
        try await Self.withForge(users: [nil]) { world, forge in
            let tokens = [
                try await forge.token(of: Self.alice, world), try await forge.token(of: Self.bob, world),
            ]
            let current = try await world.lanyard(["get"], input: "url=\(forge.url())\n").value("password")
            let other = try #require(tokens.first { $0 != current })
            try await forge.report("erase", other, as: "x-access-token", world)
            #expect(try await world.lanyard(["get"], input: "url=\(forge.url())\n").value("password") == current)
            let refused = tokens[0] == other ? Self.alice : Self.bob
            let got = try await world.lanyard(["get"], input: "url=\(forge.url(refused))\n")
            #expect(got.status == 2 && got.hasNoCredential, "\(got)")
        }
    }

    @Test func `without a secret only the current account's token is dropped`() async throws {
        try await Self.withForge(users: [nil]) { world, forge in
            let tokens = [
                Self.alice: try await forge.token(of: Self.alice, world),
                Self.bob: try await forge.token(of: Self.bob, world),
            ]
            try world.link("docker-credential-lanyard")
            let current = try await world.lanyard(["get"], input: "url=\(forge.url())\n").value("password")
            let ended = try await world.runInside(
                "\(world.folder)/bin/docker-credential-lanyard", ["erase"], input: forge.place)
            #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
            for (user, token) in tokens {
                let got = try await world.lanyard(["get"], input: "url=\(forge.url(user))\n")
                #expect(got.value("password") == (token == current ? nil : token), "\(user): \(got)")
            }
        }
    }

    @Test func `through an agent a refused token is dropped whosever it is`() async throws {
        try await Self.withForge(users: [nil], forwarding: true) { world, forge in
            let tokens = [
                Self.alice: try await forge.token(of: Self.alice, world),
                Self.bob: try await forge.token(of: Self.bob, world),
            ]
            try await world.withAgent { far in
                let current = try await far.get(forge.url()).value("password")
                for (user, token) in tokens where token != current {
                    let input = "url=\(forge.url())\nusername=x-access-token\npassword="
                    #expect(try await far.lanyard(["erase"], input: "\(input)another\n").status == 0)
                    #expect(try await far.get(forge.url(user)).value("password") == token)
                    #expect(try await far.lanyard(["erase"], input: "\(input)\(token)\n").status == 0)
                    let after = try await far.get(forge.url(user))
                    #expect(after.status == 2 && after.hasNoCredential, "\(after)")
                }
                #expect(try await far.get(forge.url()).value("password") == current)
            }
        }
    }

    @Test func `every remedy names the user in the rule's URL`() async throws {
        try await World.with(hosts: [.gitLab]) { world in
            let place = world.sandbox.issuer.url.replacing("https://", with: "")
            let own = "https://\(Self.alice)@\(place)"
            let config = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try config.replacing("url = \"https://\(place)", with: "url = \"\(own)")
                .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let url = "\(own)/contoso/hello.git"
            let typed = "lanyard login \(url)"
            let nobody = try await world.lanyard(["get"], input: "url=\(url)\n")
            #expect(nobody.status == 2 && nobody.errors.contains(typed), "\(nobody)")
            let explained = try await world.lanyard(["explain", url])
            #expect((explained.output + explained.errors).contains(typed), "\(explained)")
            let other = try await world.lanyard(["get"], world.browser(as: Self.bob), input: "url=\(url)\n")
            #expect(other.errors.contains("\(typed) "), "\(other)")
            #expect(!other.errors.contains("name that in the URL"), "\(other)")
            for line in other.errors.split(separator: "\n") where line.contains("lanyard login http") {
                #expect(line.contains(own), "\(line)")
            }
            let mine = try await world.lanyard(["login", url], world.browser(as: Self.alice))
            #expect(mine.status == 0, "\(mine)")
        }
    }

    @Test func `a token that was renewed a moment ago is no password`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let path = "common/hello.git"
            let first = try await world.get(path, world.browser(as: "alice@contoso.example"))
            let old = try #require(first.value("password"), "\(first)")
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            let new = try #require(try await world.get(path).value("password"))
            #expect(new != old)
            for token in [old, new] {
                let ended = try await world.lanyard(
                    ["store"], input: "url=https://git.example/\nusername=x\npassword=\(token)\n")
                #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
            }
            #expect(try await Self.passwords(world).isEmpty)
            #expect(try await world.get(path).value("password") == new)
        }
    }
}
