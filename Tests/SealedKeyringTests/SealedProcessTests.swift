import Foundation
import Glibc
import Secrets
import TestSupport
import Testing

@testable import Keyring
@testable import SealedKeyring

/// The sealed keyring with many processes, and with those that end badly.
@Suite struct SealedProcessTests {
    /// The real machine's keyring in a throwaway home, which processes use, too.
    private static func with(_ body: (SealedFixture) async throws -> Void) async throws {
        try await ScratchDirectory.with { scratch in
            let environment = scratch.environment.merging(["XDG_STATE_HOME": scratch.path + "/state"]) { $1 }
            let fixture = SealedFixture(scratch: scratch, keyring: SealedKeyring(environment: environment))
            try fixture.keyring.create(.session)
            defer { try? fixture.keyring.lock() }
            try await body(fixture)
        }
    }

    private static func environment(_ fixture: SealedFixture) -> [String: String] {
        fixture.scratch.environment.merging(["XDG_STATE_HOME": fixture.scratch.path + "/state"]) { $1 }
    }

    @Test func `64 processes at once lose nothing`() async throws {
        try await Self.with { fixture in
            let environment = Self.environment(fixture)
            try await withThrowingTaskGroup(of: Ended.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let options = ["--name", "n\(number)", "--first", String(number), "--count", "3"]
                        return try await run(Built.storeProbe, options + ["churn"], environment: environment)
                    }
                }
                for try await ended in group { #expect(ended.status == 0, "\(ended)") }
            }
            #expect(try fixture.secrets(["xdg:schema": "churn"]) == (0..<64).map { String($0 + 2) }.sorted())
            #expect(try fixture.keyring.state().unopened.isEmpty)
        }
    }

    @Test func `where no file can be locked, items can be read and nothing is changed`() async throws {
        try await Self.with { fixture in
            let environment = Self.environment(fixture)
            func run(_ how: String, _ arguments: String...) async throws -> Ended {
                try await TestSupport.run(
                    Built.folder + "/Seclusion", [how, Built.storeProbe] + arguments, environment: environment)
            }
            #expect(try await run("session", "--count", "1", "churn").output == "0\n")
            let changed = try await run("enolck", "--first", "5", "--count", "1", "churn")
            #expect(changed.status == 1 && changed.output.contains("No locks available"), "\(changed)")
            #expect(try await run("enolck", "secret-tool", "lookup", "xdg:schema", "churn").output == "0")
        }
    }

    @Test func `processes that are killed lose and tear nothing`() async throws {
        try await Self.with { fixture in
            var stored: [Int: Int] = [:]
            var next = 0
            for _ in 0..<10 * Thoroughness.factor {
                let process = Process()
                let output = Pipe()
                process.executableURL = URL(filePath: Built.storeProbe)
                process.arguments = ["--first", String(next), "churn"]
                process.environment = Self.environment(fixture)
                process.standardOutput = output
                try process.run()
                // Time for the first change, then for some more.
                _ = try output.fileHandleForReading.read(upToCount: 1)
                usleep(.random(in: 0..<20_000))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                let rest = try output.fileHandleForReading.readToEnd() ?? Data()
                var count = next
                for _ in 0..<String(decoding: rest, as: UTF8.self).count(where: { $0 == "\n" }) {
                    stored[count % 5] = count
                    count += 1
                }
                // What was being stored is there or not.
                let found = try Dictionary(
                    uniqueKeysWithValues: fixture.secrets(["xdg:schema": "churn"]).compactMap { Int($0) }.map {
                        ($0 % 5, $0)
                    })
                for (name, number) in stored {
                    let last = found[name] ?? -1
                    #expect(last == number || last == count, "\(name): \(last), not \(number)")
                }
                next = count + 1
                for (name, number) in found { stored[name] = number }
            }
            #expect(try fixture.keyring.state().unopened.isEmpty)
            #expect(fixture.files.allSatisfy { !$0.hasPrefix(".") })
        }
    }

    @Test func `a folder that can't be written is read, and the error says so`() async throws {
        try await Self.with { fixture in
            try fixture.store("a", "one")
            for folder in ["", "/items"] { chmod(fixture.folder + folder, 0o500) }
            defer { for folder in ["", "/items"] { chmod(fixture.folder + folder, 0o700) } }
            #expect(try fixture.secrets() == ["one"])
            do throws(KeyringError) {
                try fixture.store("b", "two")
                Issue.record("it was stored")
            } catch {
                #expect(error.reason == .broken && error.detail.contains("Permission denied"), "\(error)")
            }
            #expect(try fixture.secrets() == ["one"])
        }
    }

    @Test(.enabled(if: Namespaces.areAvailable)) func `a full disk changes nothing`() async throws {
        try await Self.with { fixture in
            let state = fixture.scratch.path + "/small"
            mkdir(state, 0o700)
            let script = """
                mount -t tmpfs -o size=64k none "$XDG_STATE_HOME" &&
                "$0" seal && "$0" --name a --first 1 --count 1 churn &&
                head -c 100000 /dev/zero >"$XDG_STATE_HOME/filler"
                "$0" --name a --first 2 --count 1 --pad 9000 churn
                "$0" --name b --first 3 --count 1 --pad 9000 churn
                rm "$XDG_STATE_HOME/filler"
                "$0" --name c --first 4 --count 1 churn
                ls "$XDG_STATE_HOME"/lanyard/keyring/*/items | wc -l
                "$0" forget
                """
            let environment = Self.environment(fixture).merging(["XDG_STATE_HOME": state]) { $1 }
            let ended = try await run(
                "/usr/bin/unshare", Namespaces.asRoot + ["--mount", "sh", "-c", script, Built.storeProbe],
                environment: environment)
            let lines = ended.lines
            #expect(lines.first == "1" && lines.suffix(2).first == "4" && lines.last == "2", "\(ended)")
            #expect(lines.count { $0.contains("No space left on device") } == 2, "\(ended)")
        }
    }
}
