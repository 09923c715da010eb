import Addresses
import Secrets
import Subprocess
import SystemPackage
import Terminal

/// The user's browser, started without access to lanyard's streams, so that its output never reaches the consumer.
struct Browser: Sendable {
    /// The commands to try, each split into words; the URL replaces `%s` or else comes last.
    let commands: [[String]]

    /// Uses the configured command, else `$BROWSER` (a colon-separated list), else what desktops and WSL have.
    ///
    /// Commands are split into words as by a shell, but no shell runs.
    ///
    /// - Throws: `Failure` if the configured command can't be split.
    init(_ context: CommandContext, configured: String?) throws(Failure) {
        if let configured {
            guard let words = ShellWords.split(configured), !words.isEmpty else {
                throw Failure(
                    "the browser's command has a quote that isn't closed: \(configured.displayable(limit: 200))",
                    hints: [Hint("write it as for a shell, such as", write: "--browser 'firefox -P work'")])
            }
            commands = [words]
        } else if let list = context.variable("BROWSER") {
            commands = ShellWords.list(list).compactMap(ShellWords.split)
        } else {
            commands = [["xdg-open"], ["wslview"], ["gio", "open"]]
        }
    }

    /// The programs of the commands, fit to show.
    var names: String { commands.compactMap(\.first).joined(separator: ", ").displayable(limit: 200) }

    /// Opens a page; false if no command could be started, or if the first that started failed at once.
    func open(_ url: String) async -> Bool {
        for words in commands where !words.isEmpty {
            if await start(words, url: url) { return true }
        }
        return false
    }

    /// The time within which a command may report failure; a browser that stays in the foreground counts as opened.
    private static let patience = Duration.seconds(2)

    private func start(_ words: [String], url: String) async -> Bool {
        let hasPlace = words.dropFirst().contains { $0.contains("%s") }
        let arguments = hasPlace ? words.map { $0.replacing(bytes: "%s", with: url) } : words + [url]
        var options = PlatformOptions()
        options.createSession = true
        let configuration = Configuration(
            executable: words[0].hasBytes("/") ? .path(FilePath(words[0])) : .name(words[0]),
            arguments: Arguments(Array(arguments.dropFirst())), platformOptions: options)
        let (outcomes, report) = AsyncStream.makeStream(of: Bool.self)
        // Detached and never awaited: the browser may outlive this process, and nothing depends on its end.
        Task.detached {
            let ended = try? await run(configuration, input: .none, output: .discarded, error: .discarded)
            report.yield(ended?.terminationStatus.isSuccess ?? false)
        }
        let timer = Task {
            try await Task.sleep(for: Self.patience)
            report.yield(true)
        }
        defer { timer.cancel() }
        for await isOpened in outcomes { return isOpened }
        return false
    }
}
