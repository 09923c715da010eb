import Addresses
import Dispatch
import Files
import Glibc
import PluginWire
import Secrets
package import Subprocess
import Synchronization
package import SystemPackage

/// One run of a plugin's program: its pipes, its time limits and its end.
struct PluginProcess {
    let plugin: PluginManifest
    let environment: [String: String]
    let bounds: PluginConversation.Bounds
    let trace: PluginTrace?
    private let secrets: KnownSecrets

    init(
        plugin: PluginManifest, environment: [String: String], bounds: PluginConversation.Bounds, trace: PluginTrace?
    ) {
        self.plugin = plugin
        self.environment = environment
        self.bounds = bounds
        self.trace = trace
        secrets = KnownSecrets(hidesUsername: [.exchange, .lookup].contains(bounds.operation))
    }

    /// How much standard error is shown, in bytes; the rest is read and dropped.
    private static let longestStandardError = 64 * 1024

    /// Sends the request, which is made while the process starts, and runs the conversation to its end; afterwards the
    /// process and its group are gone.
    func converse(
        user: any UserInterface, request: () async throws(PluginError) -> Attributes
    ) async throws(PluginError) -> ConversationState.Ending {
        signal(SIGPIPE, SIG_IGN)
        let finished = Mutex<ConversationState.Ending?>(nil)
        var outcome: (ending: ConversationState.Ending?, status: TerminationStatus)
        do {
            let result = try await run(configuration, input: .inputWriter, output: .sequence, error: .sequence) {
                execution in
                let block: Attributes
                do throws(PluginError) {
                    block = try await request()
                } catch {
                    await stop(execution, patiently: false)
                    throw error
                }
                let wires = start(
                    block, execution.standardInputWriter, execution.standardOutput, execution.standardError)
                let ending = await runConversation(wires, user)
                finished.withLock { $0 = ending }
                await stop(execution, patiently: ending?.isResult ?? true)
                // Reading stops when the process exits, even if a child of it holds the pipes open.
                for pipe in wires.pipes { await pipe.value }
                return ending
            }
            outcome = (result.closureResult, result.terminationStatus)
        } catch {
            // What happened afterwards doesn't matter; the answer may hold a token that exists only once.
            guard let ending = finished.withLock({ $0 }) else { throw startError(error) }
            outcome = (ending, .exited(0))
        }
        if Task.isCancelled { throw .interrupted }
        guard let ending = outcome.ending else { throw silentEnd(outcome.status) }
        if case .failed(let error) = ending { return .failed(secrets.masked(error)) }
        return ending
    }

    private var configuration: Configuration {
        var options = PlatformOptions()
        // In a session of its own, its children get signals, too, and it has no terminal to read passwords from.
        options.createSession = true
        options.teardownSequence = teardown(patience: .zero)
        return Configuration(
            executable: .path(FilePath(plugin.executable)),
            arguments: Arguments(plugin.arguments + [PluginProtocol.stateMachine]),
            environment: PluginEnvironment.make(environment, for: plugin), workingDirectory: PluginEnvironment.folder,
            platformOptions: options)
    }

    // MARK: The end

    private func teardown(patience: Duration) -> [TeardownStep] {
        let wait = TeardownStep.send(signal: Signal(rawValue: 0), allowedDurationToNextStep: patience)
        let terminate = TeardownStep.send(
            signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: bounds.timeouts.exit)
        return patience > .zero ? [wait, terminate] : [terminate]
    }

    /// Ends the process and the processes that it started.
    private func stop<I, O, E>(_ execution: Execution<I, O, E>, patiently: Bool) async {
        await execution.teardown(using: teardown(patience: patiently ? bounds.timeouts.exit : .zero))
        // The process hasn't been reaped yet, so no other group can have its number.
        try? execution.send(signal: .kill, toProcessGroup: true)
    }

    private func startError(_ error: any Error) -> PluginError {
        if error is CancellationError || Task.isCancelled { return .interrupted }
        if let error = error as? PluginError { return error }
        let reason = (error as? SubprocessError)?.underlyingError.map { ": \($0)" } ?? ""
        return PluginError(
            .internal, "the \(plugin.name) plugin could not be started\(reason)",
            hint: "check \(plugin.executable.displayable())")
    }

    private func silentEnd(_ status: TerminationStatus) -> PluginError {
        switch status {
        case .exited(64): .broken(plugin.name, "refused to speak \(PluginProtocol.stateMachine)")
        case .exited(0): .broken(plugin.name, "ended without an answer")
        case .exited(let code): .broken(plugin.name, "ended without an answer (exit status \(code))")
        case .signaled(let signal): .broken(plugin.name, "was killed by signal \(signal) before it answered")
        }
    }

