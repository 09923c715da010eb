package import Secrets

/// What a plugin ends a conversation with.
package protocol PluginAnswer: Sendable {
    /// The answer as a block.
    func wire() throws(ProtocolError) -> Attributes
}

extension PluginResult: PluginAnswer {}
extension PluginCredential: PluginAnswer {}
extension PluginRegistration: PluginAnswer {}
extension PluginProbe: PluginAnswer {}
extension PluginDescription: PluginAnswer {}
extension PluginError: PluginAnswer {}

/// A block that a plugin wrote.
package enum PluginMessage: Sendable {
    /// Something for the person.
    case event(PluginEvent)
    /// An event this version doesn't know; it is answered `unsupported`.
    case unknown(name: String)
    /// What the operation gave; its keys depend on the operation.
    case result(Attributes)
    /// Why the operation failed.
    case error(PluginError)

    /// Reads a block.
    package init(wire block: Attributes) throws(WireFault) {
        let reader = WireReader(block)
        let name = try reader.required("event", .token(64))
        switch name {
        case "result": self = .result(block)
        case "error": self = .error(try PluginError(reader))
        default: self = try PluginEvent.read(name, reader).map(Self.event) ?? .unknown(name: name)
        }
    }
}
