import Glibc
import ManagedIdentity
import Secrets
import SystemPackage

@testable import PluginKit

/// The plugin as the host reaches it: one request in, events out, on pipes.
struct Wire {
    /// What the plugin told on its way.
    private(set) var progress: [String] = []
    /// Its last block.
    private(set) var answer: Attributes?
    /// All that it wrote, as text.
    private(set) var text = ""

    subscript(key: String) -> String? { answer?[key] }

    /// Asks the plugin; the host goes away before the answer if it is to.
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
        for await block in BlockReader.blocks(of: fromPlugin.readEnd) { wire.take(block) }
        await serving.value
        if pause == nil { try toPlugin.writeEnd.close() }
        return wire
    }

    private mutating func take(_ block: Attributes) {
        text += block.lines.map { "\($0.key)=\($0.value)\n" }.joined()
        if block["event"] == "progress" { progress.append(block["message"] ?? "") } else { answer = block }
    }

    /// A request for a token of a machine's identity.
    static func authenticate(_ variables: [String: String], id: String = "system", _ more: [String] = []) -> [String] {
        ["operation=authenticate", "identity=managed", "managed_id=\(id)", "scope[]=https://vault.azure.net/.default"]
            + variables.map { "variable[]=\($0.key)=\($0.value)" } + more
    }
}
