import Addresses
import ArgumentParser
import CommandKit
import PluginWire
import Tools

extension LanyardCommand {
    /// Returns the argument parser's help with examples and the manual page added.
    ///
    /// `words` is the command line, which begins with the command that the help is for. Examples aren't wrapped,
    /// however narrow the terminal is, so that they can be copied.
    static func help(_ text: String, of words: [String]) -> String {
        let path = commands(of: words)
        let examples = (path.last as? any WithExamples.Type)?.examples ?? [:]
        let shown = examples.map { purpose, command in
            "  \(purpose):\n" + command.pieces(between: "\n").map { "    \($0)\n" }.joined() + "\n"
        }
        let body = text.utf8.last == UInt8(ascii: "\n") ? String(text.dropLast()) : text
        return """
            \(body)

            \(shown.isEmpty ? "" : "EXAMPLES:\n\(shown.joined())")  See 'man \(manualPage(of: path))' for the manual.
            """
    }

    /// Returns the commands that the first words name, beginning with `lanyard`.
    private static func commands(of words: [String]) -> [any ParsableCommand.Type] {
        var path: [any ParsableCommand.Type] = [LanyardCommand.self]
        for word in words {
            let below = path[path.count - 1].configuration.subcommands
            guard let next = below.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) })
            else { break }
            path.append(next)
        }
        return path
    }

    /// Returns the name of the manual page; git's operations share one, every other command has its own.
    static func manualPage(of path: [any ParsableCommand.Type]) -> String {
        guard let command = path.dropFirst().first?._commandName else { return "lanyard" }
        if GitProtocol.Verb(rawValue: command) != nil { return "git-credential-lanyard" }
        // The manual page of `exec` also describes its stand-ins.
        return "lanyard-\(Tool.all.contains { $0.standIn == command } ? "exec" : command)"
    }
}

extension Version {
    /// The output of `--version`: the program first, then a line for each interface that another program must match.
    ///
    /// It has no commit and no date, so that the same sources make the same bytes, whoever builds them. It doesn't show
    /// libsecret, which is only loaded when a keyring is needed; `doctor` checks that.
    static let description = """
        lanyard \(current)
        credential protocol: \(GitProtocol.formatVersion) (\(GitProtocol.understood.joined(separator: ", ")))
        plugin protocol: \(PluginProtocol.version)
        """
}
