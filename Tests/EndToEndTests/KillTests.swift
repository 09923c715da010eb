import Foundation
import SeededRandom
import TestSupport
import Testing

/// A process that is killed at any moment loses nothing that was acknowledged, and leaves a working store.
@Suite struct KillTests {
    /// The number of runs of each operation: some finish, most are killed.
    private static let runs = 60 * Thoroughness.factor
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]
    private static let place = "protocol=https\nhost=git.example\nusername=u\n"

    @Test func `storing and erasing passwords`() async throws {
        try await World.with { world in
            let other = "protocol=https\nhost=other.example\nusername=u\n"
            try await world.lanyard(["store"], input: other + "password=untouched\n")
            var dice = SeededGenerator(seed: 41)
            let first = try await world.lanyard(["store"], input: Self.place + "password=0\n")
            var moments = Moments(over: first.duration)
            var may: Set<String?> = ["0"]
            for number in 1...Self.runs {
                let stores = number % 3 != 0
                let input = Self.place + (stores ? "password=\(number)\n" : "")
                let moment = moments.next(&dice)
                let ended = try await Self.kill([stores ? "store" : "erase"], input, after: moment, in: world)
                let wanted = stores ? String(number) : nil
                if ended { may = [wanted] } else { may.insert(wanted) }
                moments.note(ended)
                let found = try await world.lanyard(["get"], input: Self.place)
                #expect(found.status == 0 && found.errors.isEmpty, "run \(number): \(found)")
                #expect(may.contains(found.value("password")), "run \(number): \(found) is none of \(may)")
                may = [found.value("password")]
            }
            let kept = try await world.lanyard(["get"], input: other)
            #expect(kept.value("password") == "untouched")
            #expect(moments.isTelling, "\(moments)")
        }
    }

    @Test func `renewing a token`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            // Shorter than the minimum remaining lifetime, so every call renews.
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let browser = world.browser(as: "alice@contoso.example")
            #expect(try await world.lanyard(["login", url], browser).status == 0)
            var moments = Moments(over: try await world.lanyard(["token", url], Self.uncached).duration)
            var dice = SeededGenerator(seed: 43)
            for number in 1...Self.runs {
                moments.note(try await Self.kill(["token", url], "", after: moments.next(&dice), in: world))
                guard number % 5 == 0 else { continue }
                let ended = try await world.lanyard(["token", url], Self.uncached)
                #expect(ended.status == 0 && ended.errors.isEmpty, "run \(number): \(ended)")
            }
            #expect(moments.isTelling, "\(moments)")
            let accounts = try await world.lanyard(["status", "--accounts"])
            #expect(accounts.lines.count == 2, "\(accounts)")
        }
    }

    /// Runs lanyard and kills it after a time; returns true if it had finished successfully before.
    private static func kill(
        _ arguments: [String], _ input: String, after moment: Duration, in world: World
    ) async throws -> Bool {
        try await with(
            "\(world.folder)/bin/lanyard", arguments, input: input,
            environment: world.environment.merging(uncached) { $1 }
        ) { try await Task.sleep(for: moment) }.status == 0
    }
}

/// The times for killing, spread over an operation's duration: one of four operations finishes, however busy the
/// machine is.
private struct Moments {
    private var longest: Duration
    private(set) var killed = 0
    private(set) var ended = 0

    init(over duration: Duration) { longest = duration }

    /// Whether the run proves anything: it doesn't if nothing was killed, or nothing finished.
    var isTelling: Bool { min(killed, ended) >= 3 && killed >= (killed + ended) / 5 }

    func next(_ dice: inout SeededGenerator) -> Duration { longest * Double.random(in: 0..<1, using: &dice) }

    mutating func note(_ hasEnded: Bool) {
        if hasEnded { ended += 1 } else { killed += 1 }
        longest = longest * (hasEnded ? 0.75 : 1.1)
    }
}
