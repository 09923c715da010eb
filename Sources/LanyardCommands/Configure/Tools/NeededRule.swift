import ArgumentParser
import Secrets
import Terminal

/// A rule that a tool needs by what its own settings said before, as `lanyard rule add` makes it.
struct NeededRule: Sendable {
    /// Who or what needs it, for people.
    let subject: String
    /// Whose settings say so, as the tool calls them.
    let user: String
    /// The arguments of `lanyard rule add`.
    let arguments: [String]
    /// What others' settings say of the same; only one of them can be a rule.
    var alternatives: [NeededRule] = []

    fileprivate var command: ShellCommand { ShellCommand(words: ["lanyard", "rule", "add"] + arguments) }
    /// What it is a rule for.
    fileprivate var url: String { arguments.first ?? "" }
}

extension [NeededRule] {
    /// One rule for each URL, which is that of a user if there are several; the others are its alternatives.
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

    /// Makes each of the rules if the person agrees; says how if nobody is to be asked.
    ///
    /// - Parameters:
    ///   - prompt: how the person is asked; nil for not at all.
    ///   - isLeft: whether what needs the rules is done already, so that they are still to be made.
    ///   - context: what the process was given.
    /// - Throws: `Failure` if a rule can't be made.
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
