package import Secrets

/// What a plugin ends a conversation with.
package protocol PluginAnswer: Sendable {
    /// The message's event.
    var event: String { get }
    /// Writes what the message has besides its event.
    func write(to writer: inout WireWriter) throws(ProtocolError)
}

extension PluginAnswer {
    /// By default, the answer is a result.
    package var event: String { "result" }

    /// Encodes the answer as a message.
    package func wire() throws(ProtocolError) -> Attributes {
        var writer = WireWriter()
        try writer.put("event", event)
        try write(to: &writer)
        return writer.block
    }
}

/// A message from a plugin.
package enum PluginMessage: Sendable {
    /// An event for the user.
    case event(PluginEvent)
    /// An event that this version doesn't know; the reply is `unsupported`.
    case unknown(name: String)
    /// The result of the operation; its keys depend on the operation.
    case result(Attributes)
    /// The error of the operation.
    case error(PluginError)

    package init(_ reader: WireReader) throws(ProtocolError) {
        let name = try reader.required("event", .token(64))
        switch name {
        case "result": self = .result(reader.block)
        case "error": self = .error(try PluginError(reader))
        default: self = try PluginEvent.read(name, reader).map(Self.event) ?? .unknown(name: name)
        }
    }

    /// Whether it ends the conversation.
    package var isAnswer: Bool { if case .result = self { true } else { false } }
}

/// The version and common values of the protocol between host and plugins (docs/plugin-protocol.md).
public enum PluginProtocol {
    /// The only version that this library supports, as manifests name it.
    public static let version = "v1"

    /// The name of that version's state machine, which is the last argument of a plugin's command line.
    public static let stateMachine = "lanyard-plugin-\(version)"

    /// The realm of an authority that is only a host, if any path would be a realm there.
    public static let realmOfHost = "default"

    /// Returns the realm of an authority whose path, or the rest of it, is a realm (`{path}` in a manifest).
    public static func realm(ofPath segments: [String]) -> String {
        let path = segments.joined(separator: "/")
        return path.isEmpty ? realmOfHost : path
    }

    /// The highest number of bytes that either side may send in one conversation.
    package static let longestConversation = 4 << 20
    /// The highest number of messages; a plugin that sends more is broken.
    package static let mostMessages = 1000
}
