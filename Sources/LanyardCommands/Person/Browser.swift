import Addresses
import Files
import Secrets
import Subprocess
import SystemPackage
import Terminal

/// The user's browser, started without access to lanyard's streams, so that its output never reaches the consumer.
struct Browser: Sendable {
    /// The commands to try, each split into words; the URL replaces `%s` or else comes last.
    let commands: [[String]]
    /// The file or folder that keeps a command named by its path from being started, because another user could have
    /// written to it; nil if there is none.
    let culprit: String?
    /// The error if there is no command, because what is configured can't be split into words.
    let mistake: Failure?

    /// Uses the configured command, else `$BROWSER` (a colon-separated list), else what desktops and WSL have.
    ///
    /// Commands are split into words as by a shell, but no shell runs.
    init(_ context: CommandContext, configured: String?) {
        let named = configured.map { [$0] } ?? context.variable("BROWSER").map(ShellWords.list)
        commands =
            named.map { $0.compactMap(ShellWords.split).filter { !$0.isEmpty } }
            ?? [["xdg-open"], ["wslview"], ["gio", "open"]]
        let remedy: ShellCommand =
            configured == nil
            ? "unset BROWSER"
            : context.variable("LANYARD_BROWSER") == nil ? "lanyard config unset browser" : "unset LANYARD_BROWSER"
        mistake =
            commands.isEmpty
            ? Failure(
                "the browser's command has a quote that isn't closed: "
                    + (named ?? []).joined(separator: ":").displayable(limit: 200),
                hints: [Hint("write it as for a shell, or", run: remedy)]) : nil
        var trust = FileTrust()
        // In WSL, everybody may write to the files of Windows' drives.
        let paths = context.isInWSL ? [] : commands.compactMap(\.first).filter { $0.hasBytes("/") }
        culprit =
            paths.lazy.compactMap { path in
                if case .writable(let culprit) = trust.judge(path) { culprit } else { nil }
            }.first
    }

    /// The programs of the commands, fit to show.
    private var names: String { commands.compactMap(\.first).joined(separator: ", ").displayable(limit: 200) }

    /// Why no page could be opened.
    var fault: String {
        if let mistake { return mistake.message }
        return culprit.map { "another user could have written \($0.displayable(limit: 300))" }
            ?? "\(names) failed, or is not installed"
    }

    /// Opens a page; false if no command could be started, or if the first that started failed at once.
    ///
    /// A command may pass the URL, which an issuer chose, to a shell: no character in it does anything there.
    func open(_ url: String) async -> Bool {
        guard culprit == nil else { return false }
        let url = url.withoutShellCharacters
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

extension String {
    /// The URL with every character escaped that a shell treats specially, as far as RFC 3986 allows.
    ///
    /// The `&` between parameters has to stay. A shell takes what follows it for another command, so every name is
    /// followed by `=`, which makes that an assignment or, if the name isn't a variable's, a command without a slash.
    var withoutShellCharacters: String {
        guard let url = StrictURL(self) else { return "" }
        let (head, query) = url.tail.cut(at: "?").map { ($0, Optional($1)) } ?? (url.tail, nil)
        let parameters = query?.pieces(between: "&").map { parameter in
            let (name, value) = parameter.cut(at: "=") ?? (parameter, "")
            return "\(name.harmless(besides: ""))=\(value.harmless(besides: "/:@?=+,"))"
        }
        let place = String(decoding: utf8.dropLast(url.tail.utf8.count), as: UTF8.self)
        return place + head.harmless(besides: "/:@=+,") + (parameters.map { "?" + $0.joined(separator: "&") } ?? "")
    }
}

extension Substring {
    /// The text with all characters escaped but unreserved ones, those of escapes, and these.
    fileprivate func harmless(besides kept: String) -> String {
        percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: "%") || kept.utf8.contains($0) }
    }
}
