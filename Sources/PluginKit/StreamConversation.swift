import Dispatch
import PluginWire
import Secrets
import SystemPackage

/// The plugin's side of the conversation: it writes events, and passes each reply to the `ask` that waits for it.
///
/// Replies arrive in the order of their events. Only one `ask` waits at a time; the next one is sent once it was
/// answered or its task was cancelled. A cancelled `ask` returns at once, and its reply is dropped when it arrives.
actor StreamConversation: Conversation {
    private struct Pending {
        let id: Int
        let event: PluginEvent
        var isSent = false
        var asker: CheckedContinuation<PluginReply, Never>?
    }

    private let output: FileDescriptor
    private var pending: [Pending] = []
    private var lastID = 0
    private var isOpen = true

    init(output: FileDescriptor) {
        self.output = output
    }

    func ask(_ event: PluginEvent) async -> PluginReply {
        lastID += 1
        let id = lastID
        return await withTaskCancellationHandler {
            await withCheckedContinuation { asker in
                guard isOpen, !Task.isCancelled else { return asker.resume(returning: .cancelled) }
                pending.append(Pending(id: id, event: event, asker: asker))
                sendNext()
            }
        } onCancel: {
            Task { await self.abandon(id) }
        }
    }

    func progress(_ message: String) async {
        guard isOpen, let block = try? PluginEvent.progress(message: message).wire() else { return }
        write(block)
    }

    /// Handles a reply; one that doesn't belong to the oldest event ends the conversation.
    func receive(_ block: Attributes) {
        guard let index = pending.firstIndex(where: \.isSent) else { return }
        guard block["reply"] == pending[index].event.name else { return close() }
        let answered = pending.remove(at: index)
        answered.asker?.resume(returning: PluginReply(wire: block))
        sendNext()
    }

    /// Ends the conversation: every `ask`, waiting or future, returns `cancelled`.
    func close() {
        isOpen = false
        for asked in pending { asked.asker?.resume(returning: .cancelled) }
        pending.removeAll()
    }

    /// Writes the last message; false if the host no longer reads.
    func finish(with block: Attributes) -> Bool {
        defer { close() }
        return (try? output.writeAll(block.terminated)) != nil
    }

    private func abandon(_ id: Int) {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
        pending[index].asker?.resume(returning: .cancelled)
        if pending[index].isSent { pending[index].asker = nil } else { pending.remove(at: index) }
        sendNext()
    }

    private func sendNext() {
        guard !pending.contains(where: { $0.isSent && $0.asker != nil }),
            let index = pending.firstIndex(where: { !$0.isSent })
        else { return }
        pending[index].isSent = true
        if let block = try? pending[index].event.wire() { return write(block) }
        // The event can't be written (because of a line feed in a URL, for example), so there will be no reply.
        pending.remove(at: index).asker?.resume(returning: .unsupported)
        sendNext()
    }

    private func write(_ block: Attributes) {
        guard (try? output.writeAll(block.terminated)) != nil else { return close() }
    }
}

extension StreamConversation {
    /// Reads messages from a pipe on a separate thread, so that waiting for the host never blocks the plugin's work.
    ///
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
