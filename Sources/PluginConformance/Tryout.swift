import Dispatch
import Glibc
import PluginHost
import PluginWire
import Secrets
import Subprocess
import SystemPackage

/// One run of a plugin's program with any input, whether well-formed or not.
struct Tryout: Sendable {
    struct Outcome: Sendable {
        /// The plugin's standard output.
        var output: [UInt8] = []
        /// The exit status; nil if the plugin had to be killed.
        var ended: TerminationStatus?
        /// Whether a result, an error or the end of the output came in time.
        var isAnswered = false

        /// The last complete message.
        var answer: Attributes? {
            var parser = AttributeParser(longestInput: Tryout.longestOutput + 1)
            return (try? parser.consume(output[...]))?.last
        }

        /// What is wrong with the first message that the host couldn't read; nil if it could read all.
        var brokenMessage: ProtocolError? {
            var parser = AttributeParser(longestInput: Tryout.longestOutput + 1)
            for block in (try? parser.consume(output[...])) ?? [] where !block.isEmpty {
                do throws(ProtocolError) { _ = try PluginMessage(wire: block) } catch { return error }
            }
            return nil
        }

        /// Whether the whole output consists of `key=value` messages.
        var isWellFormed: Bool {
            var parser = AttributeParser(longestInput: Tryout.longestOutput + 1)
            guard (try? parser.consume(output[...])) != nil else { return false }
            return (try? parser.finish()) == .some(nil)
        }
    }

    let plugin: PluginManifest
    let environment: [String: String]
    /// How long the plugin may take to answer.
    let patience: Duration

    private static let longestOutput = 1 << 20

    /// Runs the plugin; nil if it can't be started.
    ///
    /// Standard input stays open until the answer arrives, unless `closing` is true.
    func run(
        _ input: [UInt8], machine: String = PluginProtocol.stateMachine, closing: Bool = false
    ) async -> Outcome? {
        signal(SIGPIPE, SIG_IGN)
        var options = PlatformOptions()
        options.createSession = true
        let configuration = Configuration(
            executable: .path(FilePath(plugin.executable)), arguments: Arguments(plugin.arguments + [machine]),
            environment: PluginEnvironment.make(environment, for: plugin), workingDirectory: PluginEnvironment.folder,
            platformOptions: options)
        let result = try? await Subprocess.run(
            configuration, input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            let writer = execution.standardInputWriter
            let writing = Task {
                _ = try? await writer.write(input)
                if closing { try? await writer.finish() }
            }
            var outcome = await listen(to: execution.standardOutput)
            writing.cancel()
            if !closing { try? await writer.finish() }
            if outcome.isAnswered, await Self.hasEnded(execution) { outcome.ended = .exited(0) }
            try? execution.send(signal: .kill, toProcessGroup: true)
            return outcome
        }
        guard let result else { return nil }
        var outcome = result.closureResult
        if outcome.ended != nil { outcome.ended = result.terminationStatus }
        return outcome
    }

    /// Reads up to the answer, the end of the output, or the end of the time limit.
    private func listen(to output: SubprocessOutputSequence) async -> Outcome {
        await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                var outcome = Outcome()
                var iterator = output.makeAsyncIterator()
                while outcome.output.count < Self.longestOutput, let buffer = try? await iterator.next() {
                    outcome.output += buffer.bytes.withUnsafeBytes { Array($0) }
                    if let event = outcome.answer?["event"], ["result", "error"].contains(event) { break }
                }
                outcome.isAnswered = true
                return outcome
            }
            group.addTask {
                try? await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap(\.self) ?? Outcome()
        }
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
            try? await Task.sleep(for: .seconds(2))
            feed.yield(false)
        }
        defer { timer.cancel() }
        for await hasEnded in ends { return hasEnded }
        return false
    }
}
