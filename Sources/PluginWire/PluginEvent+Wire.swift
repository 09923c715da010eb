package import Secrets

extension PluginEvent {
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
    package static func read(_ name: String, _ reader: WireReader) throws(WireFault) -> PluginEvent? {
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

extension PluginReply {
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
