import Addresses
import Secrets

/// Asks the user questions at the terminal.
package struct Prompt: Sendable {
    private let console: Console

    /// Creates a prompt for the terminal that shows the console's messages.
    package init(_ console: Console) {
        self.console = console
    }

    /// Asks for a line; nil if the user gives up or there is no terminal.
    package func line(_ question: Message, echo: Bool, staysHidden: Bool = false) async -> String? {
        guard let terminal = ControllingTerminal(console) else { return nil }
        return await terminal.ask("lanyard: \(question.text): ", echo: echo, staysHidden: staysHidden)
    }

    /// Asks for a text; returns the suggestion if the user only presses Enter, nil if they give up.
    package func text(_ question: Message, suggesting suggestion: String? = nil) async -> String? {
        let offer: Message = suggestion.map { " [\($0)]" } ?? ""
        guard let line = await line(question + offer, echo: true) else { return nil }
        let answer = String(line.trimmed())
        return answer.isEmpty ? suggestion ?? "" : answer
    }

    /// Asks for one of several choices, by number, by name or, if the terminal can redraw lines, by arrow keys.
    ///
    /// - Parameters:
    ///   - title: The question.
    ///   - choices: At least one choice, each on one line; the first is suggested.
    ///   - named: Returns the only choice that a text names, for terminals that can't show which one it leads to.
    /// - Returns: The index of the choice; nil if the user gives up or there is no terminal.
    package func choice(_ title: Message, among choices: [Message], named: (String) -> Int?) async -> Int? {
        guard console.screen.isTerminal, let size = console.screen.size else {
            return await choiceByNumber(title, among: choices, named: named)
        }
        guard let terminal = ControllingTerminal(console) else { return nil }
        console.note(Hint(title))
        let menu = Menu(choices.map(\.text), columns: size.columns, rows: size.rows)
        guard let choice = await terminal.choose(from: menu) else { return nil }
        console.show(menu.line(of: choice))
        return choice
    }

    /// How many times a question is asked before the answers are taken for giving up.
    private static let patience = 5

    private func choiceByNumber(_ title: Message, among choices: [Message], named: (String) -> Int?) async -> Int? {
        let menu = Menu(choices.map(\.text), columns: 79, rows: .max)
        let lines = choices.indices.map { menu.line(of: $0) }
        var question = "lanyard: \(title)\n\(lines.joined(separator: "\n"))\nlanyard: number or name [1]: "
        for _ in 0..<Self.patience {
            guard let terminal = ControllingTerminal(console), let line = await terminal.ask(question, echo: true)
            else {
                return nil
            }
            let answer = String(line.trimmed())
            if let number = answer.isEmpty ? 1 : Int(answer), choices.indices.contains(number - 1) { return number - 1 }
            if let choice = named(answer) { return choice }
            question = "lanyard: type a number from 1 to \(choices.count) or a name, or Ctrl-C to cancel: "
        }
        return nil
    }

    /// Asks whether to go on, unless nobody is there who could be asked; an option `--yes` answers that beforehand.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - act: What is refused then, in words that follow "refusing to".
    ///   - isYes: The suggestion.
    ///   - isSomebodyThere: Whether the user can be asked.
    /// - Returns: Whether the user agreed.
    /// - Throws: The error for a script, which names the option.
    package func confirmed(
        _ question: Message, to act: Message, suggesting isYes: Bool = false, isSomebodyThere: Bool
    ) async throws(CommandError) -> Bool {
        guard isSomebodyThere else { throw CommandError("refusing to \(act) without --yes", status: .usage) }
        return await decision(question, suggesting: isYes) ?? false
    }

    /// Asks for yes or no, again if the answer is neither.
    ///
    /// If `takesEarlier` is false, text typed before the question doesn't count as an answer.
    ///
    /// - Returns: The answer; the suggestion if the user only presses Enter, nil if they give up.
    package func decision(_ question: Message, suggesting isYes: Bool, takesEarlier: Bool = true) async -> Bool? {
        let text = "\(question) \(isYes ? "[Y/n]" : "[y/N]")"
        // Leaves some columns for the answer.
        let columns = console.screen.size.map { max($0.columns - 5, 20) }
        var question = "lanyard: \(text.wrapped(columns: columns, indent: 9, from: 9)) "
        for _ in 0..<Self.patience {
            guard let terminal = ControllingTerminal(console),
                let line = await terminal.ask(question, echo: true, takesEarlier: takesEarlier)
            else { return nil }
            switch line.trimmed().lowercased() {
            case "": return isYes
            case "y", "yes": return true
            case "n", "no": return false
            default: question = "lanyard: type y or n, or Ctrl-C to cancel: "
            }
        }
        return nil
    }

    /// Asks whether to go on; Enter means yes, giving up means no.
    package func accepts(_ question: Message) async -> Bool {
        await decision(question, suggesting: true) ?? false
    }
}
