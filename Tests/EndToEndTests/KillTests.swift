import Foundation
import SeededRandom
import Testing

/// A process that is killed at any moment takes nothing with it that was acknowledged, and leaves a store that works.
@Suite struct KillTests {
    /// `kill -9` of each operation; the moments are spread over what it takes.
    private static let runs = 100
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]
    private static let place = "protocol=https\nhost=git.example\nusername=u\n"

    @Test func `storing and erasing passwords`() async throws {
        try await World.with { world in
            let other = "protocol=https\nhost=other.example\nusername=u\n"
            try await world.lanyard(["store"], input: other + "password=untouched\n")
            var dice = SeededGenerator(seed: 41)
            var may: Set<String?> = [nil]
            var killed = 0
            let whole = try await Self.duration {
                try await world.lanyard(["store"], input: Self.place + "password=0\n")
            }
            may = ["0"]
            for number in 1...(2 * Self.runs) {
                let stores = number % 3 != 0
                let input = Self.place + (stores ? "password=\(number)\n" : "")
                let moment = Duration.microseconds(Int.random(in: 0..<Int(whole / .microseconds(1)), using: &dice))
                let ended = try Self.kill(["lanyard", stores ? "store" : "erase"], input, after: moment, in: world)
                let wanted = stores ? String(number) : nil
                if ended { may = [wanted] } else { may.insert(wanted) }
                killed += ended ? 0 : 1
                let found = try await world.lanyard(["get"], input: Self.place)
                #expect(found.status == 0 && found.errors.isEmpty, "run \(number): \(found)")
                #expect(may.contains(found.value("password")), "run \(number): \(found) is none of \(may)")
                may = [found.value("password")]
            }
            let kept = try await world.lanyard(["get"], input: other)
            #expect(kept.value("password") == "untouched")
            // A run in which nothing was killed, or nothing ended, would prove nothing.
            #expect((20...(2 * Self.runs - 5)).contains(killed), "\(killed) were killed")
        }
    }

    @Test func `renewing a token`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            // Less than a token must live on to be handed out: every call renews.
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let browser = world.browser(as: "alice@contoso.example")
            #expect(try await world.lanyard(["login", url], browser).status == 0)
            let whole = try await Self.duration { try await world.lanyard(["token", url], Self.uncached) }
            var dice = SeededGenerator(seed: 43)
            var killed = 0
            for number in 1...Self.runs {
                let moment = Duration.microseconds(Int.random(in: 0..<Int(whole / .microseconds(1)), using: &dice))
                if try !Self.kill(["lanyard", "token", url], "", after: moment, in: world) { killed += 1 }
                guard number % 5 == 0 else { continue }
                let ended = try await world.lanyard(["token", url], Self.uncached)
                #expect(ended.status == 0 && ended.errors.isEmpty, "run \(number): \(ended)")
            }
            #expect(killed >= Self.runs / 4, "\(killed) were killed")
            let accounts = try await world.lanyard(["accounts"])
            #expect(accounts.lines.count == 2, "\(accounts)")
        }
    }

    /// Runs a command and kills it after a time; true where it had ended well before.
    private static func kill(
        _ command: [String], _ input: String, after moment: Duration, in world: World
    ) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "\(world.folder)/bin/\(command[0])")
        process.arguments = Array(command.dropFirst())
        process.environment = world.environment.merging(uncached) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let file = "\(world.folder)/input"
        try input.write(toFile: file, atomically: false, encoding: .utf8)
        process.standardInput = FileHandle(forReadingAtPath: file)
        try process.run()
        usleep(UInt32(moment / .microseconds(1)))
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }

    /// How long something takes, and a little more.
    private static func duration(_ body: () async throws -> Ended) async throws -> Duration {
        let took = try await ContinuousClock().measure { _ = try await body() }
        return took * 5 / 4
    }
}
