import TestSupport
import Testing

/// Invalid requests.
@Suite struct BadInputTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let input: [UInt8]
        let status: Int32
        let error: String
        var testDescription: String { name }

        init(_ name: String, _ input: String, _ status: Int32, _ error: String) {
            self.init(name, Array(input.utf8), status, error)
        }

        init(_ name: String, _ input: [UInt8], _ status: Int32, _ error: String) {
            self.name = name
            self.input = input
            self.status = status
            self.error = error
        }
    }

    static let unreadable = "lanyard: error: the request cannot be read: "
    static let cases = [
        Case("a line without =", "host\n", 1, unreadable + "a line is not of the form key=value"),
        Case("a NUL", "protocol=https\nhost=ex\0ample.com\n", 1, unreadable + "a value holds a NUL byte"),
        Case(
            "an over-long line", "host=" + String(repeating: "a", count: 70_000) + "\n", 1,
            unreadable + "a line has more"),
        Case("over-long input", String(repeating: "a=1\n", count: 300_000), 1, unreadable + "it is longer than 1 MiB"),
        Case("bytes that are not UTF-8", [0x61, 0x3D, 0xFF, 0x0A], 1, unreadable + "it is not UTF-8"),
        Case(
            "a carriage return in the host", "protocol=https\nhost=a\rb\n", 1,
            unreadable + "a value holds a NUL byte or a carriage return"),
        Case(
            "an escape sequence in the user name", "protocol=https\nhost=h\nusername=\u{1B}[2J\n", 1,
            "lanyard: error: the request's `username` is not valid"),
        Case(
            "a newline in a URL", "url=https://h%0ahost=victim/\n", 1,
            "lanyard: error: the request's `url` is not valid"),
        Case("no host", "protocol=https\n", 1, "lanyard: error: the request names no host"),
        Case("no protocol", "host=example.com\n", 1, "lanyard: error: the request names no protocol"),
        Case("nothing at all", "", 1, "lanyard: error: the request names no host"),
        Case("a host nobody mapped", "protocol=https\nhost=example.com\n", 0, ""),
        Case(
            "a token for a host that is not mapped to it",
            "protocol=https\nhost=evil.example\nauthority=https://login.microsoftonline.com/common\nscope[]=https://graph.microsoft.com/User.Read\n",
            1, "lanyard: error: evil.example is not mapped to the resource of https://graph.microsoft.com/User.Read"),
        Case(
            "an authority that nobody knows",
            "authority=https://login.evil.example/common\nclient_id=c\nscope[]=https://graph.microsoft.com/User.Read\n",
            1,
            "lanyard: error: no plugin supports the authority https://login.evil.example/common"),
        Case(
            "an authority without a scope", "authority=https://login.microsoftonline.com/common\n", 1,
            "lanyard: error: a token needs both an authority and a scope"),
        Case(
            "no client ID", "authority=https://login.microsoftonline.com/common\nscope[]=User.Read\n", 1,
            "lanyard: error: no client ID is configured for https://login.microsoftonline.com/common"),
    ]

    @Test func `each gives one clear line and a hint, and nothing on stdout`() async throws {
        try await World.with { world in
            let kept = "protocol=https\nhost=kept.example\nusername=u\npassword=p\n"
            #expect(try await world.lanyard(["store"], input: kept).status == 0)
            for example in Self.cases {
                let ended = try await run(
                    "\(world.folder)/bin/lanyard", ["get"], bytes: example.input,
                    environment: world.environment.merging(["LANYARD_TRACE": "plugin"]) { $1 })
                #expect(ended.status == example.status, "\(example.name): \(ended)")
                #expect(ended.hasNoCredential, "\(example.name): \(ended)")
                let errors = ended.errors.split(separator: "\n").filter { $0.hasPrefix("lanyard: error: ") }
                #expect(errors.count == (example.error.isEmpty ? 0 : 1), "\(example.name): \(ended)")
                #expect(ended.errors.hasPrefix(example.error), "\(example.name): \(ended)")
                #expect(example.error.isEmpty || ended.errors.contains("lanyard: hint: "), "\(example.name): \(ended)")
                #expect(!ended.errors.contains("trace: "), "\(example.name) started a plugin")
            }
            #expect(
                try await world.lanyard(["get"], input: "protocol=https\nhost=kept.example\n").value("password") == "p")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `a wrong configuration names the file, the line and the nearest key`() async throws {
        try await World.with { world in
            try world.configure(before: "flow = \"auto\"\ntimeout = \"x\"")
            let ended = try await world.get("common/hello.git")
            #expect(ended.status == 1)
            #expect(ended.hasNoCredential)
            #expect(
                ended.errors == """
                    lanyard: error: \(world.configFile):2: `timeout` must be a whole number
                    lanyard: hint: what may stand there: man 5 lanyard-config

                    """)
        }
    }

    @Test func `what a later version wrote is told of, and costs only what depends on it`() async throws {
        try await World.with { world in
            let password = "protocol=https\nhost=kept.example\nusername=u\n"
            try await world.lanyard(["store"], input: password + "password=p\n")
            try world.configure(before: "browsr = \"x\"")
            try world.configure(after: "[[later]]\nname = \"x\"\n")
            try world.configure(
                rule: "\(world.sandbox.resource)/later", at: "contoso.example", "only-from = \"10.0.0.0/8\"")
            let warning =
                "lanyard: warning: \(world.configFile):1: unknown key `browsr`\nlanyard: did you mean `browser`?\n"
            let kept = try await world.lanyard(["get"], input: password)
            #expect(kept.value("password") == "p" && kept.errors.hasPrefix(warning), "\(kept)")
            let token = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(token.value("password")?.hasPrefix("ey") == true, "\(token)")
            let refused = try await world.get("later/hello.git")
            #expect(refused.status == 1 && refused.hasNoCredential, "\(refused)")
            #expect(refused.errors.contains("has an unknown key: only-from"), "\(refused)")
            let doctor = try await world.lanyard(["doctor"])
            for key in ["browsr", "later", "only-from"] {
                #expect(doctor.output.contains("unknown key `\(key)`"), "\(doctor)")
            }
            // Commands keep what they don't know.
            let before = try world.configText()
            #expect(try await world.lanyard(["config", "set", "timeout", "77"]).status == 0)
            #expect(try await world.lanyard(["config", "unset", "timeout"]).status == 0)
            #expect(try world.configText() == before)
            let removed = try await world.lanyard(["rule", "remove", "\(world.sandbox.resource)/later"])
            let after = try world.configText()
            #expect(removed.status == 0 && !after.contains("only-from") && after.contains("[[later]]"), "\(removed)")
        }
    }
}
