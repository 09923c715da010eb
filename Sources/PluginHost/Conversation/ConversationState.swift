import PluginWire
import Secrets

extension PluginEvent {
    /// Whether a page or a window opens for it.
    fileprivate var isPage: Bool {
        switch self {
        case .openURL, .openWindow: true
        case .showCode, .prompt, .progress: false
        }
    }
}

/// The host's state in one conversation: what each block from the plugin means, without any input or output.
struct ConversationState {
    /// What is to be done about a block.
    enum Step: Equatable {
        /// Write this reply.
        case reply(Attributes)
        /// Show this to the person and reply with their answer.
        case ask(PluginEvent)
        /// Show this to the person.
        case progress(String)
        /// The conversation is over.
        case end(Ending)
    }

    enum Ending: Equatable {
        /// The plugin's result, not yet read.
        case result(Attributes)
        /// The plugin's error, or ours about the plugin.
        case failed(PluginError)
    }

    /// More events than any sign-in needs; a plugin that sends more is broken.
    static let mostEvents = 1000
    /// More pages than any sign-in needs, a forgotten password and slips at pasting included: each may start a browser.
    static let mostPages = 10

    private let plugin: String
    private var parser = AttributeParser(longestInput: PluginProtocol.longestConversation)
    private var events = 0
    private var pages = 0
    private var ending: Ending?

    init(plugin: String) {
        self.plugin = plugin
    }

    /// How the conversation ended, or nil while it goes on.
    var end: Ending? { ending }

    /// Takes bytes from the plugin; gives the complete blocks for a trace, and what to do.
    mutating func receive(_ bytes: [UInt8]) -> (blocks: [Attributes], steps: [Step]) {
        var blocks: [Attributes] = []
        var fault: ProtocolError?
        do throws(ProtocolError) { try parser.consume(bytes, into: &blocks) } catch { fault = error }
        var steps: [Step] = []
        for block in blocks { steps += take(block) }
        if let fault { steps += broken(by: fault) }
        return (blocks, steps)
    }

    /// What bytes that are no message mean; nothing after an error, like whatever else a plugin says then.
    private mutating func broken(by fault: ProtocolError) -> [Step] {
        if case .failed? = ending { return [] }
        return [fail("sent \(Self.text(of: fault))")]
    }

    /// Takes the end of the plugin's output.
    ///
    /// A last block without its blank line does not count: the plugin may have died in the middle of it.
    mutating func finish() -> Step? {
        if case .failed? = ending { return nil }
        do throws(ProtocolError) {
            guard try parser.finish() != nil else { return nil }
        } catch {
            // The same: bytes that are no whole message.
        }
        return fail("ended in the middle of a message")
    }

    private mutating func take(_ block: Attributes) -> [Step] {
        if block.isEmpty { return [] }
        events += 1
        switch ending {
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
        self.ending = ending
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
