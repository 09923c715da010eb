import Foundation
import TestSupport
import Testing

/// Authorities, keyrings and users that fail lanyard.
@Suite struct BadDayTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let name: String
        let fault: String
        let error: String
        var testDescription: String { name }
    }

    static let authorityFaults = [
        Fault(name: "500", fault: #"{"path": "/token", "status": 500, "times": 9}"#, error: "lanyard: error: "),
        Fault(
            name: "429", fault: #"{"path": "/token", "status": 429, "headers": {"Retry-After": "7"}, "times": 9}"#,
            error: "lanyard: hint: try again in 7 seconds"),
        Fault(
            name: "HTML",
            fault:
                #"{"path": "/token", "status": 200, "body": "<html>hi</html>", "content_type": "text/html", "times": 9}"#,
            error: "lanyard: error: "),
        Fault(
            name: "truncated JSON", fault: #"{"path": "/token", "truncate": true, "times": 9}"#,
            error: "lanyard: error: "),
        Fault(name: "no answer", fault: #"{"path": "/token", "close": true, "times": 9}"#, error: "lanyard: error: "),
        Fault(
            name: "a foreign issuer", fault: #"{"path": "/token", "issuer": "https://evil.example/v2.0", "times": 9}"#,
            error: "lanyard: error: "),
    ]

    @Test(arguments: authorityFaults)
    func `an authority that fails costs nothing that is stored`(example: Fault) async throws {
        try await World.with { world in
            let sandbox = world.sandbox
            try await sandbox.set(#"{"access_token_lifetime": 200}"#)
            let first = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(first.status == 0, "\(first)")
            // The stored token has less than five minutes left: it is due for renewal, but is used while the authority
            // is down.
            try await sandbox.fault(example.fault)
            let down = try await world.get("common/hello.git", lines: "claims={\"access_token\":{\"x\":null}}\n")
            #expect(down.status == 1, "\(down)")
            #expect(down.hasNoCredential)
            #expect(down.errors.contains(example.error), "\(down)")
            #expect(
                down.errors.split(separator: "\n").filter { $0.hasPrefix("lanyard: error: ") }.count == 1, "\(down)")
            #expect(down.errors.contains("lanyard: hint: "), "\(down)")
            try await sandbox.clearFaults()
            let after = try await world.get("common/hello.git")
            #expect(after.status == 0 && after.value("password") != nil, "\(after)")
        }
    }

    @Test(arguments: [
        Fault(
            name: "a wrong nonce", fault: #"{"path": "/token", "nonce": "wrong", "times": 9}"#,
            error: "the ID token belongs to another sign-in"),
        Fault(
            name: "a foreign issuer", fault: #"{"path": "/token", "issuer": "https://evil.example/v2.0", "times": 9}"#,
            error: "issuer"),
    ])
    func `a sign-in with a forged answer stores nothing`(example: Fault) async throws {
        try await World.with { world in
            try await world.sandbox.fault(example.fault)
            let ended = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(ended.status == 1, "\(ended)")
            #expect(ended.hasNoCredential)
            #expect(ended.errors.contains(example.error), "\(ended)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
        }
    }

    @Test func `an unexpired token serves while the authority is down`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let first = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            try await world.sandbox.fault(#"{"path": "/token", "status": 503, "times": 9}"#)
            let second = try await world.get("common/hello.git")
            #expect(second.value("password") == first.value("password"))
            #expect(second.status == 0)
        }
    }

    @Test(arguments: ["--decline", "--close"])
    func `a user who declines or closes the page ends it`(option: String) async throws {
        try await World.with { world in
            try world.configure(before: "timeout = 10")
            let ended = try await world.get(
                "common/hello.git", world.browser(as: "alice@contoso.example", option))
            #expect(ended.status == 1, "\(ended)")
            #expect(ended.lines == ["quit=1"])
            #expect(ended.errors.contains("lanyard: error: "), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: to try again: lanyard login "), "\(ended)")
        }
    }

    struct Keyring: CustomTestStringConvertible, Sendable {
        let state: KeyringFixture.State
        let error: String
        var testDescription: String { "\(state)" }
    }

    static let keyrings = [
        Keyring(state: .locked, error: "the keyring is locked"),
        Keyring(state: .neverUnlocked, error: "the keyring is locked"),
        Keyring(state: .noKeyring, error: "there is no default keyring yet"),
        Keyring(state: .noBus, error: "there is no D-Bus session, so no keyring can be reached"),
        Keyring(state: .staleBus, error: "there is no D-Bus session, so no keyring can be reached"),
        Keyring(state: .noProvider, error: "no keyring service is installed or running"),
        Keyring(state: .hung, error: "the keyring service does not answer"),
    ]

    @Test(arguments: keyrings)
    func `without a usable keyring lanyard says so, keeps git from asking, and starts no plugin`(example: Keyring)
        async throws
    {
        try await World.with(example.state) { world in
            let browser = world.browser(as: "alice@contoso.example").merging(["LANYARD_TRACE": "plugin"]) { $1 }
            for path in ["common/hello.git"] {
                let ended = try await world.get(path, browser)
                #expect(ended.status == 1 && ended.lines == ["quit=1"], "\(ended)")
                #expect(ended.errors.hasPrefix("lanyard: error: \(example.error)\nlanyard: hint: "), "\(ended)")
                #expect(!ended.errors.contains("trace: "))
            }
            let explained = try await world.lanyard(["explain", "\(world.sandbox.resource)/common/hello.git"], browser)
            #expect(explained.output.contains("lanyard would give no answer: \(example.error)"), "\(explained)")
            let password = try await world.lanyard(["get"], input: "protocol=https\nhost=example.com\n")
            #expect(password.status == 0 && password.output.isEmpty, "\(password)")
            let store = try await world.lanyard(
                ["store"], input: "protocol=https\nhost=example.com\nusername=u\npassword=p\n")
            #expect(store.status == 1, "\(store)")
            #expect(store.errors.hasPrefix("lanyard: error: \(example.error)\n"), "\(store)")
            let token = try await world.lanyard(["token", "\(world.sandbox.resource)/common"])
            // Nothing is stored if there has never been a keyring; that isn't a failure of the keyring.
            #expect(token.status == (example.state == .noKeyring ? 2 : 1), "\(token)")
        }
    }

    @Test(arguments: ["plugin-hangs", "plugin-dies", "plugin-floods", "plugin-garbage", "plugin-lies"])
    func `a plugin that fails gives one clear error`(behaviour: String) async throws {
        try await World.with { world in
            let script =
                switch behaviour {
                case "plugin-hangs": "sleep 600"
                case "plugin-dies": "printf 'event=result\\naccess_to'"
                case "plugin-floods": "yes event=progress"
                case "plugin-garbage": "head -c 100000 /dev/urandom"
                default:
                    "printf 'event=result\\naccess_token=t\\nexpires_in=3600\\nscope[]=x\\nhome_account_id=a.b\\nenvironment=evil.example\\nrealm=r\\nusername=u\\n\\n'; sleep 1"
                }
            let place = try world.install(
                plugin: "broken", script: script,
                manifest: """
                    kind = "aad"
                    [[authority]]
                    hosts = ["*"]
                    path = "/broken"
                    """)
            try world.configure(before: "timeout = 10")
            try world.configure(rule: "https://broken.example", at: "broken", client: "c", scope: "x")
            let ended = try await world.lanyard(
                ["get"], place.merging(["BROWSER": "true"]) { $1 },
                input: "url=https://broken.example/\n", timeout: .seconds(120))
            #expect(ended.status == 1, "\(ended)")
            #expect(ended.output.isEmpty || ended.lines == ["quit=1"], "\(ended)")
            #expect(
                ended.errors.split(separator: "\n").filter { $0.hasPrefix("lanyard: error: ") }.count == 1, "\(ended)")
            #expect(ended.errors.contains("broken"), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: "), "\(ended)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
        }
    }
}
