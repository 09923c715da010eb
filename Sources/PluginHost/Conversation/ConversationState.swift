import PluginWire
import Secrets

extension PluginEvent {
    /// Whether the event opens a page or a window.
    fileprivate var isPage: Bool {
        switch self {
        case .openURL, .openWindow: true
        case .showCode, .prompt, .progress: false
        }
    }
}

/// The host's state in one conversation; it interprets the plugin's messages without any input or output.
struct ConversationState {
    /// The host's reaction to a message.
    enum Step: Equatable {
        /// Write this reply.
        case reply(Attributes)
        /// Show this event to the user, and reply with the answer.
        case ask(PluginEvent)
        /// Show this message to the user.
        case progress(String)
        /// End the conversation.
        case end(Ending)
    }

    enum Ending: Equatable {
        /// The plugin's result, not yet parsed.
        case result(Attributes)
        /// The plugin's error, or the host's error about the plugin.
        case failed(PluginError)
    }

    /// The highest number of events; a plugin that sends more is broken.
    static let mostEvents = 1000
    /// The highest number of pages, each of which may start a browser; it allows for forgotten passwords and pasting
    /// mistakes.
    static let mostPages = 10

    private let plugin: String
    private var parser = AttributeParser(longestInput: PluginProtocol.longestConversation)
    private var events = 0
    private var pages = 0
    /// How the conversation ended; nil while it continues.
    private(set) var end: Ending?

    init(plugin: String) {
        self.plugin = plugin
    }

    /// Receives bytes from the plugin; returns the complete messages for a trace, and the steps to take.
    mutating func receive(_ bytes: [UInt8]) -> (blocks: [Attributes], steps: [Step]) {
        var blocks: [Attributes] = []
        var fault: ProtocolError?
        do throws(ProtocolError) { try parser.consume(bytes, into: &blocks) } catch { fault = error }
        var steps: [Step] = []
        for block in blocks { steps += take(block) }
        if let fault { steps += broken(by: fault) }
        return (blocks, steps)
    }

    /// Returns the steps after bytes that aren't a message; none after an error, like for anything else a plugin sends
    /// then.
    private mutating func broken(by fault: ProtocolError) -> [Step] {
        if case .failed? = end { return [] }
        return [fail("sent \(Self.text(of: fault))")]
    }

    /// Handles the end of the plugin's output.
    ///
    /// A last message without its blank line doesn't count, because the plugin may have died in the middle of it.
    mutating func finish() -> Step? {
        if case .failed? = end { return nil }
        do throws(ProtocolError) {
            guard try parser.finish() != nil else { return nil }
        } catch {
            // The bytes aren't a complete message.
        }
        return fail("ended in the middle of a message")
    }

    private mutating func take(_ block: Attributes) -> [Step] {
        if block.isEmpty { return [] }
        events += 1
        switch end {
        case nil: break
        case .result?: return [fail("kept sending after its answer")]
        case .failed?: return []
        }
        guard events <= Self.mostEvents else { return [fail("sent more than \(Self.mostEvents) messages")] }
        do throws(WireFault) {
            return step(for: try PluginMessage(wire: block))
        } catch {
            return [fail("sent a broken message, with \(error.text)")]
        }
    }

    private mutating func step(for message: PluginMessage) -> [Step] {
        switch message {
        case .event(.progress(let text)): return [.progress(text)]
        case .event(let event):
            if event.isPage { pages += 1 }
            guard pages <= Self.mostPages else { return [fail("asked for more than \(Self.mostPages) pages")] }
            return [.ask(event)]
        case .unknown(let name):
            return (try? PluginReply.unsupported.wire(to: name)).map { [.reply($0)] } ?? []
        case .result(let block): return [finish(.result(block))]
        case .error(let error): return [finish(.failed(error))]
        }
    }

    private mutating func finish(_ ending: Ending) -> Step {
        end = ending
        return .end(ending)
    }

    private mutating func fail(_ what: String) -> Step {
        finish(.failed(.broken(plugin, what)))
    }

    private static func text(of error: ProtocolError) -> String {
        switch error {
        case .malformedLine: "a line that is not key=value"
        case .forbiddenByte: "a forbidden byte"
        case .lineTooLong: "a line of more than 64 KiB"
        case .inputTooLong: "more than 4 MiB"
        case .notUTF8: "text that is not UTF-8"
        }
    }
}
