import Foundation
import TestSupport
import Testing

/// The parameters of a sign-in, from options, rules and pipes, as the authority receives them.
@Suite struct SignInParameterTests {
    private static let alice = "alice@contoso.example"

    @Test func `options reach the sign-in page`() async throws {
        try await World.with { world in
            let port = try await freePort()
            let ended = try await world.lanyard(
                [
                    "login", "\(world.sandbox.resource)/common/hello.git", "--domain-hint", "contoso.example",
                    "--login-hint", Self.alice, "--query-parameter", "dc=ESTS-1", "--query-parameter", "slice=a b&c",
                    "--redirect-port", "\(port)", "--prompt", "login",
                ], world.browser(as: Self.alice))
            #expect(ended.status == 0, "\(ended)")
            let requests = try await world.sandbox.authorityRequests()
            let page = try #require(requests.signIns.first)
            #expect(page["domain_hint"] == "contoso.example")
            #expect(page["login_hint"] == Self.alice)
            #expect(page["dc"] == "ESTS-1" && page["slice"] == "a b&c")
            #expect(page["prompt"] == "login")
            #expect(page["redirect_uri"] == "http://localhost:\(port)")
            let redeemed = requests.first { $0.grantType == "authorization_code" }
            #expect(redeemed?.form?["redirect_uri"] == "http://localhost:\(port)")
        }
    }

    @Test func `a rule's reach it too, and a pipe's win over them`() async throws {
        try await World.with { world in
            let port = try await freePort()
            try world.configure(
                rule: "\(world.sandbox.resource)/contoso/hello.git", at: "contoso.example",
                """
                domain-hint = "contoso.example"
                redirect-port = \(port)
                query-parameters = { dc = "ESTS-1", slice = "rule" }
                """)
            let ended = try await world.get(
                "contoso/hello.git", world.browser(as: Self.alice),
                lines: "query_parameter[]=slice=pipe\nlogin_hint=\(Self.alice)\n")
            #expect(ended.status == 0, "\(ended)")
            let page = try #require(try await world.sandbox.authorityRequests().signIns.first)
            #expect(page["domain_hint"] == "contoso.example" && page["login_hint"] == Self.alice)
            #expect(page["dc"] == "ESTS-1" && page["slice"] == "pipe")
            #expect(page["redirect_uri"] == "http://localhost:\(port)")
        }
    }

    static let refusals: [(option: [String], status: Int32, error: String)] = [
        (["--query-parameter", "state=1"], 64, "the parameter `state` can only be set by lanyard"),
        (
            ["--query-parameter", "CODE_challenge=1"], 64,
            "the parameter `CODE_challenge` can only be set by lanyard"
        ),
        (["--query-parameter", "P=b2c_1_x"], 1, "the parameter `P` can only be set by lanyard"),
        (["--query-parameter", "redirect_uri=https://evil.example"], 64, "the parameter `redirect_uri` can"),
        (["--query-parameter", "no value"], 64, "`no value` is not NAME=VALUE"),
        (["--query-parameter", "a b=1"], 64, "`a b=1` is not NAME=VALUE"),
        (["--redirect-port", "80"], 64, "a redirect port is a number from 1024 to 65535"),
        (["--redirect-port", "http"], 64, "a redirect port is a number from 1024 to 65535"),
        (["--domain-hint", "a b"], 64, "`a b` is not a domain"),
        (["--reset-policy", "../x"], 64, "`../x` is not the name of a policy"),
        (["--prompt", "often"], 64, "often"),
    ]

    @Test func `what can't be given is refused before anything is sent`() async throws {
        try await World.with { world in
            let browser = world.browser(as: Self.alice)
            for refusal in Self.refusals {
                let ended = try await world.lanyard(
                    ["login", "\(world.sandbox.resource)/common/hello.git"] + refusal.option, browser)
                #expect(ended.status == refusal.status && ended.output.isEmpty, "\(refusal.option): \(ended)")
                #expect(ended.errors.contains(refusal.error), "\(refusal.option): \(ended)")
            }
            for line in ["query_parameter[]=nonce=1", "prompt=often", "redirect_port=1", "domain_hint=a b"] {
                let ended = try await world.get("common/hello.git", browser, lines: line + "\n")
                #expect(ended.status == 1 && ended.hasNoCredential, "\(line): \(ended)")
                #expect(ended.errors.contains("lanyard: hint: "), "\(line): \(ended)")
            }
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `prompt none signs in with the browser's session or not at all`() async throws {
        try await World.with { world in
            let login = ["login", "\(world.sandbox.resource)/common/hello.git", "--prompt", "none"]
            let browser = world.browser(as: Self.alice, "--cookies \(world.folder)/cookies.json")
            let none = try await world.lanyard(login, browser)
            #expect(none.status == 2, "\(none)")
            #expect(none.errors.contains("AADSTS50058"), "\(none)")
            #expect(try await world.lanyard(Array(login.dropLast(2)), browser).status == 0)
            let again = try await world.lanyard(login, browser)
            #expect(again.status == 0, "\(again)")
            // `prompt=none` from a pipe never asks the user.
            let silent = try await world.get(at: "northwind.example", browser, lines: "prompt=none\n")
            #expect(silent.status == 2, "\(silent)")
        }
    }

    @Test(arguments: ["api://sandbox-git", "api://sandbox-git/"])
    func `a resource is short for its default scope, its own slash kept`(resource: String) async throws {
        try await World.with { world in
            let options = [
                "--authority", "\(world.sandbox.authority)/common", "--client-id", world.sandbox.clientID, "--resource",
                resource,
            ]
            let first = try await world.lanyard(["token"] + options, world.browser(as: Self.alice))
            #expect(first.status == 0 && first.lines.count == 1, "\(first)")
            let page = try #require(try await world.sandbox.authorityRequests().signIns.first)
            #expect(page["scope"]?.split(separator: " ").contains("\(resource)/.default") == true, "\(page)")
            let second = try await world.lanyard(["token"] + options)
            #expect(second.output == first.output)
        }
    }
}

/// Returns a port that is probably free.
private func freePort() async throws -> Int {
    Int.random(in: 20_000..<32_000)
}
