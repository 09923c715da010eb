import ArgumentParser
import CommandKit
import JSON
import Tools

/// A command as described by the argument parser.
struct CommandTree {
    let name: String
    var aliases: [String] = []
    /// A one-line description.
    let note: String
    /// Whether it is offered; a tool's command isn't.
    var isShown = true
    var subcommands: [CommandTree] = []
    /// The options and flags that are shown.
    var options: [CommandParameter] = []
    /// The arguments without a name, in order.
    var positionals: [CommandParameter] = []

    /// All commands of lanyard.
    static var lanyard: CommandTree {
        let description = JSONValue(bytes: LanyardCommand._dumpHelp().utf8)?["command"]
        return CommandTree(description ?? .null)
    }

    /// The commands of git-credential-lanyard: only git's verbs, preceded by the options of `get`.
    var asHelper: CommandTree {
        CommandTree(
            name: "git-credential-lanyard", note: note,
            subcommands: subcommands.filter { GitProtocol.Verb(rawValue: $0.name) != nil }.map { verb in
                var verb = verb
                verb.isShown = true
                return verb
            },
            options: subcommand(GitProtocol.Verb.get.rawValue)?.options ?? [])
    }

    /// Returns the subcommand with a name or alias.
    func subcommand(_ name: String) -> CommandTree? {
        subcommands.first { $0.name == name || $0.aliases.contains(name) }
    }

    /// Returns the option that a word names, ignoring `=VALUE`.
    func option(_ word: String) -> CommandParameter? {
        let name = String(decoding: word.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        return options.first { $0.names.contains(name) }
    }
}

extension CommandTree {
    fileprivate init(_ json: JSONValue) {
        let parameters = (json["arguments"]?.elements ?? []).filter(\.isShown).map(CommandParameter.init)
        self.init(
            name: json["commandName"]?.string ?? "", aliases: (json["aliases"]?.elements ?? []).compactMap(\.string),
            note: json["abstract"]?.string ?? "", isShown: json.isShown,
            subcommands: (json["subcommands"]?.elements ?? []).map(CommandTree.init),
            options: parameters.filter { !$0.names.isEmpty }, positionals: parameters.filter(\.names.isEmpty))
    }
}

/// An option, a flag or an argument of a command.
struct CommandParameter {
    /// The number of words that an argument takes.
    enum Extent {
        /// One word.
        case one
        /// Any number of words.
        case many
        /// Everything after `--`.
        case afterTerminator
    }

    /// The names, such as `-h` and `--help`; empty for an argument.
    let names: [String]
    /// A one-line description.
    let note: String
    /// The kind of value, by a name that all commands share: the long option's, else the value's.
    let subject: String
    /// The only possible values; empty if there is no such list.
    let values: [Candidate]
    let takesValue: Bool
    let extent: Extent
    /// Whether the value is a path.
    let isPath: Bool
}

extension CommandParameter {
    fileprivate init(_ json: JSONValue) {
        let long = (json["names"]?.elements ?? []).first { $0["kind"]?.string == "long" }?["name"]?.string
        let valueName = json["valueName"]?.string ?? ""
        let kinds = json["completionKind"]?.members ?? [:]
        let notes = json["allValueDescriptions"]
        let listed = kinds["list"]?["values"] ?? json["allValues"]
        self.init(
            names: (json["names"]?.elements ?? []).compactMap { name in
                name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
            },
            note: json["abstract"]?.string ?? "", subject: long ?? valueName,
            values: (listed?.elements ?? []).compactMap(\.string).map { Candidate($0, notes?[$0]?.string ?? "") },
            takesValue: json["kind"]?.string != "flag",
            extent: json["parsingStrategy"]?.string == "postTerminator"
                ? .afterTerminator : json["isRepeating"] == .bool(true) ? .many : .one,
            isPath: kinds["file"] != nil || kinds["directory"] != nil || valueName == "file")
    }
}

extension JSONValue {
    fileprivate var isShown: Bool { self["shouldDisplay"] != .bool(false) }
}
