import Foundation
import TestSupport
import Testing

/// How processes share the information that an authority throttles requests.
@Suite struct ThrottlingTests {
    private static let alice = "alice@contoso.example"
    private static let path = "common/hello.git"

    /// Runs the body in a world with a user signed in, whose token expires after this many seconds.
    private static func with(lifetime: Int, _ body: @Sendable (World) async throws -> Void) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": \#(lifetime)}"#)
            let first = try await world.get(path, world.browser(as: alice))
            try #require(first.status == 0, "\(first)")
            try await world.sandbox.clearLog()
            try await body(world)
        }
    }

    private static func throttle(_ world: World, headers: String = #"{"Retry-After": "400"}"#) async throws {
        try await world.sandbox.fault(#"{"path": "/token", "status": 429, "headers": \#(headers), "times": 1}"#)
    }

    @Test func `no other process asks before the time is over, and no plugin is started`() async throws {
        try await Self.with(lifetime: 0) { world in
            try await Self.throttle(world)
            let told = try await world.get(Self.path)
            #expect(told.status == 1 && told.hasNoCredential, "\(told)")
            #expect(told.errors.contains("lanyard: hint: try again in 400 seconds"), "\(told)")

            let traced = try await world.get(Self.path, ["LANYARD_TRACE": "plugin"])
            #expect(traced.status == 1 && !traced.errors.contains("trace: "), "\(traced)")
            let wait = traced.errors.firstMatch(of: /try again in (\d+) seconds/).flatMap { Int($0.1) }
            #expect((300...400).contains(wait ?? 0), "\(traced)")
            #expect(try await world.sandbox.authorityRequests().renewals.count == 1)
        }
    }

    @Test func `without a time it is a minute, and at most an hour`() async throws {
        for (headers, seconds) in [("{}", 60), (#"{"Retry-After": "86400"}"#, 3600)] {
            try await Self.with(lifetime: 0) { world in
                try await Self.throttle(world, headers: headers)
                let ended = try await world.get(Self.path)
                #expect(ended.errors.contains("try again in \(seconds) seconds"), "\(ended)")
            }
        }
    }

    @Test func `a token that still lives is used meanwhile`() async throws {
        try await Self.with(lifetime: 200) { world in
            try await Self.throttle(world)
            for _ in 0..<3 {
                let ended = try await world.get(Self.path)
                #expect(ended.status == 0 && ended.value("password") != nil, "\(ended)")
            }
            #expect(try await world.sandbox.authorityRequests().renewals.count == 1)
        }
    }

    @Test func `a token due early is used meanwhile, whatever became of its renewal`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"refresh_in": 0}"#)
            let first = try await world.get(Self.path, world.browser(as: Self.alice))
            for status in [429, 503, 400] {
                try await world.sandbox.fault(#"{"path": "/token", "status": \#(status), "times": 2, "body": "{}"}"#)
                let ended = try await world.get(Self.path)
                #expect(ended.value("password") == first.value("password"), "\(status): \(ended)")
            }
        }
    }

    @Test func `a refresh token that needs the user is sent once, and signing in doesn't send it again`() async throws {
        try await Self.with(lifetime: 0) { world in
            let refusal = #"{\"error\":\"invalid_grant\",\"suberror\":\"basic_action\",\"error_codes\":[50076]}"#
            try await world.sandbox.fault(#"{"path": "/token", "status": 400, "body": "\#(refusal)", "times": 1}"#)
            for _ in 0..<5 {
                let refused = try await world.get(Self.path)
                #expect(refused.errors.contains("lanyard: error: interaction required"), "\(refused)")
            }
            let signedIn = try await world.get(Self.path, world.browser(as: Self.alice))
            #expect(signedIn.status == 0, "\(signedIn)")
            #expect(try await world.sandbox.authorityRequests().renewals.count == 1)
            // The sign-in's own refresh token is another.
            #expect(try await world.get(Self.path).status == 0)
        }
    }

    @Test func `signing in goes through and ends it`() async throws {
        try await Self.with(lifetime: 0) { world in
            try await Self.throttle(world, headers: #"{"Retry-After": "600"}"#)
            #expect(try await world.get(Self.path).status == 1)
            let login = try await world.lanyard(
                ["login", "\(world.sandbox.resource)/\(Self.path)"], world.browser(as: Self.alice))
            #expect(login.status == 0, "\(login)")
            let renewed = try await world.get(Self.path)
            #expect(renewed.status == 0, "\(renewed)")
        }
    }

    @Test func `other applications are not throttled`() async throws {
        try await Self.with(lifetime: 0) { world in
            try await Self.throttle(world)
            #expect(try await world.get(Self.path).status == 1)
            let other = try await world.get(
                at: "common", client: "fa311100-0000-4000-8000-0000000000a1", world.browser(as: Self.alice))
            #expect(other.status == 0, "\(other)")
        }
    }

    @Test func `what is remembered holds no secret and no name`() async throws {
        try await Self.with(lifetime: 0) { world in
            let ordinary = world.environment["XDG_RUNTIME_DIR"]
            let folder = try #require(ScratchDirectory.systemsRuntimeFolder ?? ordinary) + "/lanyard/notes"
            func names() -> Set<String> {
                Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            }
            let before = names()
            // The notes of all tests may be in one folder, and this wait is no other test's.
            try await Self.throttle(world, headers: #"{"Retry-After": "1237"}"#)
            _ = try await world.get(Self.path)
            var own = 0
            for name in names().subtracting(before) {
                guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)"),
                    let note = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any],
                    let at = note["at"] as? Int, let until = note["until"] as? Int, until - at == 1_237_000
                else { continue }
                own += 1
                let text = String(decoding: bytes, as: UTF8.self).lowercased()
                #expect(name.wholeMatch(of: /[0-9a-f]{64}\.json/) != nil, "\(name)")
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                for word in ["alice", "contoso.example", world.sandbox.clientID, "a11ce000"] {
                    #expect(!text.contains(word), "\(text)")
                }
            }
            #expect(own == 1)
        }
    }

    @Test func `without XDG_RUNTIME_DIR it is remembered if the system has a runtime folder, and nowhere else`()
        async throws
    {
        try await Self.with(lifetime: 0) { world in
            for _ in 0..<2 {
                try await Self.throttle(world)
                let ended = try await world.get(Self.path, ["XDG_RUNTIME_DIR": ""])
                #expect(ended.status == 1, "\(ended)")
            }
            let expected = ScratchDirectory.systemsRuntimeFolder == nil ? 2 : 1
            #expect(try await world.sandbox.authorityRequests().renewals.count == expected)
        }
    }
}
