import Foundation
import Keyring
import Rules
import SystemPackage
import Terminal
import TestSupport
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis
@testable import Tools

/// A lanyard that isn't on `PATH`, in a folder whose path has blanks and other characters that tools interpret.
@Suite struct BlankPathTests {
    /// Installs programs of that name in a folder with this name, and returns the place of a tool's settings.
    private static func with(
        _ name: String, url: String? = nil, _ body: (_ place: ToolTarget, _ folder: String) async throws -> Void
    ) async throws {
        try await ScratchDirectory.with { scratch in
            let folder = "\(scratch.path)/\(name)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for program in ["lanyard", "bazel-credential-lanyard", "cargo-credential-lanyard"] {
                try "#!/bin/sh\necho ran \"$@\"\n".write(
                    toFile: "\(folder)/\(program)", atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o755], ofItemAtPath: "\(folder)/\(program)")
            }
            let environment = ["HOME": scratch.path + "/home", "PATH": "/usr/bin:/bin"]
            let context = CommandContext(
                environment: environment,
                console: Console(output: .standardOutput, errors: .standardError, environment: [:]),
                input: .standardInput,
                executable: "\(folder)/lanyard", keyring: InMemoryKeyring(), clock: { 0 })
            try await body(try ToolTarget(context, url.flatMap { URLPattern($0) }), folder)
        }
    }

    @Test(arguments: ["pre fix", "it's", "a\"b", "plain", "ünï", "~x", "a=b"])
    func `Go splits its list into lanyard's path and its argument`(_ name: String) async throws {
        try await Self.with(name) { place, folder in
            let value = try #require(try GoSettings(place: place).changes().first?.value)
            let command = try #require(value.split(separator: "; ").last)
            #expect(Self.splitAsGo(String(command)) == ["\(folder)/lanyard", "goauth"])
            // A second run changes nothing.
            try FileManager.default.createDirectory(
                atPath: "\(place.settings)/go", withIntermediateDirectories: true)
            try "GOAUTH=\(value)\n".write(toFile: "\(place.settings)/go/env", atomically: true, encoding: .utf8)
            #expect(try GoSettings(place: place).changes().map(\.value) == [value])
        }
    }

    /// The words of a command as cmd/internal/quoted of Go splits them: quotes around whole words, without escapes.
    private static func splitAsGo(_ text: String) -> [String] {
        var words: [String] = []
        var rest = Substring(text)
        while let first = rest.first {
            if first == " " {
                rest = rest.dropFirst()
            } else if first == "'" || first == "\"" {
                let word = rest.dropFirst().prefix { $0 != first }
                words.append(String(word))
                rest = rest.dropFirst(word.count + 2)
            } else {
                let word = rest.prefix { $0 != " " }
                words.append(String(word))
                rest = rest.dropFirst(word.count)
            }
        }
        return words
    }

    @Test(arguments: ["pre fix", "it's", "plain", "ünï", "a(b)"])
    func `AWS's tools run lanyard, by themselves and by a shell`(_ name: String) async throws {
        let url = "https://sts.amazonaws.com/arn:aws:iam::123456789012:role/dev"
        try await Self.with(name, url: url) { place, folder in
            let value = try #require(try AWSSettings(place: place).changes().first?.value)
            #expect(AWSSettings.shown(value) == [value])
            let ran = try await run("/bin/sh", ["-c", value], environment: ["PATH": "/usr/bin:/bin"])
            #expect(ran.output == "ran aws \(url)\n", "\(ran)")
            // As botocore does.
            let script = "import shlex, sys; print(shlex.split(sys.argv[1]))"
            let python = try await run("/usr/bin/python3", ["-c", script, value], environment: [:])
            #expect(python.output.contains("/lanyard"), "\(python)")
            #expect(python.output.hasSuffix(", 'aws', '\(url)']\n"), "\(python)")
            try FileManager.default.createDirectory(atPath: "\(place.home)/.aws", withIntermediateDirectories: true)
            try "[default]\ncredential_process = \(value)\n".write(
                toFile: "\(place.home)/.aws/config", atomically: true, encoding: .utf8)
            #expect(AWSSettings(place: place).urlsFound == [url])
        }
    }

    @Test(arguments: ["pre fix", "it's", "plain", "ünï"])
    func `Bazel's startup file names lanyard in one word`(_ name: String) async throws {
        try await Self.with(name) { place, folder in
            let value = try #require(try BazelSettings(place: place).changes().first?.value)
            try (value + "\n").write(toFile: "\(place.home)/.bazelrc", atomically: true, encoding: .utf8)
            #expect(try BazelSettings(place: place).overrides().map(\.asksLanyard) == [true])
            let option = "--credential_helper=\(folder)/bazel-credential-lanyard"
            #expect(["common \(option)", "common \"\(option)\""].contains(value), "\(value)")
            #expect(value.contains("\"") == (name != "plain"), "\(value)")
        }
    }

    @Test(arguments: [
        ("a;b", "go"), ("a'\"b", "go"), ("a$b", "aws"), ("a=b", "bazel"), ("a b", "cargo"), ("a\nb", "go"),
    ])
    func `a tool that can't run it there is told so, with a way out`(_ name: String, _ tool: String) async throws {
        try await Self.with(name, url: tool == "aws" ? "https://sts.amazonaws.com/arn:aws:iam::1:role/d" : nil) {
            place, _ in
            let failure = #expect(throws: CommandError.self) {
                switch tool {
                case "go": _ = try GoSettings(place: place).changes()
                case "aws": _ = try AWSSettings(place: place).changes()
                case "bazel": _ = try BazelSettings(place: place).changes()
                default: _ = try CargoSettings(place: place).changes()
                }
            }
            #expect(failure?.message.text.contains("can't run a program at") == true)
            #expect(failure?.hints.first?.copied?.hasPrefix("export PATH=") == true)
        }
    }

    @Test(arguments: [
        (#"/my\ tools/git-credential-lanyard"#, true, "lanyard"),
        ("'/my tools/git-credential-lanyard' --flow x", true, "lanyard"),
        (#"!"/my tools/lanyard" get"#, true, "lanyard"), ("lanyard --account a", true, "lanyard"),
        (#"/mnt/c/Program\ Files/Git/mingw64/bin/git-credential-manager.exe"#, false, "manager.exe"),
        ("'unclosed x", false, "'unclosed"), ("!f() { echo lanyard; }; f", false, "a shell command"),
        ("!./lanyard", false, "a shell command"), (#"!"/usr/bin/my gh" auth git-credential"#, false, "a shell command"),
    ])
    func `git's helpers are read as a shell reads them`(value: String, isLanyard: Bool, name: String) {
        let helper = GitHelpers.Helper(value: value, file: "/f")
        #expect(helper.isLanyard == isLanyard && helper.name == name)
        #expect(helper.mayKeep == !isLanyard)
    }
}
