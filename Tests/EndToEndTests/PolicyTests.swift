import Foundation
import TestSupport
import Testing

/// Azure AD B2C: one policy for each thing that customers do.
@Suite struct PolicyTests {
    private static let erin = "erin@example.net"
    private static let tenant = "contosob2c.onmicrosoft.example"
    private static let scope = "https://\(tenant)/sandbox-git/Repo.Read"

    private static func login(_ world: World, _ policy: String, _ further: [String] = []) -> [String] {
        [
            "login", "--authority", "\(world.sandbox.authority)/tfp/\(tenant)/\(policy)", "--client-id",
            world.sandbox.b2cClientID, "--scope", scope,
        ] + further
    }

    private static func configure(_ world: World, _ url: String, _ path: String, _ further: String = "") throws {
        try world.configure(rule: url, at: path, client: world.sandbox.b2cClientID, scope: scope, further)
    }

    /// Returns a browser that presses "Forgot your password?" if it must sign in, and keeps its session.
    private static func forgetful(_ world: World) -> [String: String] {
        world.browser(as: erin, "--forgot-password --cookies \(world.folder)/cookies.json")
    }

    @Test func `a forgotten password is reset, and the sign-in goes on`() async throws {
        try await World.with { world in
            let reset = try await world.lanyard(
                Self.login(world, "B2C_1_susi", ["--reset-policy", "B2C_1_reset"]), Self.forgetful(world))
            #expect(reset.status == 0 && reset.errors.hasSuffix("lanyard: signed in as erin@example.net\n"), "\(reset)")
            // Each further page is announced with its reason; the first needs none.
            let notes = reset.errors.split(separator: "\n").filter {
                // A slow machine shows a reminder about the browser.
                $0.hasPrefix("lanyard: ") && !$0.hasPrefix("lanyard: if no page opened")
            }
            #expect(
                notes.map { $0.prefix(40) } == [
                    "lanyard: opening your browser to sign in", "lanyard: the password has to be reset fi",
                    "lanyard: opening your browser to sign in", "lanyard: the password is reset; now sign",
                    "lanyard: opening your browser to sign in", "lanyard: signed in as erin@example.net",
                ], "\(reset)")
            #expect(try await Self.policiesShown(world) == ["B2C_1_susi", "B2C_1_reset", "B2C_1_susi"])
            let accounts = try await world.lanyard(["status", "--accounts", "--json"])
            #expect(accounts.output.contains("-b2c_1_susi."), "\(accounts)")
            #expect(!accounts.output.contains("-b2c_1_reset."), "the other policy's account is not kept: \(accounts)")
            #expect(try await world.get("b2c/hello.git").status == 0)
        }
    }

    @Test func `git gets there by the rule's reset policy`() async throws {
        try await World.with { world in
            try Self.configure(
                world, "\(world.sandbox.resource)/b2c/hello.git", "tfp/\(Self.tenant)/B2C_1_susi",
                "reset-policy = \"B2C_1_reset\"")
            let cloned = try await world.git(
                ["-c", "credential.useHttpPath=true", "clone", "\(world.sandbox.resource)/b2c/hello.git"],
                Self.forgetful(world))
            #expect(cloned.status == 0, "\(cloned)")
            #expect(try await Self.policiesShown(world) == ["B2C_1_susi", "B2C_1_reset", "B2C_1_susi"])
        }
    }

    /// Returns the policies whose pages were opened, in order.
    private static func policiesShown(_ world: World) async throws -> [String] {
        try await world.sandbox.authorityRequests().filter { $0.method == "GET" && $0.path.hasSuffix("/authorize") }
            .compactMap { $0.path.split(separator: "/").dropFirst(2).first.map(String.init) }
    }

    @Test func `without a reset policy the error says how to name one`() async throws {
        try await World.with { world in
            let ended = try await world.lanyard(Self.login(world, "B2C_1_susi"), Self.forgetful(world))
            #expect(ended.status == 2, "\(ended)")
            #expect(ended.errors.contains("(AADB2C90118, correlation ID "), "\(ended)")
            #expect(ended.errors.contains("reset-policy = \"B2C_1_password_reset\""), "\(ended)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
        }
    }

    @Test(arguments: ["B2C_1_susi", "B2C_1_edit", "B2C_1_reset"])
    func `cancel on a policy's page is a cancellation`(policy: String) async throws {
        try await World.with { world in
            let ended = try await world.lanyard(
                Self.login(world, policy, ["--reset-policy", "B2C_1_reset"]), world.browser(as: Self.erin, "--cancel"))
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.contains("lanyard: error: the sign-in was cancelled"), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: to try again: lanyard login "), "\(ended)")
            #expect(ended.errors.hasSuffix(" --reset-policy B2C_1_reset\n"), "\(ended)")
        }
    }

    @Test func `each policy has an account of its own, and a rule finds its policy's`() async throws {
        try await World.with { world in
            let edited = try await world.lanyard(Self.login(world, "B2C_1_edit"), world.browser(as: Self.erin))
            #expect(edited.status == 0, "\(edited)")
            #expect(try await world.get("b2c/hello.git").status == 2, "another policy's account does not serve")
            let signedIn = try await world.get("b2c/hello.git", world.browser(as: Self.erin))
            #expect(signedIn.status == 0, "\(signedIn)")
            #expect(try await world.get("b2c/hello.git").value("password") == signedIn.value("password"))
            let accounts = try await world.lanyard(["status", "--accounts", "--json"])
            #expect(accounts.output.contains("-b2c_1_edit.") && accounts.output.contains("-b2c_1_susi."), "\(accounts)")
        }
    }

    @Test func `a custom domain with a policy named otherwise needs its kind, and no more`() async throws {
        try await World.with { world in
            let place = "\(Self.tenant)/customers"
            try Self.configure(world, "https://told.example", place, "kind = \"b2c\"")
            try Self.configure(world, "https://untold.example", place)
            let told = try await world.lanyard(["token", "https://told.example"], world.browser(as: Self.erin))
            #expect(told.status == 0, "\(told)")
            let untold = try await world.lanyard(["token", "https://untold.example"], world.browser(as: Self.erin))
            #expect(untold.status == 1 && untold.errors.contains("there is no issuer at"), "\(untold)")
        }
    }
}
