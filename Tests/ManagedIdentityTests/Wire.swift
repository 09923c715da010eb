import Glibc
import ManagedIdentity
import Secrets
import SystemPackage

@testable import PluginKit

/// The plugin as the host uses it: one request in, events out, on pipes.
struct Wire {
    /// The progress that the plugin reported.
    private(set) var progress: [String] = []
    /// The last block.
    private(set) var answer: Attributes?
    /// The whole output, as text.
    private(set) var text = ""

    subscript(key: String) -> String? { answer?[key] }

    /// Sends a request to the plugin; the host disconnects after `pause`, if given.
    static func ask(
        _ plugin: ManagedIdentityPlugin, _ lines: [String], hangingUpAfter pause: Duration? = nil
    ) async throws -> Wire {
        signal(SIGPIPE, SIG_IGN)
        let toPlugin = try FileDescriptor.pipe()
        let fromPlugin = try FileDescriptor.pipe()
        let serving = Task {
            _ = await PluginMain.serve(plugin, input: toPlugin.readEnd, output: fromPlugin.writeEnd)
            try? fromPlugin.writeEnd.close()
        }
        _ = try toPlugin.writeEnd.writeAll((lines.joined(separator: "\n") + "\n\n").utf8)
        if let pause {
            try await Task.sleep(for: pause)
            try toPlugin.writeEnd.close()
        }
        var wire = Wire()
        for await block in StreamConversation.blocks(of: fromPlugin.readEnd) { wire.read(block) }
        await serving.value
        if pause == nil { try toPlugin.writeEnd.close() }
        return wire
    }

    private mutating func read(_ block: Attributes) {
        text += block.lines.map { "\($0.key)=\($0.value)\n" }.joined()
        if block["event"] == "progress" { progress.append(block["message"] ?? "") } else { answer = block }
    }

    /// Returns a request for a managed identity's token.
    static func authenticate(_ variables: [String: String], id: String = "system", _ more: [String] = []) -> [String] {
        ["operation=authenticate", "identity=managed", "managed_id=\(id)", "scope[]=https://vault.azure.net/.default"]
            + variables.map { "variable[]=\($0.key)=\($0.value)" } + more
    }
}
