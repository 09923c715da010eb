import Addresses
import Secrets

/// Questions to a person at the terminal.
package struct Prompt: Sendable {
    private let console: Console

    /// Asks at the terminal that the console's messages show on.
    package init(_ console: Console) {
        self.console = console
    }

    /// Asks for a line; nil if the person gives up, or there is no terminal.
    package func line(_ question: String, echo: Bool) async -> String? {
        guard let terminal = ControllingTerminal(console) else { return nil }
        return await terminal.ask("lanyard: \(question): ", echo: echo)
    }

    /// Asks for a text; what was suggested if they only press Enter, nil if they give up.
    package func text(_ question: String, suggesting suggestion: String? = nil) async -> String? {
        let offer = suggestion.map { " [\($0.displayable(limit: 255))]" } ?? ""
        guard let line = await line(question + offer, echo: true) else { return nil }
        let answer = String(line.trimmed())
        return answer.isEmpty ? suggestion ?? "" : answer
    }

    /// Asks for yes or no; what was suggested if they only press Enter, no if it is anything else, nil if they give up.
    package func decision(_ question: String, suggesting isYes: Bool) async -> Bool? {
        guard let terminal = ControllingTerminal(console) else { return nil }
        let choices = isYes ? "[Y/n]" : "[y/N]"
        guard let line = await terminal.ask("lanyard: \(question) \(choices) ", echo: true) else { return nil }
        let answer = line.trimmed().lowercased()
        return answer.isEmpty ? isYes : ["y", "yes"].contains(answer)
    }

    /// Asks whether to go on; Enter means yes, and giving up no.
    package func accepts(_ question: String) async -> Bool {
        await decision(question, suggesting: true) ?? false
    }
}
