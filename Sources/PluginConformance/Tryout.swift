import Addresses
import Dispatch
import Glibc
import PluginHost
import PluginWire
import Secrets
import Subprocess
import Synchronization
import SystemPackage

/// One run of a plugin's program with any input, whether well-formed or not.
struct Tryout: Sendable {
    struct Outcome: Sendable {
        /// The bytes that the plugin was sent.
        var input: [UInt8] = []
        /// The status that its questions were replied to with; nil if they got no reply.
        var replied: String?
        /// The plugin's standard output.
        var output: [UInt8] = []
        /// The beginning and the end of its standard error.
        var errors: [String] = []
        /// The exit status; nil if the plugin had to be killed.
        var ended: TerminationStatus?
        /// Whether a result, an error or the end of the output came in time.
        var isAnswered = false
        /// Why the plugin could not be started.
        var startFault: String?

        /// The complete messages.
        var blocks: [Attributes] { read().blocks.map(\.block) }
        /// The first result or error.
        var answer: Attributes? { blocks.first(where: Tryout.isAnswer) }

        /// What is wrong with what the plugin wrote, and where; nil if the host could read it all.
        var fault: String? {
            if let startFault { return startFault }
            let (blocks, fault, rest) = read()
            var isOver = false
            for (block, line) in blocks {
                if isOver {
                    let event = block["event"].map { "`\($0.displayable(limit: 64))`" } ?? "a message"
                    return "it sent \(event) (line \(line)) after its answer"
                }
                if let fault = Self.fault(in: block, at: line) { return fault }
                isOver = Tryout.isAnswer(block)
            }
            if let fault { return fault }
            let isEndless = blocks.count > PluginProtocol.mostMessages
            if let replied, isEndless || !isAnswered, questions.count > 1 {
                return "it asked \(questions.count) times, although each reply was `\(replied)`"
            }
            if isEndless { return "it sent more than \(PluginProtocol.mostMessages) messages" }
            guard isAnswered else {
                return output.isEmpty
                    ? "it did not answer in time, and wrote nothing: does it read only up to the blank line, and flush?"
                    : "it did not answer in time, \(rest ?? "and wrote nothing more")"
            }
            if let rest { return rest }
            guard !isOver, let last = blocks.last, let event = last.block["event"] else { return nil }
            return "it ended without an answer after `\(event.displayable(limit: 64))` (line \(last.line))"
        }

        /// What is wrong with a message: the host can't read it, or doesn't know its event or a key.
        private static func fault(in block: Attributes, at line: Int) -> String? {
            let reader = WireReader(block)
            do throws(ProtocolError) {
                let message = try PluginMessage(reader)
                if case .unknown(let name) = message { return PluginOutput.remark(on: name, block) }
                return message.isAnswer ? nil : reader.remarks.first
            } catch {
                let event = block["event"].map { "`\($0.displayable(limit: 64))`" } ?? "message"
                let near = reader.remarks.first.map { "; \($0)" } ?? ""
                return "it sent a broken \(event) (line \(line)), with \(error.text)\(near)"
            }
        }

        private func read() -> (blocks: [(block: Attributes, line: Int)], fault: String?, rest: String?) {
            var reader = PluginOutput(longest: Tryout.longestOutput + 1)
            var parts: [PluginOutput.Part] = []
            let fault = reader.consume(output, into: &parts).map { "it wrote \($0)" }
            let blocks = parts.compactMap { if case .block(let block, let line) = $0 { (block, line) } else { nil } }
            return (blocks, fault, reader.rest)
        }

        /// What was asked, how the process ended, and what it wrote to standard error.
        var evidence: [String] {
            guard startFault == nil else { return [] }
            var lines = ["asked \(Self.summary(of: input))", ended?.words ?? "it was killed"]
            if !errors.isEmpty { lines.append("its standard error:") }
            return lines + errors.map { "    \($0)" }
        }

        private static func summary(of input: [UInt8]) -> String {
            var parser = AttributeParser(longestInput: 1 << 20)
            guard let block = (try? parser.consume(input))?.first, let operation = block["operation"] else {
                return "\(input.count) bytes that are no request"
            }
            let keys = block.lines.map(\.key).filter { $0 != "operation" }
            return operation.displayable(limit: 64) + (keys.isEmpty ? "" : " with \(keys.joined(separator: ", "))")
        }
    }

    let plugin: PluginManifest
    let environment: [String: String]
    let seclusion: Seclusion?
    /// How long the plugin may take to answer.
    let patience: Duration

    fileprivate static let longestOutput = 1 << 20
    private static let longestErrors = 1 << 14

