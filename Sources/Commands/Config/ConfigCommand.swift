import Addresses
import ArgumentParser
import CommandKit
import JSON
import Model
import Rules
import Secrets
import SettingsFile
import Terminal

struct ConfigCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and change the settings that are not rules.",
        subcommands: [
            ConfigGetCommand.self, ConfigSetCommand.self, ConfigUnsetCommand.self, ConfigListCommand.self,
        ])

    static let examples: KeyValuePairs = ["See every setting, and what sets it": "lanyard config list"]
}

struct ConfigListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the settings, and what sets each.")

    static let examples: KeyValuePairs = ["See every setting, and what sets it": "lanyard config list"]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let settings = try Configuration.settings(in: context)
        let console = context.console
        guard !json else {
            return console.print(json: .array(settings.map(\.json)))
        }
        let rows = settings.map { setting in
            [setting.key, setting.value?.words.joined(separator: " ") ?? "-", setting.origin(context)]
        }
        let options = try Configuration.pluginOptions(in: context)
        let table = Table([["KEY", "VALUE", "FROM"]] + rows + options)
        for line in table.wrapped(columns: Console.columns, indent: 0) { console.print(line) }
    }
}

extension Configuration {
    /// The options for plugins, as rows of the list.
    fileprivate static func pluginOptions(in context: CommandContext) throws(CommandError) -> [[String]] {
        let all: [String: [String: String]]
        do throws(SettingsError) { all = try load(environment: context.environment).pluginOptions } catch {
            throw CommandError(ofConfiguration: error)
        }
        return all.sorted { $0.key < $1.key }.flatMap { plugin, options in
            options.sorted { $0.key < $1.key }.map {
                ["plugin.\(plugin).\($0)", $1, "[plugin.\(plugin)]"]
            }
        }
    }
}

struct ConfigGetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value in effect for a setting.",
        discussion: "Each value is on a line of its own. If there is none, nothing is printed and the exit status is 1."
    )

    static let examples: KeyValuePairs = ["See how long you have to sign in": "lanyard config get timeout"]

    @Argument(help: "The setting's key.")
    var key: String

    mutating func run(in context: CommandContext) async throws {
        if let option = try context.pluginOption(key) {
            let value = try Session(context).configuration.pluginOptions[option.plugin]?[option.name]
            guard let value else { throw ExitCode(ExitStatus.failed.rawValue) }
            return context.console.print(value)
        }
        let key = try SettingKey(key)
        let setting = try Configuration.settings(in: context).first { $0.key == key.name }
        guard let value = setting?.value else { throw ExitCode(ExitStatus.failed.rawValue) }
        for word in value.words { context.console.print(word) }
    }
}

struct ConfigSetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set a setting in your configuration, or in the system's.",
        usage: "lanyard config set [--system] <key> <value> ...",
        discussion: "An invalid value is not written. Comments and the rest of the file stay as they are.")

    static let examples: KeyValuePairs = [
        "Open no browser on this machine, and have more time to sign in": """
        lanyard config set browser none
        lanyard config set timeout 1800
        """
    ]

    @OptionGroup var place: ScopeOptions

    @Argument(help: "The setting's key.")
    var key: String

    @Argument(help: "The value; known-authorities accepts several.")
    var value: [String]

    mutating func run(in context: CommandContext) async throws {
        if let option = try context.pluginOption(key, value: value.first) { return try set(option, in: context) }
        let key = try SettingKey(key)
        let wanted = try key.value(value, in: context)
        let file = try SettingFileTarget(of: key, value, isSystem: place.system, in: context)
        try key.requireUsable(wanted, in: Session(context, of: place.scope, isToBeWritten: true))
        try file.change { file throws(SettingsError) in
            try file.set(key.name, to: wanted, schema: InstalledFiles(context).schema)
        }
        let shown = wanted.words.joined(separator: " ").displayable()
        context.console.note("\(key.name) is now \(shown), in \(file.name)")
        key.tellLack(wanted, in: context)
        try key.tellOverride(file, in: context)
    }

    private func set(_ option: PluginOption, in context: CommandContext) throws(CommandError) {
        guard let text = value.first, value.count == 1, !text.isEmpty, text.utf8.count <= 4096,
            !text.hasControlCharacter
        else {
            throw CommandError(
                "`\(key)` must be one text on one line", hints: ["put it into quotes"], status: .usage)
        }
        let file = try SettingFileTarget(ofPluginsIn: context, isSystem: place.system)
        try file.change { file throws(SettingsError) in
            try file.set(option, to: text, schema: InstalledFiles(context).schema)
        }
        context.console.note("\(key) is now \(text), in \(file.name)")
    }
}

struct ConfigUnsetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "unset", abstract: "Remove a setting from your configuration, or from the system's.",
        usage: "lanyard config unset [--system] <key>",
        discussion: "A comment on the same line is removed too; comments above it and the rest of the file stay.")

    static let examples: KeyValuePairs = ["Go back to the default": "lanyard config unset timeout"]

    @OptionGroup var place: ScopeOptions

    @Argument(help: "The setting's key.")
    var key: String

    mutating func run(in context: CommandContext) async throws {
        var isThere = false
        if let option = try context.pluginOption(key) {
            let file = try SettingFileTarget(ofPluginsIn: context, isSystem: place.system)
            try file.change { file throws(SettingsError) in isThere = try file.unset(option) }
            return tell(isThere, in: file, context)
        }
        let key = try SettingKey(key)
        let file = try SettingFileTarget(of: key, isSystem: place.system, in: context)
        try file.change { file throws(SettingsError) in isThere = try file.unset(key.name) }
        tell(isThere, in: file, context)
        try key.tellOverride(file, in: context)
    }

    private func tell(_ isThere: Bool, in file: SettingFileTarget, _ context: CommandContext) {
        context.console.note(isThere ? "\(key) is no longer set in \(file.name)" : "\(key) is not set in \(file.name)")
    }
}

extension Configuration.Setting {
    /// The setting as JSON, documented in lanyard-config(1).
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "key": .string(key), "value": value?.json ?? .null, "locked": .bool(isLocked),
        ]
        switch origin {
        case .builtIn: members["from"] = "default"
        case .file(let file, let line):
            members["from"] = "file"
            members["file"] = .string(file)
            members["line"] = JSONValue(line)
        case .variable(let name):
            members["from"] = "variable"
            members["variable"] = .string(name)
        }
        return .object(members)
    }
}

extension SettingValue {
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .integer(Int64(number))
        case .truth(let truth): .bool(truth)
        case .list(let texts): JSONValue(strings: texts)
        }
    }
}
