import CLinux
import Glibc
import PluginWire
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
        let blocks = BlockReader.blocks(of: input)
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
