import CommandKit
import Secrets
import Tools

/// The possible words at the cursor.
enum Proposal {
    /// One of these; `named` is the `--option=` at the beginning of the word, which no candidate includes.
    case candidates([Candidate], named: String)
    /// Any file.
    case files
    /// Another command line, beginning with this word.
    case command(start: Int)
}

/// A possible word at the cursor.
struct Candidate: Equatable {
    let text: String
    /// A description, for shells that show it.
    let note: String

    init(_ text: String, _ note: String = "") {
        self.text = text
        self.note = note
    }
}

extension Proposal {
    /// Finds the possible last words; the first word is the program's name.
    init(for words: [String], in context: CommandContext) {
        let (program, words) = Self.program(words)
        let point = CompletionPoint(words, in: program)
        switch point.place {
        case .option: self = .candidates(point.options.candidates + point.goingBack, named: "")
        case .value(let parameter, let named): self = Self.values(of: parameter, at: point, named: named, context)
        case .foreign(let start): self = .command(start: start)
        case .word(let parameter):
            guard point.path.first != "help" else {
                self = .candidates(Self.commands(below: point.arguments, in: program), named: "")
                return
            }
            var subcommands = point.arguments.isEmpty ? point.command.subcommands.candidates : []
            if point.path == ["unconfigure"] {
                let list = ToolList(context)
                subcommands.removeAll { name in ToolSetup.all.contains { $0.name == name.text && !list.isUsed(by: $0) }
                }
            }
            guard let parameter else {
                self = .candidates(subcommands.isEmpty ? point.options.candidates : subcommands, named: "")
                return
            }
            // A plugin may also be given by its folder.
            let isPath =
                parameter.subject == "plugin" && words.last?.utf8.contains(where: { "./".utf8.contains($0) }) == true
            self = isPath ? .files : Self.values(of: parameter, at: point, named: "", context)
        }
    }

    /// Returns the program and the words from its name on, without the `git` before a helper.
    private static func program(_ words: [String]) -> (CommandTree, [String]) {
        let helper = words.dropLast().firstIndex { $0.programName.hasSuffix("credential-lanyard") }
        guard let helper, words.first?.programName != "lanyard" else { return (.lanyard, words) }
        return (CommandTree.lanyard.asHelper, Array(words[helper...]))
    }

    private static func values(
        of parameter: CommandParameter, at point: CompletionPoint, named: String, _ context: CommandContext
    ) -> Proposal {
        if parameter.isPath { return .files }
        if point.path == ["sandbox"] { return .candidates(point.arguments.isEmpty ? sandbox : [], named: "") }
        if !parameter.values.isEmpty { return .candidates(parameter.values, named: named) }
        if point.path == ["config", "set"], parameter.subject == "value", let key = point.arguments.first {
            return key == "ca-file" ? .files : .candidates(KnownValues(context).of(key), named: named)
        }
        if point.path.first == "configure", parameter.subject == "profile",
            let tool = ToolSetup.all.first(where: { $0.name == point.path.last })
        {
            let offers = (try? tool.settings(ToolTarget(context)).offers()) ?? []
            let shown = offers.filter { $0.profile == $0.profile.displayable(limit: 1000) }
            return .candidates(shown.map { Candidate($0.profile, $0.summary) }, named: named)
        }
        let known = KnownValues(context).of(subject(of: parameter, at: point))
        return .candidates(known + (parameter.subject == "account" ? point.goingBack : []), named: named)
    }

    /// Returns the subject of a value; a URL may be one of a rule to remove, of a place without a rule yet, or of one
    /// with a rule.
    private static func subject(of parameter: CommandParameter, at point: CompletionPoint) -> String {
        if point.path.first == "forward", parameter.subject == "name" { return "forward" }
        guard parameter.subject == "url" else { return parameter.subject }
        if point.path == ["forward", "remove"] { return "forward-url" }
        return switch point.path {
        case ["rule", "remove"]: point.has("--system") ? "system-rule" : "user-rule"
        case ["rule", "add"], ["forward", "add"], ["configure", "git"]: "known-url"
        default: "url"
        }
    }

    /// The commands of lanyard-sandbox, which takes too long to be asked.
    private static let sandbox = [
        Candidate("serve", "run the authority and the git remote"), Candidate("sign-in", "sign in without a browser"),
    ]

    /// Returns the arguments for `help`.
    private static func commands(below names: [String], in program: CommandTree) -> [Candidate] {
        var command = program
        for name in names {
            guard let next = command.subcommand(name) else { return [] }
            command = next
        }
        return command.subcommands.candidates
    }
}

extension CompletionPoint {
    /// The `-` that `use` accepts instead of an account.
    fileprivate var goingBack: [Candidate] {
        path == ["use"] && arguments.isEmpty ? [Candidate("-", "the account used before")] : []
    }
}

extension [CommandParameter] {
    fileprivate var candidates: [Candidate] {
        flatMap { option in
            let long = option.names.filter { $0.hasPrefix("--") }
            return (long.isEmpty ? option.names : long).map { Candidate($0, option.note) }
        }
    }
}

extension [CommandTree] {
    fileprivate var candidates: [Candidate] { filter(\.isShown).map { Candidate($0.name, $0.note) } }
}

extension String {
    fileprivate var programName: String {
        String(decoding: utf8.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    }
}
