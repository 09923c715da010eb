import CredentialProtocol
import Glibc
import SystemPackage

/// Speaks the plugin protocol for an `AuthorityPlugin`; a plugin's whole main file is one call.
///
///     exit(await PluginMain.run(MyPlugin()))
public enum PluginMain {
    /// The one version of the protocol that this library speaks, as manifests name it.
    public static let protocolVersion = "v1"

    /// The name of the state machine of that version; it is the last argument of the command line.
    public static let stateMachine = "lanyard-plugin-\(protocolVersion)"

    /// Serves the one request on standard input and gives the status to exit with.
    ///
    /// The plugin may not print to standard output; what it writes to standard error shows with
    /// `LANYARD_TRACE=plugin`. `SIGPIPE` is ignored from here on. The operation's task is cancelled when the host closes
    /// standard input.
    ///
    /// - Returns: 0 where a result or an error was written, 64 where the last argument isn't `stateMachine`, 1 where the
    ///   host went away.
    public static func run(
        _ plugin: any AuthorityPlugin, arguments: [String] = CommandLine.arguments
    ) async -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        guard arguments.last == stateMachine else {
            let text =
                "\(plugin.description.name): a plugin of lanyard, which starts it; it speaks \(stateMachine) only\n"
            _ = try? FileDescriptor.standardError.writeAll(text.utf8)
            return 64
        }
        return await serve(plugin, input: .standardInput, output: .standardOutput)
    }

    /// Serves one request on two descriptors.
    static func serve(_ plugin: any AuthorityPlugin, input: FileDescriptor, output: FileDescriptor) async -> Int32 {
        let blocks = BlockReader.blocks(of: input)
        let conversation = StreamConversation(output: output)
        var first = blocks.makeAsyncIterator()
        guard let block = await first.next() else { return 1 }
        let request: PluginRequest
        do throws(PluginError) {
            request = try PluginRequest(wire: block)
        } catch {
            return await conversation.finish(with: PluginSession.encode(error)) ? 0 : 1
        }
        let session = PluginSession(plugin: plugin, request: request, conversation: conversation)
        guard let answer = await session.run(replies: blocks) else { return 1 }
        return await conversation.finish(with: answer) ? 0 : 1
    }
}
