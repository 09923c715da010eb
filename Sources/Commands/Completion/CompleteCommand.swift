import ArgumentParser
import CommandKit
import Glibc
import Terminal

/// `lanyard complete`, which the shell scripts in completions/ call.
///
/// The first line of output says what follows: `values`, and then one value per line; `files`, for the shell to
/// complete file names; or `command N`, for the shell to complete another command line that begins with word N.
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

    /// Ends the process without output before the user notices a delay, whatever it is waiting for.
    private static func limitTime() {
        signal(SIGALRM) { _ in _exit(0) }
        var time = itimerval()
        time.it_value.tv_usec = 800_000
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &time, nil)
    }
}
