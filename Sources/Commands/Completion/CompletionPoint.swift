import CommandKit

/// The position of the cursor on a command line.
struct CompletionPoint {
    /// The kinds of words that may be at the cursor.
    enum Position {
        /// The name of an option.
        case option
        /// An option's value; `named` is the `--option=` at the beginning of the word.
        case value(CommandParameter, named: String)
        /// A subcommand or an argument.
        case word(CommandParameter?)
        /// A word of another command line, which starts at this word.
        case foreign(start: Int)
    }

    /// The command, as far as the words name one.
    private(set) var command: CommandTree
    /// The names of the command and its parents, without the program's.
    private(set) var path: [String] = []
    /// The arguments before the cursor.
    private(set) var arguments: [String] = []
    private(set) var place = Position.option
    private var awaiting: CommandParameter?
    private var isTerminated = false
    private var used: [CommandParameter] = []

    /// Parses the words from the program's name to the one at the cursor, which may be empty.
    init(_ words: [String], in program: CommandTree) {
        command = program
        for (index, word) in words.enumerated().dropFirst().dropLast() {
            if let start = foreignStart(before: index) {
                place = .foreign(start: start)
                return
            }
            read(word)
        }
        place = foreignStart(before: words.count - 1).map { .foreign(start: $0) } ?? self.place(of: words.last ?? "")
    }

    /// The options of the command that aren't used yet.
    var options: [CommandParameter] {
        command.options.filter { option in
            option.extent != .one || !used.contains { $0.names == option.names }
        }
    }

    /// Whether an option is before the cursor.
    func has(_ name: String) -> Bool { used.contains { $0.names.contains(name) } }

    private mutating func read(_ word: String) {
        if awaiting != nil {
            awaiting = nil
        } else if word == "--", !isTerminated {
            isTerminated = true
        } else if word.isOption, word != "-", !isTerminated {
            guard let option = command.option(word) else { return }
            used.append(option)
            if option.takesValue, !word.utf8.contains(UInt8(ascii: "=")) { awaiting = option }
        } else if arguments.isEmpty, let subcommand = command.subcommand(word) {
            command = subcommand
            path.append(word)
            used = []
        } else {
            arguments.append(word)
        }
    }

    private func place(of word: String) -> Position {
        if let awaiting { return .value(awaiting, named: "") }
        if word.isOption, !isTerminated {
            guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), let option = command.option(word),
                option.takesValue
            else {
                return .option
            }
            return .value(option, named: String(decoding: word.utf8[...equals], as: UTF8.self))
        }
        let ordinary = command.positionals.filter { $0.extent != .afterTerminator }
        if arguments.count < ordinary.count { return .word(ordinary[arguments.count]) }
        return .word(ordinary.last.flatMap { $0.extent == .one ? nil : $0 })
    }

    /// Returns the index of the word that begins another command line, if the command takes one after `--`.
    private func foreignStart(before index: Int) -> Int? {
        let takesOne = command.positionals.contains { $0.extent == .afterTerminator && $0.subject == "command" }
        return isTerminated && takesOne ? index : nil
    }
}

extension String {
    /// Whether it looks like an option.
    fileprivate var isOption: Bool { utf8.first == UInt8(ascii: "-") }
}
