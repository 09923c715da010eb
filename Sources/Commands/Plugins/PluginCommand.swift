import Addresses
import ArgumentParser
import CommandKit
import Files
import Glibc
import JSON
import PluginConformance
import PluginHost
import PluginWire
import Secrets
import SettingsFile
import Terminal

struct PluginCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "List, write, check and try authority plugins.",
        shouldDisplay: false,
        subcommands: [PluginListCommand.self, PluginNewCommand.self, PluginCheckCommand.self, PluginTryCommand.self],
        aliases: ["plugins"])

    static let examples: KeyValuePairs = ["See which plugins are installed": "lanyard plugin list"]
}

struct PluginListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the installed plugins, and those that can't be used.")

    static let examples: KeyValuePairs = ["See which plugins are installed": "lanyard plugin list"]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let registry = context.registry
        if json {
            context.console.print(json: registry.json)
            return
        }
        let columns = Console.columns
        for plugin in registry.plugins {
            let head = "\(plugin.name) \(plugin.version.displayable(limit: 64)): \(plugin.summary.displayable())"
            context.console.print(head.wrapped(columns: columns, indent: 4, from: 0))
            let facts = Table(plugin.facts(context).map { [$0, $1] }, atLeast: [7])
            for line in facts.wrapped(columns: columns, indent: 4) { context.console.print("    \(line)") }
        }
        for precedence in registry.precedences { context.console.note(Hint(precedence.text)) }
        for note in registry.notes {
            context.console.note("\(note.inFile)\(note.hint.map { " (\($0))" as Message } ?? "")")
        }
        for problem in registry.problems {
            context.console.report(
                CommandError(problem.inFile, hints: problem.hints))
        }
        if registry.plugins.isEmpty, registry.problems.isEmpty { context.console.note("no plugin is installed") }
    }
}

extension PluginManifest {
    fileprivate func facts(_ context: CommandContext) -> [(String, String)] {
        var facts = [
            ("from", context.short(folder)),
            ("program", ([executable] + arguments).map(context.short).joined(separator: " ")),
        ]
        if !flows.isEmpty { facts.append(("flows", flows.map(\.rawValue).joined(separator: ", "))) }
        facts += zip(["serves"] + Array(repeating: "", count: authorities.count), authorities.map(\.text))
        facts += brokered.map { ("asks", "another program, for \($0.authority.text)") }
        if !resources.isEmpty {
            facts.append(("knows", resources.map(\.name).joined(separator: ", ")))
        }
        let others = [
            ("supports", supports.map(\.rawValue).sorted()),
            ("signs", identities.map(\.rawValue)),
            ("turns", exchanges.map(\.name).uniqued), ("issuers", issuers.flatMap(\.hosts)),
            ("clients", clients.map(\.name)), ("sources", sources.map(\.name)), ("options", options),
        ]
        return facts + others.filter { !$0.1.isEmpty }.map { ($0.0, $0.1.joined(separator: ", ")) }
    }

    fileprivate var json: JSONValue {
        .object([
            "name": .string(name), "version": .string(version), "description": .string(summary),
            "folder": .string(folder), "executable": .string(executable), "arguments": JSONValue(strings: arguments),
            "kind": JSONValue(kind), "flows": JSONValue(strings: flows.map(\.rawValue)),
            "authorities": .array(
                authorities.map { ["hosts": JSONValue(strings: $0.hosts), "path": .string($0.pathText)] }),
            "brokered": .array(
                brokered.map {
                    [
                        "kind": .string($0.kind), "hosts": JSONValue(strings: $0.authority.hosts),
                        "path": .string($0.authority.pathText),
                    ]
                }),
            "resources": .array(
                resources.map {
                    [
                        "name": .string($0.name), "hosts": JSONValue(strings: $0.hosts),
                        "scopes": JSONValue(strings: $0.scopes),
                    ]
                }),
            "supports": JSONValue(strings: supports.map(\.rawValue).sorted()),
            "identities": JSONValue(strings: identities.map(\.rawValue)),
            "exchanges": .array(
                exchanges.map { ["name": .string($0.name), "hosts": JSONValue(strings: $0.hosts)] }),
            "issuers": .array(issuers.map { ["kind": .string($0.kind), "hosts": JSONValue(strings: $0.hosts)] }),
            "sources": JSONValue(strings: sources.map(\.name)), "options": JSONValue(strings: options),
            "clients": .array(clients.map { ["name": .string($0.name), "id": .string($0.id)] }),
            "notes": .array(notes.map(\.json)),
        ])
    }
}

extension PluginRegistry {
    fileprivate var json: JSONValue {
        [
            "plugins": .array(plugins.map(\.json)),
            "problems": .array(problems.map(\.json)),
        ]
    }
}

extension SettingsError {
    fileprivate var json: JSONValue {
        [
            "plugin": JSONValue(plugin), "file": .string(file), "line": JSONValue(line),
            "message": .string(message.text),
            "hint": JSONValue(hint?.text),
        ]
    }
}

