import Dispatch
import PluginWire
import Secrets
import SystemPackage

/// Reads messages from a pipe on a separate thread, so that waiting for the host never blocks the plugin's work.
enum BlockReader {
    /// Returns the messages as they arrive, without empty ones; the stream ends at the end of the input, or at
    /// malformed input.
    static func blocks(of input: FileDescriptor) -> AsyncStream<Attributes> {
        let (stream, continuation) = AsyncStream<Attributes>.makeStream()
        DispatchQueue(label: "lanyard-plugin.replies").async {
            read(input) { continuation.yield($0) }
            continuation.finish()
        }
        return stream
    }

    private static func read(_ input: FileDescriptor, _ give: (Attributes) -> Void) {
        var parser = AttributeParser(longestInput: PluginProtocol.longestConversation)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while let count = try? buffer.withUnsafeMutableBytes({ try input.read(into: $0) }), count > 0 {
            guard let blocks = try? parser.consume(buffer[..<count]) else { return }
            for block in blocks where !block.isEmpty { give(block) }
        }
    }
}
