import PluginWire
import Secrets
import SystemPackage

/// The author's side of the conversation: writes events, and gives each reply to the `ask` that waits for it.
///
/// Replies come in the order of their events. One `ask` waits at a time; a further one is sent when the one before it
/// was answered or its task cancelled. A cancelled `ask` returns at once, and its reply is dropped when it comes.
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

    /// Takes a reply block; one that doesn't belong to the oldest event ends the conversation.
    func receive(_ block: Attributes) {
        guard let index = pending.firstIndex(where: \.isSent) else { return }
        guard block["reply"] == pending[index].event.name else { return close() }
        let answered = pending.remove(at: index)
        answered.asker?.resume(returning: PluginReply(wire: block))
        sendNext()
    }

    /// Ends the conversation: everybody who asks is told `cancelled`, now and from now on.
    func close() {
        isOpen = false
        for asked in pending { asked.asker?.resume(returning: .cancelled) }
        pending.removeAll()
    }

    /// Writes the last block; false if the host no longer reads.
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
        // The event can't be written (a line feed in a URL, say), so nobody will answer it.
        pending.remove(at: index).asker?.resume(returning: .unsupported)
        sendNext()
    }

    private func write(_ block: Attributes) {
        guard (try? output.writeAll(block.terminated)) != nil else { return close() }
    }
}
