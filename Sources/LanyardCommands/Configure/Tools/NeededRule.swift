import ArgumentParser
import Secrets
import Terminal

/// A rule that a tool needs because of its former settings, with the arguments for `lanyard rule add`.
struct NeededRule: Sendable {
    /// The tool or cluster that needs the rule, for people.
    let subject: String
    /// The user in the tool's settings that the rule comes from.
    let user: String
    /// The arguments of `lanyard rule add`.
    let arguments: [String]
    /// The rules for the same URL that other users' settings imply; only one of them can be added.
    var alternatives: [NeededRule] = []

    fileprivate var command: ShellCommand { ShellCommand(words: ["lanyard", "rule", "add"] + arguments) }
    /// The URL of the rule.
    fileprivate var url: String { arguments.first ?? "" }
}

extension [NeededRule] {
    /// Returns one rule per URL, that of the preferred user if there are several; the others are its alternatives.
    func first(preferring user: String?) -> [NeededRule] {
        let ranked = filter { $0.user == user } + filter { $0.user != user }
        var rules: [NeededRule] = []
        for rule in ranked {
            guard let place = rules.firstIndex(where: { $0.url == rule.url }) else {
                rules.append(rule)
                continue
            }
            let known = [rules[place]] + rules[place].alternatives
            if !known.contains(where: { $0.arguments == rule.arguments }) { rules[place].alternatives.append(rule) }
        }
        return rules
    }

    /// Adds each of the rules if the user agrees; if nobody can be asked, shows the commands.
    ///
    /// - Parameters:
    ///   - prompt: Asks the user; nil to ask nothing.
    ///   - isLeft: Whether the tool is configured already, so that only the rules are missing.
    ///   - context: The environment and streams of the command.
    /// - Throws: `Failure` if a rule can't be added.
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