struct PluginCheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check that a plugin follows the protocol.",
        discussion: """
            Runs it for each trial, without network. For a trial that it fails, this prints what it was asked, how it ended and \
            what it wrote to standard error. The exit status is 1 if it fails one.
            """)

    static let examples: KeyValuePairs = [
        "Check an installed plugin": "lanyard plugin check aad-tenant",
        "Check a plugin that you are writing": "lanyard plugin check ./my-plugin",
    ]

    @Argument(help: "The name of an installed plugin, or the folder with its plugin.toml.")
    var plugin: String

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let plugin = try context.plugin(plugin)
        let seclusion = await Seclusion()
        let trials = await ConformanceKit(plugin, environment: context.environment, seclusion: seclusion).run()
        let failures = trials.count { $0.fault != nil }
        if json {
            context.console.print(json: Self.json(plugin, trials))
        } else {
            var shown: ArraySlice<String> = []
            for trial in trials {
                let line = "\(trial.fault == nil ? "pass" : "fail")  \(trial.name)"
                context.console.print(line.wrapped(columns: Console.columns, indent: 6, from: 0))
                guard let fault = trial.fault else { continue }
                context.console.print("      -> \(fault.wrapped(columns: Console.columns, indent: 9))")
                // What it was asked differs, but it may have ended alike.
                let isAgain = trial.evidence.count > 2 && trial.evidence.dropFirst() == shown
                for line in isAgain ? [trial.evidence[0], "(then as above)"] : trial.evidence {
                    context.console.print("         \(line.displayable(limit: 400))")
                }
                shown = trial.evidence.dropFirst()
            }
            let whole = failures == 0 ? "follows the protocol" : "fails \(failures) of \(trials.count) trials"
            context.console.note("\(plugin.name) \(whole)")
        }
        if seclusion == nil {
            context.console.note(
                "this system gives users no networks of their own, so only the requests kept \(plugin.name) off the network"
            )
        }
        for precedence in context.registry.precedences(with: plugin) { context.console.note(Hint(precedence.text)) }
        guard failures == 0 else { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private static func json(_ plugin: PluginManifest, _ trials: [ConformanceKit.Trial]) -> JSONValue {
        [
            "plugin": .string(plugin.name), "version": .string(plugin.version),
            "trials": .array(
                trials.map {
                    [
                        "name": .string($0.name), "passed": .bool($0.fault == nil),
                        "fault": JSONValue($0.fault), "evidence": JSONValue(strings: $0.evidence),
                    ]
                }),
        ]
    }
}

extension CommandContext {
    /// Returns a plugin by its name or its folder.
    func plugin(_ plugin: String) throws(CommandError) -> PluginManifest {
        var environment = environment
        var name = plugin
        let isPath = plugin.hasBytes("/") || plugin.hasPrefix(".")
        if isPath {
            guard let folder = FolderOfPlugin.path(of: plugin) else {
                throw CommandError("\(plugin) is not there", status: .usage)
            }
            guard FolderOfPlugin.isThere(folder) else { throw CommandError("there is no plugin.toml in \(plugin)") }
            name = folder.pieces(between: "/").last.map(String.init) ?? ""
            environment["LANYARD_PLUGIN_PATH"] = FileTrust.parent(of: folder)
        }
        let registry = PluginRegistry.discover(environment: environment, executable: executable)
        if let manifest = registry.plugins.first(where: { $0.name == name }) { return manifest }
        if let problem = registry.problems.first(where: { $0.plugin == name }) { throw CommandError(problem) }
        let names = registry.plugins.map(\.name).joined(separator: ", ")
        throw CommandError(
            "no plugin \(name) is installed",
            hints: FolderOfPlugin.isThere(name)
                ? ["for the folder of that name here, write ./\(name)"]
                : ["installed: \(names)", "or name the folder of its plugin.toml, with a slash: ./NAME"])
    }
}

private enum FolderOfPlugin {
    /// Returns the path of a folder, or of the one that a manifest is in; its last name may be that of a link.
    static func path(of text: String) -> String? {
        guard var path = FileTrust.realPath(text) else { return nil }
        let words = text.pieces(between: "/")
        if let last = words.last, last != ".", last != "..", last != "plugin.toml", text.hasBytes("/") {
            let parent = text.utf8.first == UInt8(ascii: "/") ? "/" : "./"
            path = FileTrust.realPath(parent + words.dropLast().joined(separator: "/")).map { $0 + "/" + last } ?? path
        }
        return path.hasSuffix("/plugin.toml") ? FileTrust.parent(of: path) : path
    }

    /// Whether a folder has a manifest, if only a link that leads nowhere, or one that nobody may look into.
    static func isThere(_ folder: String) -> Bool {
        let file = folder + "/plugin.toml"
        return access(file, F_OK) == 0 || errno != ENOENT || FileStatus.linkTarget(of: file) != nil
    }
}
