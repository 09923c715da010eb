import Secrets
import SettingsFile

/// A word that stands where a command is expected and is none.
struct UnknownCommand: Equatable {
    let word: String
    /// The command that may be meant.
    let nearest: String?

    /// The argument parser's complaint with this for its reason; the parser knows unexpected arguments only.
    func complaint(instead text: String) -> String {
        let rest = Substring(text.utf8.drop { $0 != UInt8(ascii: "\n") })
        let suggestion = nearest.map { " Did you mean '\($0)'?" } ?? ""
        return "Error: There is no command '\(word.displayable(limit: 60))'.\(suggestion)\(rest)"
    }
}

extension CommandTree {
    /// The first of the arguments that had to be a command and is none; nil if all that had to be are.
    func unknownCommand(in arguments: [String]) -> UnknownCommand? {
        var command = self
        for word in arguments {
            guard !command.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = command.subcommand(word) else {
                let names = command.subcommands.flatMap { [$0.name] + $0.aliases }
                return UnknownCommand(word: word, nearest: names.nearest(to: word))
            }
            command = next
        }
        return nil
    }
}
