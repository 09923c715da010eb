import Addresses
import Files
import Secrets
import Subprocess
import SystemPackage
package import Terminal

/// The user's browser, started without access to lanyard's streams, so that its output never reaches the tool.
package struct Browser: Sendable {
    /// The commands to try, each split into words; the URL replaces `%s` or else comes last.
    package let commands: [[String]]
    /// The file or folder that keeps a command named by its path from being started, because another user could have
    /// written to it; nil if there is none.
    package let culprit: String?
    /// The error if there is no command, because what is configured can't be split into words.
    package let mistake: CommandError?

    /// Uses the configured command, else `$BROWSER` (a colon-separated list), else what desktops and WSL have.
    ///
    /// Commands are split into words as by a shell, but no shell runs.
    package init(_ context: CommandContext, configured: String?) {
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
            ? CommandError(
                "the browser's command has a quote that isn't closed: "
                    + "\((named ?? []).joined(separator: ":"))",
                hints: [Hint("write it as for a shell, or", run: remedy)]) : nil
        var trust = FileTrust()
        // In WSL, everybody may write to the files of Windows' drives.
        let paths = context.isInWSL ? [] : commands.compactMap(\.first).filter { $0.hasBytes("/") }
        culprit =
            paths.lazy.compactMap { path in
                if case .writable(let culprit) = trust.check(path) { culprit } else { nil }
            }.first
    }

    /// Why none of the commands is started; nil if they may be.
    package var fault: Message? {
        mistake?.message ?? culprit.map { "another user could have written \($0)" }
    }

    /// Opens a page; returns nil if a command does that, else why none does.
    ///
    /// A command may pass the URL, which an issuer chose, to a shell: no character in it does anything there. `failed` gets
    /// the reason if the command fails later.
    package func open(_ url: String, failed: @escaping @Sendable (String) -> Void = { _ in }) async -> String? {
        if let fault { return fault.text }
        let url = url.withoutShellCharacters
        var reason: String?
        for words in commands {
            switch await start(words, url: url, failed) {
            case .open: return nil
            case .failed(let text): reason = text
            case .missing: continue
            }
        }
        let names = commands.compactMap(\.first).joined(separator: ", ").displayable(limit: 200)
        return reason ?? "\(names) could not be started"
    }

    private enum Ending: Sendable {
        case open, missing
        case failed(String)
    }

    /// The time within which a command may report failure; a browser that stays in the foreground counts as opened.
    private static let patience = Duration.seconds(2)

    private func start(
        _ words: [String], url: String, _ failed: @escaping @Sendable (String) -> Void
    ) async -> Ending {
        let hasPlace = words.dropFirst().contains { $0.hasBytes("%s") }
        let arguments = hasPlace ? words.map { $0.replacing(bytes: "%s", with: url) } : words + [url]
        var options = PlatformOptions()
        options.createSession = true
        let configuration = Configuration(
            executable: words[0].hasBytes("/") ? .path(FilePath(words[0])) : .name(words[0]),
            arguments: Arguments(Array(arguments.dropFirst())), platformOptions: options)
        let (outcomes, report) = AsyncStream.makeStream(of: Ending.self)
        // Detached and never awaited: the browser may outlive this process, and nothing depends on its end.
        Task.detached {
            let outcome = await Self.run(configuration, name: words[0])
            if case .terminated = report.yield(outcome), case .failed(let reason) = outcome { failed(reason) }
        }
        let timer = Task {
            try await Task.sleep(for: Self.patience)
            report.yield(.open)
        }
        defer { timer.cancel() }
        for await outcome in outcomes { return outcome }
        return .missing
    }

    private static func run(_ configuration: Configuration, name: String) async -> Ending {
        guard let errors = (try? standardError()) ?? (try? .open("/dev/null", .writeOnly)) else { return .missing }
        defer { try? errors.close() }
        let ended = try? await Subprocess.run(
            configuration, input: .none, output: .discarded,
            error: .fileDescriptor(errors, closeAfterSpawningProcess: false))
        guard let ended else { return .missing }
        guard !ended.terminationStatus.isSuccess else { return .open }
        let said = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = (try? errors.read(into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
        }
        let line = said.split(separator: UInt8(ascii: "\n")).last { !$0.allSatisfy { $0 <= UInt8(ascii: " ") } }
        let reason = line.map { ": " + String(decoding: $0, as: UTF8.self).displayable(limit: 300) }
        return .failed("\(name.displayable(limit: 200)) failed\(reason ?? "")")
    }

    /// Opens a pipe for a browser's standard error that takes its first 64 KiB and no more.
    ///
    /// Its reader is its writer, too: a browser that outlives this process is neither ended by SIGPIPE nor held up.
    private static func standardError() throws -> FileDescriptor {
        let pipe = try FileDescriptor.pipe()
        defer {
            try? pipe.readEnd.close()
            try? pipe.writeEnd.close()
        }
        return try .open(
            FilePath("/proc/self/fd/\(pipe.readEnd.rawValue)"), .readWrite, options: [.nonBlocking, .closeOnExec])
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
