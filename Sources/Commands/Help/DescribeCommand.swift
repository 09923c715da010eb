import ArgumentParser
import CommandKit
import JSON
import Model
import PluginWire
import Rules
import Terminal
import Tools

/// `lanyard describe`: what the programs are made of, for the scripts that make manual pages, links and packages.
///
/// Commands are as the argument parser describes them, with their examples and manual pages. Those without examples are
/// for lanyard itself.
struct DescribeCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Print what the programs are made of, as JSON.", shouldDisplay: false)

    static let examples: KeyValuePairs<String, String> = [:]

    mutating func run(in context: CommandContext) async throws {
        let dump = JSONValue(bytes: LanyardCommand._dumpHelp().utf8)?["command"] ?? .null
        let keys = [
            "": Configuration.keys, "client": AuthorityApp.keys, "forward": Forward.keys, "identity": Identity.keys,
            "policy": Configuration.policyKeys, "rule": Rule.keys,
        ]
        context.console.print(
            json: .object([
                "version": .string(Version.current),
                "command": Self.description(of: [LanyardCommand.self], dump),
                "links": JSONValue(Tool.programs),
                "tools": JSONValue(Tool.names),
                "keys": .object(keys.mapValues(JSONValue.init)),
                "statuses": .object(
                    Dictionary(
                        uniqueKeysWithValues: ExitStatus.allCases.map { ("\($0.rawValue)", .string($0.meaning)) })),
            ]))
    }

    /// Returns the description of the last command of a path, and of those below it.
    private static func description(of path: [any ParsableCommand.Type], _ dump: JSONValue) -> JSONValue {
        let command = path[path.count - 1]
        let below = command.configuration.subcommands.compactMap {
            subcommand in
            (dump["subcommands"]?.elements ?? []).first { $0["commandName"]?.string == subcommand._commandName }
                .map { description(of: path + [subcommand], $0) }
        }
        let groups = command.configuration.groupedSubcommands.map { group in
            JSONValue.object([
                "name": .string(group.name), "commands": JSONValue(group.subcommands.map { $0._commandName }),
            ])
        }
        let examples = ((command as? any WithExamples.Type)?.examples ?? [:]).map { purpose, command in
            JSONValue.object(["purpose": .string(purpose), "command": .string(command)])
        }
        return dump.merging(
            .object([
                "subcommands": .array(below), "groups": .array(groups), "examples": .array(examples),
                "manual": .string(LanyardCommand.manualPage(of: path)),
            ]))
    }
}

extension JSONValue {
    fileprivate init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }
}

extension ExitStatus {
    /// What the status says, for the manual.
    fileprivate var meaning: String {
        switch self {
        case .done: "Success, or nothing to say."
        case .failed: "Failure."
        case .interactionRequired: "Interaction required: a user is needed."
        case .scopesDeclined: "The authority granted less than requested."
        case .usage: "The command line is wrong."
        case .notExecutable: "The command that exec runs can't be executed."
        case .notFound: "The command that exec runs doesn't exist."
        }
    }
}
