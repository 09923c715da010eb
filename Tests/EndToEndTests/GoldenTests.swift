import Foundation
import TestSupport
import Testing

/// Whole screens: the commands' output, line by line.
///
/// A transcript in `Golden` contains each command after `$ `, in shell syntax, then its whole output, and its exit
/// status in brackets unless it is 0. `LANYARD_RECORD=1` runs the commands, rewrites the transcripts, and fails: review
/// the changes.
@Suite struct GoldenTests {
    private static let plain = ["help", "usage", "no-keyring"]
    private static let inSandbox = ["first-day", "two-accounts"]

    @Test(arguments: plain)
    func `without a sandbox commands print what was recorded`(name: String) async throws {
        try await Home.with { home in
            let transcript = try Transcript(name)
            let now = try await transcript.replayed(in: home.environment, folder: home.folder + "/home") {
                $0.replacing(home.folder, with: "/FOLDER")
            }
            try transcript.expect(now)
        }
    }

    @Test(arguments: inSandbox)
    func `with a sandbox commands print what was recorded`(name: String) async throws {
        // The screens name lines of the configuration, and the keyring.
        try await World.with(.secretService) { world in
            var environment = world.environment.merging(world.browser(as: "alice@contoso.example")) { $1 }
            environment["RESOURCE"] = world.sandbox.resource
            environment["AUTHORITY"] = world.sandbox.authority
            let transcript = try Transcript(name)
            let now = try await transcript.replayed(in: environment, folder: world.folder + "/work") {
                $0.replacing(world.folder, with: "/FOLDER")
                    .replacing(world.sandbox.resource.dropFirst("https://".count), with: "RESOURCE")
                    .replacing(world.sandbox.authority.dropFirst("https://".count), with: "AUTHORITY")
            }
            try transcript.expect(now)
        }
    }

    @Test func `no transcript is left over`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Transcript.folder)
        #expect(Set(files) == Set((Self.plain + Self.inSandbox).map { $0 + ".txt" }))
    }
}

/// Commands and their output.
private struct Transcript {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().path + "/Golden"

    private let path: String
    private let text: String

    init(_ name: String) throws {
        path = "\(Self.folder)/\(name).txt"
        text = try String(contentsOfFile: path, encoding: .utf8)
    }

    var commands: [String] { text.split(separator: "\n").filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) } }

    /// Returns the commands with their current output, without what differs between runs.
    func replayed(
        in environment: [String: String], folder: String, neutral: (String) -> String
    ) async throws -> String {
        var now = ""
        for command in commands {
            let ended = try await run(
                "/bin/sh", ["-c", "exec 2>&1; \(command)"], environment: environment, folder: folder)
            now += "$ \(command)\n" + neutral(ended.output).withoutPassingFacts
            if !now.hasSuffix("\n") { now += "\n" }
            if ended.status != 0 { now += "[\(ended.status)]\n" }
        }
        return now
    }

    /// Compares the output with the recorded one, or records it.
    func expect(_ now: String) throws {
        if ProcessInfo.processInfo.environment["LANYARD_RECORD"] != nil {
            try now.write(toFile: path, atomically: true, encoding: .utf8)
            Issue.record("recorded \(path) anew")
        }
        guard now != text else { return }
        let lines = now.difference(fromRecorded: text)
        let shown =
            lines.prefix(40).joined(separator: "\n") + (lines.count > 40 ? "\n… \(lines.count - 40) more lines" : "")
        Issue.record(
            """
            \(path) differs; to record it anew: LANYARD_RECORD=1 script/test --filter GoldenTests
            \(shown)
            """)
    }
}

extension String {
    /// The lines that a recorded text lacks (`+`) or has too many (`-`), in order.
    fileprivate func difference(fromRecorded recorded: String) -> [String] {
        let (new, old) = (components(separatedBy: "\n"), recorded.components(separatedBy: "\n"))
        return new.difference(from: old).map { change in
            switch change {
            case .insert(let offset, let line, _): (offset, 1, "+ \(line)")
            case .remove(let offset, let line, _): (offset, 0, "- \(line)")
            }
        }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }
}

extension String {
    /// The text without a slow browser's reminder, version numbers, ports, the random parts of a sign-in, and remaining
    /// times.
    fileprivate var withoutPassingFacts: String {
        replacing(#/\b\d+ (more )?(second|minute|hour)s?\b/#) { "N \($0.1 ?? "")\($0.2)s" }
            .replacing(#/\b\d+\.\d+\.\d+\b(?!\.)/#) { _ in "VERSION" }
            .replacing(#/\b(state|code_challenge|nonce)=[\w-]+/#) { "\($0.1)=RANDOM" }
            .replacing(#/lanyard: if no page opened.*\nhttps:.*\n/#, with: "")
            .replacing(#/"(auth_time|exp|iat|nbf|nonce)" : [^,\n]+/#) { "\"\($0.1)\" : RANDOM" }
            .replacing(#/localhost%3A\d+/#) { _ in "localhost%3APORT" }
    }
}
