import ArgumentParser
import Terminal

/// A rule that a tool needs by what its own settings said before, as `lanyard rule add` makes it.
struct NeededRule: Sendable {
    /// Who or what needs it, for people.
    let subject: String
    /// The arguments of `lanyard rule add`.
    let arguments: [String]

    fileprivate var command: ShellCommand { ShellCommand(words: ["lanyard", "rule", "add"] + arguments) }
}

extension [NeededRule] {
    /// Makes each of the rules if the person agrees; says how if nobody is to be asked.
    func offer(_ prompt: Prompt?, _ context: CommandContext) async throws {
        for rule in self {
            context.console.note(Hint("\(rule.subject) needs a rule", run: rule.command))
            guard let prompt, await prompt.accepts("add it?") else { continue }
            var command = try RuleAddCommand.parse(rule.arguments)
            try await command.run(in: context)
        }
    }
}