    // MARK: The conversation

    private struct Wires {
        let occurrences = AsyncStream<PluginConversation.Occurrence>.makeStream()
        let outgoing = AsyncStream<Attributes>.makeStream()
        var pipes: [Task<Void, Never>] = []
    }

    private func start(
        _ request: Attributes, _ input: StandardInputWriter, _ output: SubprocessOutputSequence,
        _ errors: SubprocessOutputSequence
    ) -> Wires {
        var wires = Wires()
        secrets.learn(request)
        if let trace { for line in TraceMask.lines(of: request, hiding: secrets) + [""] { trace(.toPlugin, line) } }
        wires.outgoing.continuation.yield(request)
        let (messages, occur) = (wires.outgoing.stream, wires.occurrences.continuation)
        wires.pipes = [
            Task { await write(messages, to: input) },
            Task { await read(output, into: occur) },
            Task { await drain(errors) },
        ]
        return wires
    }

    private func runConversation(_ wires: Wires, _ user: any UserInterface) async -> ConversationState.Ending? {
        let occur = wires.occurrences.continuation
        let interrupts = Interrupts.watch { occur.yield(.interrupted) }
        var conversation = PluginConversation(
            plugin: plugin.name, bounds: bounds, user: user, occurrences: wires.occurrences,
            outgoing: wires.outgoing.continuation, trace: trace, secrets: secrets)
        let ending = await conversation.run()
        interrupts.cancel()
        // Unsent messages no longer matter; the plugin's input ends.
        wires.pipes.first?.cancel()
        return ending
    }

    /// Writes the messages one by one, however slowly the plugin reads; stops once the plugin has exited.
    private func write(_ messages: AsyncStream<Attributes>, to input: StandardInputWriter) async {
        for await message in messages {
            guard (try? await input.write(message.terminated)) != nil else { return }
        }
        try? await input.finish()
    }

    private func read(
        _ output: SubprocessOutputSequence, into occur: AsyncStream<PluginConversation.Occurrence>.Continuation
    ) async {
        var iterator = output.makeAsyncIterator()
        var total = 0
        while total <= PluginProtocol.longestConversation, let buffer = try? await iterator.next() {
            total += buffer.count
            occur.yield(.output(buffer.bytes.withUnsafeBytes { Array($0) }))
        }
        occur.yield(.outputEnded)
    }

    /// Reads standard error to its end, so that it never blocks the plugin, and shows the beginning.
    private func drain(_ errors: SubprocessOutputSequence) async {
        var iterator = errors.makeAsyncIterator()
        var text: [UInt8] = []
        while let buffer = try? await iterator.next() {
            let room = Self.longestStandardError - text.count
            if trace != nil, room > 0 { text += buffer.bytes.withUnsafeBytes { Array($0.prefix(room)) } }
        }
        guard let trace else { return }
        // Of a line that was cut off, the rest of a secret may be missing.
        if text.count == Self.longestStandardError { text.removeLast(text.reversed().prefix { $0 != 0x0A }.count) }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            trace(.standardError, TraceMask.masked(secrets.masked(String(decoding: line, as: UTF8.self))))
        }
    }
}

extension ConversationState.Ending {
    fileprivate var isResult: Bool {
        if case .result = self { true } else { false }
    }
}

