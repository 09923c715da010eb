import Addresses
import CommandKit
import Secrets
import SettingsFile
import Terminal
import Tools

/// A word in the place of a command that doesn't exist.
struct UnknownCommand: Equatable {
    let word: String
    /// The commands before the word, beginning with `lanyard`.
    let parents: [String]
    /// The suggested command, as words below `parents`.
    let meant: [String]

    /// A hint for a command that lanyard doesn't have; nil if there is nothing more to say.
    var recipe: Hint?

    /// The error, which the argument parser would report as an unexpected argument.
    var error: UsageError {
        let suggestion = meant.isEmpty ? [] : [Hint("did you mean", run: ShellCommand(words: parents + meant))]
        return UsageError(
            "there is no command '\(word)'",
            hints: suggestion + [recipe].compactMap(\.self) + [
                Hint("for all commands", run: ShellCommand(words: parents + ["--help"]))
            ])
    }
}

extension CommandTree {
    /// The names that other programs have for lanyard's commands.
    static let otherNames = [
        "account": "status", "accounts": "status --accounts", "agent": "forward serve", "auth": "status",
        "config git": "configure git", "diagnose": "doctor", "env": "exec",
        "get-access-token": "token", "init": "configure git", "install": "configure git", "list": "status",
        "log-in": "login", "log-out": "logout", "logoff": "logout", "logon": "login", "ls": "status",
        "print-access-token": "token", "purge": "cache clear", "run": "exec", "setup": "configure git",
        "sign-in": "login", "sign-out": "logout", "signin": "login", "signout": "logout",
        "switch": "use", "uninstall": "unconfigure git", "whoami": "status", "why": "explain",
    ]

    /// Returns a tool that `configure` knows by another name or doesn't know.
    private func otherTool(_ words: [String]) -> UnknownCommand? {
        guard words.count == 2, ["configure", "unconfigure"].contains(words[0]) else { return nil }
        let own = words[1] == "list" ? Hint("for the list of tools", run: "lanyard configure --list") : nil
        let known = own ?? Tool.recipe(for: words[1])
        let tool = known == nil ? ToolSetup.serving(words[1])?.name : nil
        let recipe = words[0] == "configure" ? known : nil
        guard tool != nil || recipe != nil else { return nil }
        return UnknownCommand(
            word: words.joined(separator: " "), parents: [name], meant: tool.map { [words[0], $0] } ?? [],
            recipe: recipe)
    }

    /// Returns the first argument in the place of a command that isn't one; nil if there is none.
    func unknownCommand(in arguments: [String]) -> UnknownCommand? {
        var command = self
        var parents = [name]
        for (index, word) in arguments.enumerated() {
            guard !command.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = command.subcommand(word) else {
                let words = Array(arguments[...index])
                return otherTool(words) ?? otherCommand(words, before: arguments.dropFirst(index + 1).first)
                    ?? UnknownCommand(word: word, parents: parents, meant: command.nearest(to: word))
            }
            command = next
            parents.append(next.name)
        }
        return nil
    }

    /// Returns the command meant by the first words of a command line; nil unless another program uses them as a
    /// command's name.
    private func otherCommand(_ words: [String], before next: String?) -> UnknownCommand? {
        let name = words.joined(separator: " ")
        // Some programs have commands below `auth` with the same names as lanyard's.
        let below = name == "auth" ? next.flatMap { subcommand($0)?.name ?? Self.otherNames[$0] } : nil
        guard let meant = below ?? Self.otherNames[name] else { return nil }
        return UnknownCommand(word: name, parents: [self.name], meant: meant.pieces(between: " ").map(String.init))
    }

    private func nearest(to word: String) -> [String] {
        [subcommands.filter(\.isShown).flatMap { [$0.name] + $0.aliases }.nearest(to: word)].compactMap(\.self)
    }
}
