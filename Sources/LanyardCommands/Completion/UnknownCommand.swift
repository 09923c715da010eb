import Addresses
import Secrets
import SettingsFile
import Terminal

/// A word that stands where a command is expected and is none.
struct UnknownCommand: Equatable {
    let word: String
    /// The commands that lead there, from `lanyard` on.
    let parents: [String]
    /// What may be meant: the words below `parents` that make up a command.
    let meant: [String]

    /// The argument parser only knows of unexpected arguments.
    var error: UsageError {
        let suggestion = meant.isEmpty ? [] : [Hint("did you mean", run: ShellCommand(words: parents + meant))]
        return UsageError(
            "there is no command '\(word.displayable(limit: 60))'",
            hints: suggestion + [Hint("for all commands", run: ShellCommand(words: parents + ["--help"]))])
    }
}

extension CommandTree {
    /// What other programs call the commands.
    static let otherNames = [
        "auth": "status", "config git": "configure git", "diagnose": "doctor", "env": "exec",
        "get-access-token": "token", "init": "configure git", "install": "configure git", "list": "accounts",
        "log-in": "login", "log-out": "logout", "logoff": "logout", "logon": "login", "ls": "accounts",
        "print-access-token": "token", "purge": "cache clear", "run": "exec", "setup": "configure git",
        "sign-in": "login", "sign-out": "logout", "signin": "login", "signout": "logout",
        "switch": "use", "uninstall": "unconfigure git", "whoami": "status", "why": "explain",
    ]

    /// The first of the arguments that had to be a command and is none; nil if all that had to be are.
    func unknownCommand(in arguments: [String]) -> UnknownCommand? {
        var command = self
        var parents = [name]
        for (index, word) in arguments.enumerated() {
            guard !command.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = command.subcommand(word) else {
                return otherCommand(Array(arguments[...index]), before: arguments.dropFirst(index + 1).first)
                    ?? UnknownCommand(word: word, parents: parents, meant: command.nearest(to: word))
            }
            command = next
            parents.append(next.name)
        }
        return nil
    }

    /// What is meant by the words that a command line begins with; nil unless another program calls a command so.
    private func otherCommand(_ words: [String], before next: String?) -> UnknownCommand? {
        let name = words.joined(separator: " ")
        // Of other programs' commands below `auth`, some are called as here.
        let below = name == "auth" ? next.flatMap { subcommand($0)?.name ?? Self.otherNames[$0] } : nil
        guard let meant = below ?? Self.otherNames[name] else { return nil }
        return UnknownCommand(word: name, parents: [self.name], meant: meant.pieces(between: " ").map(String.init))
    }

    private func nearest(to word: String) -> [String] {
        [subcommands.flatMap { [$0.name] + $0.aliases }.nearest(to: word)].compactMap(\.self)
    }
}
