import Addresses
import ArgumentParser
import Files
import JSON
import PluginConformance
import PluginHost
import Secrets
import Terminal

struct PluginCheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check that a plugin follows the protocol.",
        discussion: "Runs it a dozen times, without network or sign-in. The exit status is 1 if it fails a trial.")

    static let examples: KeyValuePairs = [
        "Check an installed plugin": "lanyard plugin check aad-tenant",
        "Check a plugin that you are writing": "lanyard plugin check ./my-plugin",
    ]

    @Argument(help: "The name of an installed plugin, or the folder with its plugin.toml.")
    var plugin: String

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let plugin = try found(context)
        let trials = await ConformanceKit(plugin, environment: context.environment).run()
        let failures = trials.count { $0.fault != nil }
        if json {
            context.console.print(json: Self.json(plugin, trials))
        } else {
            for trial in trials {
                context.console.print("\(trial.fault == nil ? "pass" : "fail")  \(trial.name)")
                guard let fault = trial.fault else { continue }
                context.console.print("      -> \(fault.wrapped(columns: OutputWidth.ofTerminal, indent: 9))")
            }
            let whole = failures == 0 ? "follows the protocol" : "fails \(failures) of \(trials.count) trials"
            context.console.note("\(plugin.name) \(whole)")
        }
        guard failures == 0 else { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func found(_ context: CommandContext) throws(Failure) -> PluginManifest {
        var environment = context.environment
        var name = plugin
        let isPath = plugin.hasBytes("/") || plugin == "."
        if isPath {
            guard let path = FileTrust.realPath(plugin) else {
                throw Failure("\(plugin.displayable(limit: 200)) is not there", status: .usage)
            }
            var parts = path.pieces(between: "/")
            if parts.last == "plugin.toml" { parts.removeLast() }
            name = parts.popLast().map(String.init) ?? ""
            environment["LANYARD_PLUGIN_PATH"] = "/" + parts.joined(separator: "/")
        }
        let registry = PluginRegistry.discover(environment: environment, executable: context.executable)
        let folder = isPath ? "\(environment["LANYARD_PLUGIN_PATH"] ?? "")/\(name)/" : "/\(name)/"
        if let problem = registry.problems.first(where: { $0.file.hasBytes(folder) }) {
            throw Failure(problem.description, hints: problem.hints)
        }
        guard let manifest = registry.plugins.first(where: { $0.name == name }) else {
            let names = registry.plugins.map(\.name).joined(separator: ", ")
            throw Failure(
                isPath
                    ? "there is no plugin.toml in \(plugin.displayable(limit: 200))"
                    : "no plugin \(name.displayable(limit: 64)) is installed",
                hints: ["installed: \(names)", "or name the folder of its plugin.toml"])
        }
        return manifest
    }

    private static func json(_ plugin: PluginManifest, _ trials: [ConformanceKit.Trial]) -> JSONValue {
        [
            "plugin": .string(plugin.name), "version": .string(plugin.version),
            "trials": .array(
                trials.map {
                    [
                        "name": .string($0.name), "passed": .bool($0.fault == nil),
                        "fault": JSONValue($0.fault),
                    ]
                }),
        ]
    }
}
