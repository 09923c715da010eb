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
        for (index, word) in arguments.enumerated() {
            guard !command.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = command.subcommand(word) else {
                let names = command.subcommands.flatMap { [$0.name] + $0.aliases }
                let habit = habit(Array(arguments[...index]), before: arguments.dropFirst(index + 1).first)
                return UnknownCommand(word: word, nearest: habit ?? names.nearest(to: word))
            }
            command = next
        }
        return nil
    }

    /// The command for what is called so elsewhere, by gh or az for example.
    private func habit(_ words: [String], before next: String?) -> String? {
        switch words {
        case ["whoami"]: "status"
        case ["auth"]: next.flatMap { subcommand($0)?.name ?? habit([$0], before: nil) } ?? "status"
        case ["signin"], ["sign-in"], ["logon"]: "login"
        case ["signout"], ["sign-out"], ["logoff"]: "logout"
        case ["switch"]: "use"
        case ["config", "git"]: "configure git"
        default: nil
        }
    }
}