    /// Runs the plugin.
    ///
    /// Standard input stays open until the answer arrives, unless `closing` is true. Events that want a reply get this
    /// status, if there is one.
    func run(
        _ input: [UInt8], machine: String = PluginProtocol.stateMachine, closing: Bool = false, replying: String? = nil
    ) async -> Outcome {
        signal(SIGPIPE, SIG_IGN)
        var options = PlatformOptions()
        options.createSession = true
        let words = (seclusion?.words ?? []) + [plugin.executable] + plugin.arguments + [machine]
        let configuration = Configuration(
            executable: .path(FilePath(words[0])), arguments: Arguments(Array(words.dropFirst())),
            environment: PluginEnvironment.make(environment, for: plugin), workingDirectory: PluginEnvironment.folder,
            platformOptions: options)
        do {
            let result = try await Subprocess.run(
                configuration, input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                let writer = execution.standardInputWriter
                let errors = Task { [errors = execution.standardError] in await Self.beginning(of: errors) }
                let (replies, reply) = AsyncStream.makeStream(of: [UInt8].self)
                reply.yield(input)
                let writing = Task {
                    for await bytes in replies {
                        guard (try? await writer.write(bytes)) != nil else { return }
                        if closing { try? await writer.finish() }
                    }
                }
                let output = Listening(to: execution.standardOutput) { event in
                    guard let replying else { return }
                    reply.yield(Array("reply=\(event)\nstatus=\(replying)\n\n".utf8))
                }
                let isAnswered = await output.isAnswered(within: patience)
                reply.finish()
                writing.cancel()
                if !closing { try? await writer.finish() }
                // What comes after the answer is wrong.
                if isAnswered { await output.end(within: Self.aftermath) }
                var outcome = Outcome(output: output.bytes, isAnswered: isAnswered)
                if isAnswered, await Self.hasEnded(execution) { outcome.ended = .exited(0) }
                try? execution.send(signal: .kill, toProcessGroup: true)
                await output.stop()
                outcome.errors = await errors.value
                return outcome
            }
            var outcome = result.closureResult
            (outcome.input, outcome.replied) = (input, replying)
            if outcome.ended != nil { outcome.ended = result.terminationStatus }
            return outcome
        } catch {
            let reason = (error as? SubprocessError)?.underlyingError.map { ": \($0)" } ?? ""
            return Outcome(startFault: "it could not be started\(reason)")
        }
    }

    /// Whether a message ends a conversation.
    static func isAnswer(_ block: Attributes) -> Bool { ["result", "error"].contains(block["event"]) }

    /// How long the process may take to exit after its answer.
    private static let aftermath = Duration.seconds(2)

    /// Reads standard error, and returns its first and last lines.
    private static func beginning(of errors: SubprocessOutputSequence) async -> [String] {
        var iterator = errors.makeAsyncIterator()
        var bytes: [UInt8] = []
        while let buffer = try? await iterator.next() {
            bytes += buffer.bytes.withUnsafeBytes { Array($0.prefix(max(0, longestErrors - bytes.count))) }
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map {
            PluginOutput.shown(String(decoding: $0, as: UTF8.self))
        }
        return lines.count <= 5 ? lines : lines.prefix(2) + ["…"] + lines.suffix(2)
    }

    /// Whether the process exits by itself within seconds; it is then a zombie, so its number isn't reused yet.
    private static func hasEnded<I, O, E>(_ execution: Execution<I, O, E>) async -> Bool {
        let process = id_t(execution.processIdentifier.value)
        let (ends, feed) = AsyncStream.makeStream(of: Bool.self)
        DispatchQueue(label: "lanyard.plugin-end").async {
            var info = siginfo_t()
            // If waiting fails, another thread has reaped the process, so it has exited.
            while waitid(P_PID, process, &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            feed.yield(true)
        }
        let timer = Task {
            try? await Task.sleep(for: aftermath)
            feed.yield(false)
        }
        defer { timer.cancel() }
        for await hasEnded in ends { return hasEnded }
        return false
    }
}

/// A plugin's standard output, read to its end.
private struct Listening: Sendable {
    private let written = Written()
    private let answers = AsyncStream.makeStream(of: Never.self)
    private let ends = AsyncStream.makeStream(of: Never.self)
    private let reading: Task<Void, Never>

    /// What the plugin has written so far.
    private final class Written: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    var bytes: [UInt8] { written.bytes.withLock { $0 } }

    /// Begins to read, and tells of events that want a reply.
    init(to output: SubprocessOutputSequence, _ wantsReply: @escaping @Sendable (String) -> Void) {
        reading = Task { [written, answers, ends] in
            var iterator = output.makeAsyncIterator()
            var (length, messages, isReadable) = (0, 0, true)
            var reader = PluginOutput(longest: Tryout.longestOutput + 1)
            while length < Tryout.longestOutput, messages <= PluginProtocol.mostMessages,
                let buffer = try? await iterator.next()
            {
                let bytes = buffer.bytes.withUnsafeBytes { Array($0) }
                length += bytes.count
                written.bytes.withLock { $0 += bytes }
                guard isReadable else { continue }
                var parts: [PluginOutput.Part] = []
                isReadable = reader.consume(bytes, into: &parts) == nil
                for case .block(let block, _) in parts {
                    messages += 1
                    if Tryout.isAnswer(block) { answers.continuation.finish() }
                    if let event = block["event"], event != "progress" { wantsReply(event) }
                }
            }
            answers.continuation.finish()
            ends.continuation.finish()
        }
    }

    /// Whether an answer, or the end, comes in time.
    func isAnswered(within limit: Duration) async -> Bool { await Self.hasEnded(answers.stream, within: limit) }

    /// Waits for the end, but not for longer.
    func end(within limit: Duration) async { _ = await Self.hasEnded(ends.stream, within: limit) }

    /// Reads no further, even if a process that left the group still has the pipe.
    func stop() async {
        reading.cancel()
        await reading.value
    }

    private static func hasEnded(_ stream: AsyncStream<Never>, within limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in stream {}
                return !Task.isCancelled
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

extension TerminationStatus {
    var words: String {
        switch self {
        case .exited(let code): "it exited with status \(code)"
        case .signaled(let signal): "it was killed by signal \(signal)"
        }
    }
}
