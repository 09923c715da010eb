import Addresses
import ArgumentParser
import CommandKit
import Files
import Glibc
import PluginHost
import Secrets
import SystemPackage
import Terminal

struct PluginNewCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a plugin to begin with.",
        discussion: """
            It signs in at the made-up issuer of `lanyard sandbox` with the code of a key fob, which is 4242. Change what asks the \
            issuer.
            """)

    static let examples: KeyValuePairs = [
        "Write a plugin in Python": "lanyard plugin new acme-login --language python"
    ]

    /// The languages that there is a template for.
    enum Language: String, CaseIterable, ExpressibleByArgument {
        case python
        case sh
        case swift
    }

    @Argument(help: "The plugin's name, which is that of the new folder.")
    var name: String

    @Option(help: "The language to write it in.")
    var language = Language.python

    mutating func run(in context: CommandContext) async throws {
        guard PluginManifest.isName(name), name.utf8.first != UInt8(ascii: "-") else {
            throw CommandError(
                "\(name) isn't a valid plugin name",
                hints: ["use 1 to 64 of a to z, 0 to 9 and -"], status: .usage)
        }
        guard !context.registry.plugins.contains(where: { $0.name == name && $0.origin == nil }) else {
            throw CommandError(
                "lanyard has a plugin \(name) of its own", hints: ["choose another name"], status: .usage)
        }
        let template = PluginTemplate(language)
        let readable: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
        let executable: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
        let files: [(name: String, text: String, mode: FilePermissions)] = [
            ("plugin.toml", template.manifest, readable),
            (
                template.source.replacing(bytes: "quill", with: name), template.program,
                template.build == nil ? executable : readable
            ),
            ("test.sh", template.test, executable),
        ]
        guard mkdir(name, 0o755) == 0 else {
            let problem = Errno(rawValue: errno)
            throw CommandError(
                "the folder \(name) can't be made: \(problem)",
                hints: [problem == .fileExists ? "choose another name" : "go to a folder that you may write to"])
        }
        for file in files {
            let text = file.text.replacing(bytes: "quill", with: name).replacing(bytes: "QUILL", with: "quill")
            do {
                let descriptor = try FileDescriptor.open(
                    FilePath("\(name)/\(file.name)"), .writeOnly, options: [.create, .exclusiveCreate],
                    permissions: file.mode)
                try descriptor.closeAfter { _ = try descriptor.writeAll(text.utf8) }
            } catch {
                let reason = (error as? Errno).map { ": \($0)" } ?? ""
                throw CommandError("\(name)/\(file.name) can't be written\(reason)")
            }
        }
        if template.build != nil {
            context.console.note(
                Hint("made \(name)/; build it", run: "swiftc \(name)/\(name).swift -o \(name)/\(name)"))
        }
        context.console.note(
            Hint(
                template.build == nil ? "made \(name)/; check it" : "check it", run: "lanyard plugin check ./\(name)"))
        context.console.note(
            Hint("start the made-up issuer in another terminal", run: "lanyard sandbox serve --verbose"))
        context.console.note(Hint("sign in, as that says", run: "lanyard plugin try ./\(name) ISSUER/quill --renew"))
    }
}
