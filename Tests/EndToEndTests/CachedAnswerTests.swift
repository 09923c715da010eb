import CLinux
import Foundation
import TestSupport
import Testing

/// Cached answers: when they are used, and when they must not be.
///
/// If the tests may not use the kernel's keyring, nothing is ever cached, and the tests expect that.
@Suite struct CachedAnswerTests {
    static let path = "common/hello.git"
    static let alice = "alice@contoso.example"

    /// Whether this machine lets its users store keys in the kernel.
    static let hasKernelKeyring: Bool = {
        // A key that ends counts towards the user's 200 for minutes, unless the next one takes its place.
        let key = lanyard_key_put("lanyard:test", [1], 1, 60)
        if key >= 0 { _ = lanyard_key_revoke(key) }
        return key >= 0
    }()

    /// Runs the body in a world where Alice is signed in and an answer is cached; passes the token.
    static func withAnswer(_ body: @escaping @Sendable (World, String) async throws -> Void) async throws {
        try await World.with(.unlocked, ownKernelKeys: true) { world in
            let first = try await world.get(path, world.browser(as: alice))
            try await body(world, try #require(first.value("password"), "\(first)"))
        }
    }

    /// Whether an answer is returned while the keyring hangs, after a change that may invalidate it.
    ///
    /// Any other lanyard process of this user that changes something invalidates all answers, so a miss may have
    /// another cause, and is retried. The test's own change invalidates the answer every time.
    static func isRemembered(
        _ world: World, after change: () async throws -> Void = {}, _ get: () async throws -> Ended
    ) async throws -> Bool {
        for _ in 0..<12 {
            try await world.keyring.resume()
            let plain = try await world.get(path)
            try #require(plain.status == 0 && !plain.output.isEmpty, "\(plain)")
            try await change()
            try await world.keyring.suspend()
            let again = try await get()
            try #require(again.status == 0 || again.hasNoCredential, "\(again)")
            if !again.hasNoCredential { return again.output == plain.output && again.errors.isEmpty }
        }
        return false
    }

    @Test func `an answer needs no keyring the second time`() async throws {
        try await Self.withAnswer { world, token in
            let isRemembered = try await Self.isRemembered(world) { try await world.get(Self.path) }
            #expect(isRemembered == Self.hasKernelKeyring)
            // A different request needs a different answer, which only the keyring could provide.
            for lines in ["username=\(Self.alice)\n", "claims={}\n", "prompt=none\n"] {
                let other = try await world.get(Self.path, lines: lines)
                #expect(other.hasNoCredential && !other.errors.contains(token), "\(lines) \(other)")
            }
        }
    }

    @Test func `who reads another format is given the same token`() async throws {
        try await Self.withAnswer { world, token in
            for _ in 0..<12 {
                try await world.keyring.resume()
                #expect(try await world.get(Self.path).value("password") == token)
                try await world.keyring.suspend()
                let bearer = try await world.get(Self.path, lines: "capability[]=authtype\n")
                // A change by another lanyard process invalidates the answer.
                if bearer.hasNoCredential, Self.hasKernelKeyring { continue }
                #expect(bearer.value("credential") == (Self.hasKernelKeyring ? token : nil))
                return
            }
            Issue.record("no answer was given again")
        }
    }

    @Test func `options don't matter, and a challenge for claims passes by what is remembered`() async throws {
        try await Self.withAnswer { world, token in
            let input = "url=\(world.sandbox.resource)/\(Self.path)\n"
            let options = try await Self.isRemembered(world) {
                try await world.lanyard(["get", "--non-interactive", "--timeout", "20"], input: input)
            }
            #expect(options == Self.hasKernelKeyring)
            let basic = try await Self.isRemembered(world) {
                try await world.lanyard(["get"], input: input + "wwwauth[]=Basic realm=\"x\"\n")
            }
            #expect(basic == Self.hasKernelKeyring)
            let challenge = #"wwwauth[]=Bearer error="insufficient_claims", claims="e30=""# + "\n"
            #expect(try await world.lanyard(["get"], input: input + challenge).hasNoCredential)
        }
    }

    @Test func `a password that is stored or erased leaves tokens' answers as they are`() async throws {
        try await Self.withAnswer { world, token in
            let place = "url=https://x.example/\nusername=x\n"
            for (verb, input) in [
                ("store", place + "password=y\n"), ("store", place + "password=z\n"), ("erase", place),
                ("erase", "url=https://nothing.example/\n"),
            ] {
                let isRemembered = try await Self.isRemembered(
                    world, after: { try await world.lanyard([verb], input: input) }
                ) { try await world.get(Self.path) }
                #expect(isRemembered == Self.hasKernelKeyring, "\(verb) \(input)")
            }
        }
    }

    @Test(arguments: ["erase", "erase another", "logout", "login", "configuration", "variable", "off"])
    func `after a change the keyring is asked again`(_ change: String) async throws {
        try await Self.withAnswer { world, token in
            let input = "url=\(world.sandbox.resource)/\(Self.path)\nusername=x\npassword="
            var variables: [String: String] = [:]
            switch change {
            case "erase": try await world.lanyard(["erase"], input: input + token + "\n")
            case "erase another": try await world.lanyard(["erase"], input: input + "another\n")
            case "logout": try await world.lanyard(["logout"])
            case "login":
                let url = "\(world.sandbox.resource)/\(Self.path)"
                let carol = "carol@fabrikam.example"
                try await world.lanyard(["login", url, "--account", carol], world.browser(as: carol))
            case "configuration": try world.configure(before: "timeout = 100")
            case "off": try world.configure(before: "answer-cache = false")
            default: variables = ["LANYARD_ANSWER_CACHE": "0"]
            }
            try await world.keyring.suspend()
            let after = try await world.get(Self.path, variables)
            #expect(after.status == 1 && after.lines == ["quit=1"], "\(after)")
            #expect(after.errors.hasPrefix("lanyard: error: "), "\(after)")
        }
    }

    @Test func `erase and logout take answers away while the keyring hangs`() async throws {
        for verb in ["erase", "logout"] {
            try await Self.withAnswer { world, token in
                try await world.keyring.suspend()
                let input = "url=\(world.sandbox.resource)/\(Self.path)\nusername=x\npassword=\(token)\n"
                let ended = try await world.lanyard([verb], input: verb == "erase" ? input : "")
                #expect(ended.status == 1, "\(ended)")
                #expect(try await world.get(Self.path).hasNoCredential)
            }
        }
    }

    @Test func `an answer that is on its way during an erase is not given after it`() async throws {
        try await Self.withAnswer { world, token in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            _ = try await world.lanyard(["erase"], input: "url=\(url)\nusername=x\npassword=another\n")
            // A full pipe stops `get` between reading the store and caching its answer.
            let script = """
                mkfifo full && exec 3<>full && head -c 65536 /dev/zero >&3
                printf 'url=%s\\n' "$1" | lanyard get >&3 &
                sleep 1
                printf 'url=%s\\nusername=x\\npassword=%s\\n' "$1" "$2" | lanyard erase || exit
                head -c 65536 <&3 >/dev/null
                wait
                cat <&3 & sleep 0.2; kill $!
                """
            let ended = try await world.runInside("/bin/sh", ["-c", script, "sh", url, token])
            #expect(ended.value("password") == token, "\(ended)")
            let after = try await world.get(Self.path)
            #expect(after.status == 0 && after.value("password") != token, "\(after)")
        }
    }

    @Test(arguments: [["answer-cache = false"], ["LANYARD_ANSWER_CACHE=off"]])
    func `turned off, nothing is written`(_ how: [String]) async throws {
        try await World.with { world in
            let isVariable = how[0].hasPrefix("LANYARD")
            if !isVariable { try world.configure(before: how[0]) }
            let variables = isVariable ? ["LANYARD_ANSWER_CACHE": "off"] : [:]
            for extra in [world.browser(as: Self.alice), [:]] {
                let ended = try await world.get(Self.path, variables.merging(extra) { $1 })
                #expect(ended.value("password") != nil, "\(ended)")
            }
            #expect(world.answers.isEmpty)
        }
    }

    @Test func `what is remembered is neither readable nor open to others`() async throws {
        try await Self.withAnswer { world, token in
            #expect(world.answers.count == (Self.hasKernelKeyring ? 1 : 0))
            for name in world.answers {
                let path = world.answerFolder + "/" + name
                let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(bytes.range(of: Data(token.utf8)) == nil && bytes.range(of: Data("password".utf8)) == nil)
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                let folder = try FileManager.default.attributesOfItem(atPath: world.answerFolder)
                #expect(folder[.posixPermissions] as? Int == 0o700)
            }
        }
    }

    @Test(arguments: ["eperm", "enosys", "session", "no runtime directory"])
    func `without the kernel's keyring or a runtime directory all works as before`(_ how: String) async throws {
        try await Self.withAnswer { world, token in
            let input = "url=\(world.sandbox.resource)/\(Self.path)\n"
            func get() async throws -> Ended {
                guard how != "no runtime directory" else {
                    return try await world.lanyard(["get"], ["XDG_RUNTIME_DIR": ""], input: input)
                }
                return try await world.runInside(
                    Built.folder + "/Seclusion", [how, Built.lanyard, "get"], input: input)
            }
            for _ in 0..<2 {
                let ended = try await get()
                #expect(ended.value("password") == token && ended.errors.isEmpty, "\(ended)")
            }
            guard how == "session", Self.hasKernelKeyring else {
                try await world.keyring.suspend()
                let ended = try await get()
                return #expect(ended.value("password") == nil, "\(ended)")
            }
            // Another session of the user finds the same key, but doesn't have its keyring.
            #expect(try await Self.isRemembered(world, get))
        }
    }

    @Test func `a token that the authority wants renewed soon is remembered only until then`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 303}"#)
            let first = try await world.get(Self.path, world.browser(as: Self.alice)).value("password")
            #expect(first != nil)
            try await Task.sleep(for: .seconds(4))
            let second = try await world.get(Self.path)
            #expect(second.status == 0 && second.value("password") != first, "\(second)")
        }
    }
}

/// What other programs of the same user can learn about a process.
@Suite struct HygieneTests {
    @Test func `an ordinary user signs in and is answered, and no other program can look inside`() async throws {
        try await ScratchDirectory.with { scratch in
            let folder = scratch.path + "/user"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let ended = try await run(
                Built.checkout + "/Tests/TestSupport/Scripts/ordinary-user", [Built.folder, folder],
                environment: scratch.environment)
            try #require(ended.status == 0 && ended.lines.count == 5, "\(ended)")
            #expect(ended.lines[0].hasPrefix("password=ey") && ended.lines[0] == ended.lines[1])
            #expect(ended.lines[2].hasPrefix("shell core ") && ended.lines[2].hasSuffix(", open"))
            #expect(ended.lines[3...] == ["host core 0, closed", "plugin core 0, closed"])
        }
    }
}

extension World {
    var answerFolder: String { folder + "/run/lanyard/answers" }

    /// The files of the cached answers.
    var answers: [String] { (try? FileManager.default.contentsOfDirectory(atPath: answerFolder)) ?? [] }
}
