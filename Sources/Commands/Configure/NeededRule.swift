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
        var set: Set<String> = []
        for rule in self {
            let options = rule.options.filter { !set.contains($0.key) }
            let needs = prompt == nil && isLeft ? "still needs a rule" : "needs a rule"
            for (key, value) in options {
                context.console.note(
                    Hint("\(rule.subject) \(needs), and before it", run: "lanyard config set \(key) \(value)"))
            }
            context.console.note(Hint("\(rule.subject) \(needs); to add it", run: rule.command))
            guard let prompt, await prompt.accepts("add it?") else { continue }
            for (key, value) in options {
                var command = try ConfigSetCommand.parse([key, value])
                try await command.run(in: context)
                set.insert(key)
            }
            var command = try RuleAddCommand.parse(rule.arguments)
            try await command.run(in: context)
        }
    }
}
