import CLinux
import Glibc
import PluginWire
import Secrets
import SystemPackage

/// Handles the plugin protocol for an `AuthorityPlugin`; a plugin's whole main file is a single call.
///
///     exit(await PluginMain.run(MyPlugin()))
public enum PluginMain {
    /// Serves the one request on standard input, and returns the exit status.
    ///
    /// The plugin must not write to standard output; its standard error is shown with `LANYARD_TRACE=plugin`. From here
    /// on, `SIGPIPE` is ignored. The operation's task is cancelled when the host closes standard input.
    ///
    /// - Returns: 0 if a result or an error was written, 64 if the last argument isn't `PluginProtocol.stateMachine`, 1
    ///   if the host is gone.
    public static func run(
        _ plugin: any AuthorityPlugin, arguments: [String] = CommandLine.arguments
    ) async -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        guard arguments.last == PluginProtocol.stateMachine else {
            let machine = PluginProtocol.stateMachine
            let text = "\(plugin.description.name): a plugin of lanyard, which starts it; it speaks \(machine) only\n"
            _ = try? FileDescriptor.standardError.writeAll(text.utf8)
            return 64
        }
        guard lanyard_check_resources(4, 8) == 0 else {
            let error = PluginError(.unavailable, "the system grants the plugin too few threads or files")
            let answer = OperationRunner.encode(error).terminated
            return (try? FileDescriptor.standardOutput.writeAll(answer)) == nil ? 1 : 0
        }
        return await serve(plugin, input: .standardInput, output: .standardOutput)
    }

    /// Serves one request on these descriptors.
    static func serve(_ plugin: any AuthorityPlugin, input: FileDescriptor, output: FileDescriptor) async -> Int32 {
        let blocks = StreamConversation.blocks(of: input)
        let conversation = StreamConversation(output: output)
        var first = blocks.makeAsyncIterator()
        guard let block = await first.next() else { return 1 }
        let request: PluginRequest
        do throws(PluginError) {
            request = try PluginRequest(wire: block)
        } catch {
            return await conversation.finish(with: OperationRunner.encode(error)) ? 0 : 1
        }
        let runner = OperationRunner(plugin: plugin, request: request, conversation: conversation)
        guard let answer = await runner.run(replies: blocks) else { return 1 }
        return await conversation.finish(with: answer) ? 0 : 1
    }
}

/// Runs one operation while its replies are read.
struct OperationRunner {
    /// How long a cancelled operation may take to end before the process exits.
    static let grace = Duration.seconds(3)

    let plugin: any AuthorityPlugin
    let request: PluginRequest
    let conversation: StreamConversation

    /// Returns the message that ends the conversation; nil if the host is gone and the operation didn't end in time.
    func run(replies: AsyncStream<Attributes>) async -> Attributes? {
        let (outcomes, outcome) = AsyncStream<Attributes?>.makeStream()
        let operation = Task { outcome.yield(await perform()) }
        let listener = Task {
            for await block in replies { await conversation.receive(block) }
            await conversation.close()
            operation.cancel()
            try? await Task.sleep(for: Self.grace)
            outcome.yield(nil)
        }
        defer { listener.cancel() }
        for await ending in outcomes { return ending }
        return nil
    }

    private func perform() async -> Attributes {
        do throws(PluginError) {
            return Self.encode(try await answer())
        } catch {
            return Self.encode(error)
        }
    }

    private func answer() async throws(PluginError) -> any PluginAnswer {
        switch request.operation {
        case .authorize: return try await plugin.authorize(request, conversation)
        case .renew: return try await plugin.renew(request)
        case .silent: return try await plugin.silent(request)
        case .authenticate: return try await plugin.authenticate(request, conversation)
        case .exchange: return try await plugin.exchange(request)
        case .register: return try await plugin.register(request)
        case .lookup: return try await plugin.lookup(request, conversation)
        case .probe: return try await plugin.probe(request)
        case .describe: return plugin.description
        case .signOut: try await plugin.signOut(request, conversation)
        case .revoke: try await plugin.revoke(request)
        case .unregister: try await plugin.unregister(request)
        }
        return Done()
    }

    /// A result without keys, as for `sign-out`, `revoke` and `unregister`.
    private struct Done: PluginAnswer {
        func write(to writer: inout WireWriter) {}
    }

    /// Encodes a message; returns an `internal` error if the plugin's values aren't valid in the protocol.
    static func encode(_ answer: any PluginAnswer) -> Attributes {
        do throws(ProtocolError) {
            return try answer.wire()
        } catch {
            let fault = PluginError(.internal, "the plugin's answer cannot be written as a message")
            return (try? fault.wire()) ?? Attributes()
        }
    }
}
