import Foundation
import TestSupport
import Testing

/// The keyring services of Debian 12, 13 and sid: what lanyard stores comes back, and nothing that a service or its
/// windows do makes lanyard hang or say what isn't so.
@Suite(.enabled(if: !TestedProvider.all.isEmpty, "there are none: run script/test --with keyrings"))
struct KeyringProviderTests {
    private static let alice = "alice@contoso.example"
    private static let path = "common/hello.git"
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]
    private static let place = "protocol=https\nhost=git.example\n"
    /// Longer than any wait of lanyard's for a service, and much shorter than libsecret's own.
    private static let limit = Duration.seconds(10)

    private static func of(_ services: TestedProvider.Service...) -> [TestedProvider] {
        TestedProvider.all.filter { services.contains($0.service) }
    }

    @Test(arguments: TestedProvider.all)
    func `a sign-in is renewed with tokens for one use, and ends`(provider: TestedProvider) async throws {
        try await RunningProvider.with(provider) { running in
            let world = running.world
            let settings = #"{"access_token_lifetime": 200, "single_use_refresh_tokens": 1}"#
            try await world.sandbox.set(settings)
            var last = try await world.get(Self.path, world.browser(as: Self.alice))
            try #require(last.errors.hasSuffix("\nlanyard: signed in as \(Self.alice)\n"), "\(last)")
            for isAfterStart in [false, false, true, false] {
                if isAfterStart { try await running.restart() }
                let renewed = try await world.get(Self.path, Self.uncached)
                #expect(renewed.status == 0 && renewed.errors.isEmpty && renewed.duration < Self.limit, "\(renewed)")
                #expect(renewed.value("password") != last.value("password"))
                last = renewed
            }
            let out = try await world.lanyard(["logout", "--all"])
            #expect(out.status == 0 && out.duration < Self.limit, "\(out)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
            #expect(try await world.get(Self.path, Self.uncached).status == 2)
        }
    }

    /// Secrets that some format or protocol between lanyard and a file might change; the first ones must be stored.
    private static let secrets: [String] = {
        let ordinary = [
            "x", "correct horse", "p@ss:w0rd/?#[]!$&'()*+,;=", "100% %25 %s %n", "ünïcödé", "пароль", "密码", "🔑🔐",
            "a=b", "=", "a:b", "#", "# comment", ";", "[section]", "[keyring]", "secret=other", "null", "true", "0",
            "{\"a\": 1}", "<a>&amp;</a>", "'", "\"", "''\"\"", "`id`", "$(id)", "$HOME", "~", "*", "-n", "--help",
            "a,b",
            "a|b", "e\u{301}", "\u{E9}", String(repeating: "x", count: 1000), String(repeating: "x", count: 4000),
            String(repeating: "ü", count: 2000),
        ]
        let odd = [
            "back\\slash", "\\", "\\\\", "\\n", "\\t\\s\\r", "C:\\new\\table", "ends with \\", "\\u0041", " leading",
            "trailing ", "  ", "\ttab", "a\tb", "tab\t", "two\nlines", "\nfirst", "last\n", "a\n\nb", "a\n[section]\nb",
            "a\r\nb", "cr\r", "\u{1B}[31m", "\u{1}", "\u{7F}", "\u{85}\u{2028}", "\u{FEFF}bom", "a\u{200B}b",
            "{\n  \"type\": \"service_account\"\n}", "key=value\nno equals sign",
        ]
        return ordinary + odd
    }()
    private static let ordinary = 39

    @Test(arguments: TestedProvider.all)
    func `what was stored comes back after a start, or was refused with the reason`(
        provider: TestedProvider
    ) async throws {
        try await RunningProvider.with(provider) { running in
            let world = running.world
            try world.link("docker-credential-lanyard")
            let docker = world.folder + "/bin/docker-credential-lanyard"
            var stored: [Int] = []
            for (number, secret) in Self.secrets.enumerated() {
                let document = ["ServerURL": "https://r\(number).example", "Username": "u", "Secret": secret]
                let text = String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
                let ended = try await running.saving { try await world.tool(docker, ["store"], input: text) }
                #expect(ended.duration < Self.limit, "\(secret.debugDescription): \(ended)")
                if ended.status == 0 {
                    stored.append(number)
                } else {
                    #expect(number >= Self.ordinary && !(ended.output + ended.errors).isEmpty, "\(ended)")
                }
            }
            try await running.restart()
            for number in stored {
                let ended = try await world.tool(docker, ["get"], input: "https://r\(number).example")
                let answer = try? JSONDecoder().decode([String: String].self, from: Data(ended.output.utf8))
                #expect(answer?["Secret"] == Self.secrets[number], "\(Self.secrets[number].debugDescription): \(ended)")
            }
        }
    }

    @Test(arguments: TestedProvider.all)
    func `many at once are all answered`(provider: TestedProvider) async throws {
        try await RunningProvider.with(provider) { running in
            let world = running.world
            try await world.lanyard(["store"], input: Self.place + "username=u\npassword=one\n")
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<64 { group.addTask { try await world.lanyard(["get"], input: Self.place) } }
                return try await group.reduce(into: [Ended]()) { $0.append($1) }
            }
            for ended in answers { #expect(ended.value("password") == "one", "\(ended)") }
        }
    }

    // MARK: Windows

    /// What happens to a window.
    enum Fate: String, CaseIterable, Sendable {
        case answered, dismissed, killed
    }

    /// Those whose windows open here: GTK of Debian sid has its pictures read within a namespace of its own, which no
    /// program within another suite's folder may make.
    private static let prompting = of(.gnomeKeyring).filter { $0.suite != "sid" }

    @Test(arguments: prompting, Fate.allCases)
    func `several wait for one window, and all end with it`(provider: TestedProvider, fate: Fate) async throws {
        try await RunningProvider.with(provider, hasDisplay: true) { running in
            let world = running.world
            try await world.lanyard(["store"], input: Self.place + "username=u\npassword=one\n")
            try await running.lock()
            try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await world.lanyard(["get"], running.display, input: Self.place) }
                }
                try await running.window(Self.unlocking)
                switch fate {
                case .answered: try await running.type(KeyringFixture.password, inWindow: Self.unlocking)
                case .dismissed: try await running.press("Escape", inWindow: Self.unlocking)
                case .killed: running.kill()
                }
                let start = ContinuousClock.now
                for try await ended in group {
                    #expect(ContinuousClock.now - start < Self.limit, "\(ended)")
                    #expect((ended.value("password") == "one") == (fate == .answered), "\(ended)")
                    #expect(ended.errors.isEmpty == (fate == .answered), "\(ended)")
                }
            }
        }
    }

    private static let unlocking = "Unlock"

    @Test(arguments: of(.keePassXC), Fate.allCases)
    func `an access that KeePassXC asks about ends with its window`(provider: TestedProvider, fate: Fate) async throws {
        try await RunningProvider.with(provider, confirms: true, hasDisplay: true) { running in
            let world = running.world
            try await world.lanyard(["store"], running.display, input: Self.place + "username=u\npassword=one\n")
            async let answer = world.lanyard(["get"], running.display, input: Self.place)
            switch fate {
            case .answered: try await running.press("Return", inWindow: Self.accessing)
            case .dismissed: try await running.press("Escape", inWindow: Self.accessing)
            case .killed:
                try await running.window(Self.accessing)
                running.kill()
            }
            let start = ContinuousClock.now
            let ended = try await answer
            #expect(ContinuousClock.now - start < Self.limit, "\(ended)")
            #expect((ended.value("password") == "one") == (fate == .answered), "\(ended)")
            #expect(ended.errors.isEmpty == (fate == .answered), "\(ended)")
        }
    }

    private static let accessing = "Access Request"
    private static let deleting = "Delete"

    @Test(arguments: of(.keePassXC), Fate.allCases)
    func `erase says what was kept in KeePassXC's window`(provider: TestedProvider, fate: Fate) async throws {
        try await RunningProvider.with(provider, confirms: true, hasDisplay: true) { running in
            let world = running.world
            let entry = Self.place + "username=u\npassword=one\n"
            try await world.lanyard(["store"], running.display, input: entry)
            async let answer = world.lanyard(["erase"], running.display, input: entry)
            // It asks for access first.
            async let allowed: Void = running.press("Return", inWindow: Self.accessing)
            switch fate {
            case .answered: try await running.press("Tab", "Return", inWindow: Self.deleting)
            case .dismissed: try await running.press("Escape", inWindow: Self.deleting)
            case .killed:
                try await running.window(Self.deleting)
                running.kill()
            }
            try await allowed
            let start = ContinuousClock.now
            let ended = try await answer
            #expect(ContinuousClock.now - start < Self.limit, "\(ended)")
            #expect(ended.errors.isEmpty == (fate == .answered), "\(ended)")
        }
    }
}
