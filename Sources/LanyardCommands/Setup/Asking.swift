import Addresses
import Secrets

/// Questions of the commands that set lanyard up, asked at the terminal.
struct Asking: Sendable {
    private let console: Console

    /// Nil where nobody is at a terminal, or nobody is to be asked.
    init?(_ context: CommandContext) {
        let presence = Presence(context, browser: nil, isInteractive: true, isAskedFor: false)
        guard presence.hasTerminal else { return nil }
        console = context.console
    }

    /// Asks for a text; what was suggested where the person only pressed Enter, nil where they gave up.
    func text(_ question: String, suggesting suggestion: String? = nil) async -> String? {
        guard let terminal = Terminal(console) else { return nil }
        let offer = suggestion.map { " [\($0.displayable(limit: 255))]" } ?? ""
        guard let line = await terminal.ask("lanyard: \(question)\(offer): ", echo: true) else { return nil }
        let answer = String(line.trimmed())
        return answer.isEmpty ? suggestion ?? "" : answer
    }

    /// Asks whether to go on; Enter means yes.
    func confirms(_ question: String) async -> Bool {
        guard let terminal = Terminal(console) else { return false }
        guard let line = await terminal.ask("lanyard: \(question) [Y/n] ", echo: true) else { return false }
        return ["", "y", "yes"].contains(line.trimmed().lowercased())
    }
}
