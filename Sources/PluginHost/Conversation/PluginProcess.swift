import Glibc
import PluginWire
import Secrets
import Subprocess
import Synchronization
import SystemPackage

/// One run of a plugin's program: its pipes, its time limits and its end.
struct PluginProcess {
    let plugin: PluginManifest
    let environment: [String: String]
    let bounds: PluginConversation.Bounds
    let trace: PluginTrace?
    private let secrets = KnownSecrets()

    init(
        plugin: PluginManifest, environment: [String: String], bounds: PluginConversation.Bounds, trace: PluginTrace?
    ) {
        self.plugin = plugin
        self.environment = environment
        self.bounds = bounds
        self.trace = trace
    }

    /// How much standard error is shown, in bytes; the rest is read and dropped.
    private static let longestStandardError = 64 * 1024

    /// Sends the request, which is made while the process starts, and runs the conversation to its end; afterwards the
    /// process and its group are gone.
    func converse(
        person: any PersonInterface, request: () async throws(PluginError) -> Attributes
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
                let ending = await runConversation(wires, person)
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

    private func runConversation(_ wires: Wires, _ person: any PersonInterface) async -> ConversationState.Ending? {
        let occur = wires.occurrences.continuation
        let interrupts = Interrupts.watch { occur.yield(.interrupted) }
        var conversation = PluginConversation(
            plugin: plugin.name, bounds: bounds, person: person, occurrences: wires.occurrences,
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
