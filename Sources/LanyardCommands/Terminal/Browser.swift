import Subprocess
import SystemPackage

/// The person's browser, started without a hand on our streams: what it prints must never reach the consumer.
struct Browser: Sendable {
    /// The commands to try, each split into words; the URL comes last.
    let commands: [[String]]

    /// The configured command, else `$BROWSER` (a colon-separated list), else what desktops and WSL have.
    init(_ context: CommandContext, configured: String?) {
        if let configured {
            commands = [configured.words]
        } else if let list = context.variable("BROWSER") {
            commands = list.split(separator: ":").map { String($0).words }
        } else {
            commands = [["xdg-open"], ["wslview"], ["gio", "open"]]
        }
    }

    /// Opens a page; false where none of the commands could be started or the first to start said at once that it failed.
    func open(_ url: String) async -> Bool {
        for words in commands where !words.isEmpty {
            if await start(words, url: url) { return true }
        }
        return false
    }

    /// How long a command may take to say that it can't: a browser that stays in the foreground is taken as opened.
    private static let patience = Duration.seconds(2)

    private func start(_ words: [String], url: String) async -> Bool {
        let arguments = words.contains("%s") ? words.map { $0 == "%s" ? url : $0 } : words + [url]
        var options = PlatformOptions()
        options.createSession = true
        let configuration = Configuration(
            executable: words[0].contains("/") ? .path(FilePath(words[0])) : .name(words[0]),
            arguments: Arguments(Array(arguments.dropFirst())), platformOptions: options)
        let (outcomes, report) = AsyncStream.makeStream(of: Bool.self)
        // Detached and never awaited: the browser may outlive this process, and its end is nobody's business.
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

extension String {
    /// The words of a command, split at spaces.
    fileprivate var words: [String] { split(separator: " ").map(String.init) }
}