/// The parts of the host's environment that a plugin gets.
package enum PluginEnvironment {
    /// The working folder of plugins: it always exists, belongs to root and needs no cleaning up.
    package static let folder: FilePath = "/"

    private static let kept: Set<String> = [
        "PATH", "HOME", "LANG", "LANGUAGE", "https_proxy", "http_proxy", "no_proxy", "HTTPS_PROXY", "HTTP_PROXY",
        "NO_PROXY", "all_proxy", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]

    /// Returns the variables that are kept: enough to find programs, use the user's language and reach the network.
    static func scrubbed(_ environment: [String: String]) -> [String: String] {
        environment.filter { name, value in
            // A descriptor of this process is none of the plugin's.
            (kept.contains(name) || name.hasPrefix("LC_")) && !ProcessEnvironment.isStandIn(value)
        }
    }

    /// Creates a plugin's environment: the variables that are kept, and those by which it reaches a broker or its sources' programs.
    package static func make(_ environment: [String: String], for plugin: PluginManifest) -> Environment {
        var variables = scrubbed(environment)
        if !plugin.brokered.isEmpty { variables["DBUS_SESSION_BUS_ADDRESS"] = sessionBus(environment) }
        if !plugin.sources.isEmpty {
            let patterns = desktop + plugin.variables
            for (name, value) in environment where patterns.contains(where: name.matches(glob:)) {
                variables[name] = value
            }
            // What asks for a passphrase, such as gpg's agent, isn't in the plugin's session, and so is told the terminal.
            variables["GPG_TTY"] = environment["GPG_TTY"] ?? terminal
        }
        return .custom(Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) }))
    }

    /// The variables by which a program finds the user's desktop and settings.
    private static let desktop = [
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GNUPGHOME", "TERM", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
    ]

    /// The path of the terminal that one of the standard streams is; nil if none is.
    private static var terminal: String? {
        (0...2).lazy.compactMap { ttyname($0).flatMap { String(validatingCString: $0) } }.first
    }

    /// Whether there is a session bus: a socket exists at its address.
    static func hasSessionBus(_ environment: [String: String]) -> Bool {
        guard let address = sessionBus(environment) else { return false }
        return address.pieces(between: ";").contains { server in
            guard server.utf8.starts(with: "unix:path=".utf8) else { return server.hasPrefix("unix:abstract=") }
            let path = Substring(server.utf8.dropFirst("unix:path=".utf8.count).prefix { $0 != UInt8(ascii: ",") })
            var status = stat()
            return stat(String(path), &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }

    /// Returns the session bus's address: from the variable, or else where systemd puts it; nil if there is neither.
    private static func sessionBus(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        return environment.absolutePath("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
    }
}

/// Turns signals that would end the host into events while a plugin runs or the user is asked.
///
/// A plugin has its own session, so Ctrl-C in the terminal doesn't reach it: the host has to live long enough to stop
/// the plugin. A signal that was ignored before (nohup) stays ignored.
package enum Interrupts {
    private struct State {
        /// Those to notify of signals that come after the first `before`.
        var watchers: [Int: (before: Int, feed: AsyncStream<Void>.Continuation)] = [:]
        var next = 0
        var previous: [(Int32, sigaction)] = []
    }

    private static let caught = Atomic<Int>(0)
    private static let last = Atomic<Int32>(0)
    private static let state = Mutex(State())

    /// The semaphore that the signal handler posts, as it may call little else that wakes a thread; one thread waits
    /// for it.
    private nonisolated(unsafe) static let alarm: UnsafeMutablePointer<sem_t> = {
        let alarm = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(alarm, 0, 0)
        DispatchQueue(label: "lanyard.signals").async {
            while true {
                if sem_wait(Interrupts.alarm) == 0 { Interrupts.tell() }
            }
        }
        return alarm
    }()

    /// The last signal that was received, which may have interrupted a conversation; nil if there was none.
    package static var signal: Int32? {
        let number = last.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Calls the closure once when a signal comes; cancel the task to stop watching.
    package static func watch(_ interrupted: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let (signals, feed) = AsyncStream.makeStream(of: Void.self)
        let number = install(feed)
        return Task {
            defer { restore(number) }
            for await _ in signals { return interrupted() }
        }
    }

    private static func tell() {
        let caught = caught.load(ordering: .relaxed)
        state.withLock { state in
            for watcher in state.watchers.values where caught != watcher.before { watcher.feed.yield() }
        }
    }

    private static func install(_ feed: AsyncStream<Void>.Continuation) -> Int {
        // Create it now, because the handler can't.
        _ = alarm
        return state.withLock { state in
            state.next += 1
            state.watchers[state.next] = (caught.load(ordering: .relaxed), feed)
            if state.watchers.count == 1 { state.previous = handled() }
            return state.next
        }
    }

    /// Installs handlers for the signals that have none; returns the previous actions.
    private static func handled() -> [(Int32, sigaction)] {
        var previous: [(Int32, sigaction)] = []
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var old = sigaction()
            sigaction(number, nil, &old)
            // SIG_DFL is the null pointer.
            guard old.__sigaction_handler.sa_handler == nil else { continue }
            var new = sigaction()
            new.sa_flags = SA_RESTART
            new.__sigaction_handler.sa_handler = { number in
                Interrupts.last.store(number, ordering: .relaxed)
                Interrupts.caught.add(1, ordering: .relaxed)
                sem_post(Interrupts.alarm)
            }
            sigaction(number, &new, nil)
            previous.append((number, old))
        }
        return previous
    }

    private static func restore(_ number: Int) {
        state.withLock { state in
            state.watchers[number] = nil
            guard state.watchers.isEmpty else { return }
            for (number, old) in state.previous {
                var old = old
                sigaction(number, &old, nil)
            }
            state.previous.removeAll()
        }
    }
}
