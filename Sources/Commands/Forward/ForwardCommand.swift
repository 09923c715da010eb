import ArgumentParser
import CommandKit
import JSON
import Model
import Rules
import Secrets
import SettingsFile
import Terminal

struct ForwardCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "forward", abstract: "Answer remote hosts and containers.",
        subcommands: [
            ForwardAddCommand.self, ForwardListCommand.self, ForwardRemoveCommand.self, ForwardServeCommand.self,
        ], aliases: ["forwards"])

    static let examples: KeyValuePairs = ["See who may ask for what": "lanyard forward list"]
}

struct ForwardAddCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Let a remote host or a container ask for URLs.",
        usage: "lanyard forward add [--[no-]confirm] [--system] <name> <url> ...",
        discussion: """
            If a forward of that name exists, the URLs are added to it; with --confirm or --no-confirm, URLs can be left out. A running \
            agent applies changes at once.
            """)

    static let examples: KeyValuePairs = [
        "Let a host ask for an organisation's repositories": "lanyard forward add devbox \(Example.url)",
        "Be asked before each use": "lanyard forward add --confirm devbox \(Example.url)",
    ]

    @Argument(help: "The name: letters, digits, '.', '_' and '-'.")
    var name: String

    @Argument(help: ArgumentHelp("A URL that it may ask for, including everything below it.", valueName: "url"))
    var urls: [String] = []

    @Flag(inversion: .prefixedNo, help: "Ask for your confirmation each time.")
    var confirm: Bool?

    @OptionGroup var place: ScopeOptions

    mutating func validate() throws {
        guard Forward.isName(name) else {
            throw ValidationError("a forward's name is a short word of letters, digits, '.', '_' and '-'")
        }
        guard !urls.isEmpty || confirm != nil else {
            throw ValidationError("name the URLs that \(name) may ask for")
        }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, of: place.scope, isToBeWritten: true)
        let added = try urls.map { url throws(CommandError) in try URLPattern(typed: url) }
        let confirms = confirm
        let name = name
        let result = try session.tables.changing { (file: TableFile<Forward>) throws(SettingsError) in
            try file.requireWritable()
            let old = file.tables.first { $0.name == name }
            var forward = old ?? Forward(name: name, urls: [], confirms: false)
            forward.urls += added.filter { url in !forward.urls.contains { $0.means(url) } }
            forward.confirms = confirms ?? forward.confirms
            guard !forward.urls.isEmpty else { return forward }
            if let old {
                try file.replace(old, with: forward)
            } else {
                try file.add(forward, schema: InstalledFiles(context).schema)
            }
            return forward
        }
        let console = context.console
        guard !result.urls.isEmpty else {
            throw CommandError("name the URLs that \(name) may ask for: there is no such forward yet", status: .usage)
        }
        let all = result.urls.map { $0.text.displayable(limit: 200) }.joined(separator: ", ")
        let question = result.confirms ? ", and you are asked each time" : ""
        console.note("\(name) may ask for \(all)\(question); in \(context.short(session.tables.file))")
        for url in added where url.isTokenPlace && !session.maps(url) {
            console.note(
                .addingRule(
                    forGitAt: url.text,
                    after: "no rule maps \(url.text.displayable(limit: 200)), so it gets only passwords; "))
        }
        console.note(Hint("to use it from a host that you reach by ssh", run: "lanyard configure ssh \(name)"))
    }
}

struct ForwardListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the forwards and their URLs.")

    static let examples: KeyValuePairs = [
        "See each forward's name": "lanyard forward list --json | jq --raw-output '.[].name'"
    ]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let forwards = try Session(context).configuration.forwards
        guard !json else {
            return context.console.print(json: .array(forwards.map(\.json)))
        }
        if forwards.isEmpty {
            context.console.note(Hint("nothing is forwarded; to begin", run: "lanyard forward add NAME URL"))
        }
        for forward in forwards {
            context.console.print(forward.name + (forward.confirms ? " (you are asked each time)" : ""))
            for url in forward.urls { context.console.print("    \(url.text.displayable())") }
        }
    }
}

struct ForwardRemoveCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a forward, or some of its URLs.",
        discussion: """
            A running agent aborts the forward's pending requests. The comment right above the forward is removed too.
            """)

    static let examples: KeyValuePairs = [
        "Stop a host from asking": "lanyard forward remove devbox",
        "Remove one URL from it": "lanyard forward remove devbox \(Example.url)",
    ]

    @Argument(help: "The forward's name, as `lanyard forward list` shows it.")
    var name: String

    @Argument(help: ArgumentHelp("A URL that it may no longer ask for; all if left out.", valueName: "url"))
    var urls: [String] = []

    @OptionGroup var place: ScopeOptions

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, of: place.scope)
        let removed = try urls.map { url throws(CommandError) in try URLPattern(typed: url) }
        let name = name
        let left: Forward? = try session.tables.changing { (file: TableFile<Forward>) throws(SettingsError) in
            try file.requireWritable()
            guard let old = file.tables.first(where: { $0.name == name }) else { return nil }
            var rest = old
            rest.urls.removeAll { url in removed.contains { $0.means(url) } }
            guard rest.urls.count == old.urls.count - removed.count else { return nil }
            if removed.isEmpty { rest.urls = [] }
            if rest.urls.isEmpty { try file.remove(old) } else { try file.replace(old, with: rest) }
            return rest
        }
        let file = context.short(session.tables.file)
        guard let left else {
            throw CommandError(
                removed.isEmpty ? "there is no forward \(name) in \(file)" : "no forward \(name) in \(file) lists that",
                hints: [Hint("see which there are", run: "lanyard forward list")])
        }
        context.console.note(
            left.urls.isEmpty ? "removed the forward \(name) from \(file)" : "\(name) may no longer ask for that")
    }
}

extension Forward {
    /// The forward as JSON, documented in lanyard-forward(1).
    fileprivate var json: JSONValue {
        .object([
            "name": .string(name), "urls": JSONValue(strings: urls.map(\.text)), "confirm": .bool(confirms),
            "file": .string(file), "line": JSONValue(line),
        ])
    }
}
