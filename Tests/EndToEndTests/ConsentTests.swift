import Foundation
import TestSupport
import Testing

/// Consent to an application's permissions, one at a time.
@Suite struct ConsentTests {
    private static let alice = "alice@contoso.example"
    private static let graph = "https://graph.microsoft.com"

    @Test func `more scopes than were consented to need the user, and then add to the others`() async throws {
        try await World.with { world in
            let read = ["\(Self.graph)/User.Read"]
            let more = read + ["\(Self.graph)/Mail.Read"]
            let browser = world.browser(as: Self.alice)
            _ = try await world.get(at: "common", scopes: read, browser)
            let refused = try await world.get(at: "common", scopes: more)
            #expect(refused.status == 2 && refused.hasNoCredential, "\(refused)")
            #expect(
                refused.errors.hasPrefix(
                    "lanyard: error: interaction required (consent): alice@contoso.example at https://"), "\(refused)")
            #expect(refused.errors.contains("AADSTS65001"), "\(refused)")
            #expect(
                refused.errors.contains(
                    "hint: sign in again and consent, or ask an administrator to consent to the application"),
                "\(refused)")
            #expect(try await world.get(at: "common", scopes: read).status == 0, "what was granted before still is")

            let granted = try await world.get(at: "common", scopes: more, browser)
            #expect(granted.status == 0, "\(granted)")
            try await world.sandbox.clearLog()
            for scopes in [read, more, ["\(Self.graph)/Mail.Read"]] {
                let silent = try await world.get(at: "common", scopes: scopes)
                #expect(silent.value("password") == granted.value("password"), "\(scopes): \(silent)")
            }
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            #expect(try await world.get("common/hello.git").status == 0, "the other resource's consent stays")
        }
    }

    @Test func `another API is consented to at the same sign-in, and no page is shown for it later`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let graph = "https://graph.microsoft.com/User.Read"
            let login = try await world.lanyard(
                ["login", url, "--also-consent", graph], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let asked = try await world.sandbox.authorityRequests()
            let scope = try #require(asked.signIns.first?["scope"])
            #expect(scope.hasSuffix(" \(graph)"), "\(scope)")
            let redeemed = asked.first { $0.grantType == "authorization_code" }?.form?["scope"]
            #expect(redeemed.map { !$0.contains("graph") } == true, "\(redeemed ?? "")")
            let other = try await world.get(at: "common", scopes: [graph])
            #expect(!other.hasNoCredential, "\(other)")
            let wrong = try await world.lanyard(["login", url, "--also-consent", "a\"b"])
            #expect(wrong.status == 64, "\(wrong)")
        }
    }

    @Test(arguments: [
        (["--also-consent", "https://graph.microsoft.com/User.Read"], "can't ask for consent to other APIs"),
        (["--prompt", "login"], "can't force a prompt"),
        (["--query-parameter", "dc=x"], "can't add parameters to its sign-in page"),
    ])
    func `what only a page can do is no sign-in with a code`(options: [String], reason: String) async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let refused = try await world.lanyard(["login", url, "--flow", "device-code"] + options)
            #expect(refused.status != 0 && refused.errors.contains(reason), "\(refused)")
            #expect(refused.errors.contains("leave out \(options[0])"), "\(refused)")
            #expect(refused.errors.contains("or sign in in a browser: --flow browser\n"), "\(refused)")
            let asked = try await world.sandbox.authorityRequests()
            #expect(!asked.contains { $0.path.contains("devicecode") }, "\(asked)")
        }
    }

    @Test func `explain names the page or the error that a sign-in has, if a rule has parameters for the page`()
        async throws
    {
        try await World.with { world in
            let url = "https://git.example"
            try world.configure(rule: url, at: "common", #"query-parameters = { dc = "x" }"#)
            let error = "a sign-in with a code can't add parameters to its sign-in page"
            let page = "ask you to sign in on a page whose address you paste"
            for (flow, words) in [("device-code", error), ("auto", page)] {
                let file = try String(contentsOfFile: world.configFile, encoding: .utf8)
                try world.configure(before: "flow = \"\(flow)\"")
                let terminal = try PseudoTerminal(columns: 200, rows: 60)
                let ended = try await terminal.run(
                    "\(world.folder)/bin/lanyard", ["explain", url], environment: world.environment)
                #expect(ended.status == 0 && ended.output.contains(words), "\(ended)")
                #expect(!ended.output.contains("with a code to enter"), "\(ended)")
                try file.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            }
            let login = try await world.lanyard(["login", url, "--flow", "device-code"])
            #expect(login.status == 1 && login.errors.contains(error), "\(login)")
        }
    }

    @Test func `declined scopes are told, and nothing less is handed out`() async throws {
        try await World.with { world in
            let client = "dec11e00-0000-4000-8000-0000000000c3"
            let scopes = ["api://sandbox-git/Repo.Read", "api://sandbox-git/Repo.Write"]
            for browser in [world.browser(as: Self.alice), [:]] {
                let ended = try await world.get(at: "common", scopes: scopes, client: client, browser)
                #expect(ended.status == 3 && ended.hasNoCredential, "\(ended)")
                #expect(
                    ended.errors.contains(
                        "lanyard: error: declined: api://sandbox-git/Repo.Write; granted: api://sandbox-git/Repo.Read\n"
                    ),
                    "\(ended)")
            }
            let less = try await world.get(at: "common", scopes: [scopes[0]], client: client)
            #expect(less.status == 0, "what was granted is kept: \(less)")
        }
    }

    @Test func `a user who declines all ends it`() async throws {
        try await World.with { world in
            let ended = try await world.get(at: "common", world.browser(as: Self.alice, "--decline"))
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.contains("AADSTS65004"), "\(ended)")
        }
    }
}
