import ArgumentParser
import Glibc
import Terminal

/// `lanyard complete`, which the shells' scripts in completions/ call.
///
/// The first line printed says who goes on: `values`, and then there is one on each line, or the shell itself with `files` or
/// with `command N`, a command line of its own from the word of that number on.
struct CompleteCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: "Tell a shell what may stand at the cursor.", shouldDisplay: false)

    static let examples: KeyValuePairs<String, String> = [:]

    @Argument(parsing: .captureForPassthrough, help: "bash LINE BREAKS, zsh WORD... or fish WORD...")
    var words: [String] = []

    mutating func run(in context: CommandContext) async throws {
        Self.limitTime()
        guard let shell = words.first.flatMap(CompletingShell.init) else { return }
        context.console.write(Array(shell.answer(Array(words.dropFirst()), in: context).utf8))
    }

    /// Ends the process before a person would wonder, whatever it waits for; nothing was printed then.
    private static func limitTime() {
        signal(SIGALRM) { _ in _exit(0) }
        var time = itimerval()
        time.it_value.tv_usec = 800_000
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &time, nil)
    }
}
