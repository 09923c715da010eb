import ArgumentParser
import CommandKit
import Secrets
import Terminal
import Tools

extension [NeededRule] {
    /// Adds each of the rules if the user agrees; if nobody can be asked, shows the commands.
    ///
    /// - Parameters:
    ///   - prompt: Asks the user; nil to ask nothing.
    ///   - isLeft: Whether the tool is configured already, so that only the rules are missing.
    ///   - context: The environment and streams of the command.
    /// - Throws: `CommandError` if a rule can't be added.
    func offer(_ prompt: Prompt?, isLeft: Bool, _ context: CommandContext) async throws {
        for rule in self {
            let needs = prompt == nil && isLeft ? "still needs a rule" : "needs a rule"
            let owner = rule.alternatives.isEmpty ? "" : ", here for the user \(rule.user.displayable(limit: 200))"
            context.console.note(Hint("\(rule.subject) \(needs)\(owner); to add it", run: rule.command))
            for other in rule.alternatives {
                context.console.note(
                    Hint("or instead, for the user \(other.user.displayable(limit: 200))", run: other.command))
            }
            guard let prompt, await prompt.accepts("add it?") else { continue }
            var command = try RuleAddCommand.parse(rule.arguments)
            try await command.run(in: context)
        }
    }
}
