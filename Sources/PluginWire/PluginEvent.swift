public import Secrets

/// A plugin's request to the user, made through the host; each gets exactly one reply (docs/plugin-protocol.md,
/// EVENTS).
public enum PluginEvent: Sendable, Equatable {
    /// Open this page in the user's browser; `redirectURI` is where it will redirect to, if known.
    case openURL(url: String, redirectURI: String?)
    /// Show this code and the page to enter it at.
    ///
    /// `completeURI` is the page with the code already filled in, if the authority has one; `expiresIn` is in seconds.
    case showCode(
        userCode: String, verificationURI: String, completeURI: String? = nil, message: String, expiresIn: Int)
    /// Another program is about to ask the user in its own window; `program` is its name.
    case openWindow(program: String)
    /// Ask the user for a line of text.
    case prompt(kind: PromptKind, message: String)
    /// Show a progress message; optional for the host.
    case progress(message: String)

    /// How the user types the answer.
    public enum PromptKind: String, Sendable, CaseIterable {
        /// With echo.
        case `public`
        /// Without echo.
        case secret
        /// As a yes or no; the answer is `yes` or `no`.
        case confirm
    }

    /// The event's name in the protocol, which its reply repeats.
    package var name: String {
        switch self {
        case .openURL: "open-url"
        case .showCode: "show-code"
        case .openWindow: "open-window"
        case .prompt: "prompt"
        case .progress: "progress"
        }
    }

    /// The flows that it is a part of; empty if it may come with any.
    package var flows: [PluginRequest.Flow] {
        switch self {
        case .openURL: [.browser, .paste]
        case .showCode: [.deviceCode]
        case .openWindow: [.broker]
        case .prompt, .progress: []
        }
    }

    /// Whether it opens a page or a window.
    package var isPage: Bool { !flows.isEmpty && !flows.contains(.deviceCode) }

    /// All events that this version knows, with those that end a conversation.
    package static let names = ["open-url", "show-code", "open-window", "prompt", "progress", "result", "error"]

    /// Encodes the event as a message.
    package func wire() throws(ProtocolError) -> Attributes {
        var writer = WireWriter()
        try writer.put("event", name)
        switch self {
        case .openURL(let url, let redirectURI):
            try writer.put("url", url)
            try writer.put("redirect_uri", redirectURI)
        case .showCode(let userCode, let verificationURI, let completeURI, let message, let expiresIn):
            try writer.put("user_code", userCode)
            try writer.put("verification_uri", verificationURI)
            try writer.put("verification_uri_complete", completeURI)
            try writer.put("message", message: message)
            try writer.put("expires_in", expiresIn)
        case .openWindow(let program): try writer.put("program", message: program)
        case .prompt(let kind, let message):
            try writer.put("kind", kind.rawValue)
            try writer.put("message", message: message)
        case .progress(let message):
            try writer.put("message", message: message)
        }
        return writer.block
    }

    /// Parses the event with this name; nil if this version doesn't know it.
    package static func read(_ name: String, _ reader: WireReader) throws(ProtocolError) -> PluginEvent? {
        switch name {
        case "open-url":
            return .openURL(
                url: try reader.required("url", .page), redirectURI: try reader.optional("redirect_uri", .token(2048)))
        case "show-code":
            guard let seconds = try reader.number("expires_in", in: 1...86_400) else { throw .missing("expires_in") }
            return .showCode(
                userCode: try reader.required("user_code", .token(64)),
                verificationURI: try reader.required("verification_uri", .securePage),
                completeURI: try reader.optional("verification_uri_complete", .securePage),
                message: try reader.message("message") ?? "", expiresIn: seconds)
        case "open-window":
            guard let program = try reader.message("program") else { throw .missing("program") }
            return .openWindow(program: program)
        case "prompt":
            // A kind from a later version can't be shown correctly, so the event counts as unknown.
            guard let kind = PromptKind(rawValue: try reader.required("kind", .token(64))) else { return nil }
            return .prompt(kind: kind, message: try reader.message("message") ?? "")
        case "progress":
            return .progress(message: try reader.message("message") ?? "")
        default: return nil
        }
    }
}

/// The host's answer to an event.
public enum PluginReply: Sendable, Equatable {
    /// The event was handled: the browser was started, or the code was shown.
    case done
    /// For `open-url`: the user followed the link elsewhere and pasted the URL that it led to; this may take minutes.
    case redirected(Secret)
    /// For `prompt`: the typed text.
    case answer(Secret)
    /// Nobody is there, or this can't be done here; the plugin should try another flow.
    case unsupported
    /// The user declined.
    case cancelled

    /// Encodes the reply to the event with this name as a message.
    package func wire(to event: String) throws(ProtocolError) -> Attributes {
        let (status, value): (String, Secret?) =
            switch self {
            case .done: ("done", nil)
            case .redirected(let address): ("redirected", address)
            case .answer(let answer): ("answer", answer)
            case .unsupported: ("unsupported", nil)
            case .cancelled: ("cancelled", nil)
            }
        var writer = WireWriter()
        try writer.put("reply", event)
        try writer.put("status", status)
        try writer.put("value", value)
        return writer.block
    }

    /// Parses a reply; a status that this version doesn't know becomes `unsupported`.
    package init(wire block: Attributes) {
        let value = Secret(block["value"] ?? "")
        self =
            switch block["status"] {
            case "done": .done
            case "redirected": .redirected(value)
            case "answer": .answer(value)
            case "cancelled": .cancelled
            default: .unsupported
            }
    }
}
