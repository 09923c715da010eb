public import Secrets

/// What `register` gave: the application as the authority knows it from now on.
public struct PluginRegistration: Sendable, Equatable {
    /// The client ID.
    public var clientID: String
    /// The secret that the authority wants from now on; nil if it wants none.
    public var clientSecret: Secret?

    /// Makes a registration.
    public init(clientID: String, clientSecret: Secret? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
    }
}

extension PluginRegistration {
    /// The registration as a block.
    package func wire() throws(ProtocolError) -> Attributes {
        var writer = WireWriter()
        try writer.put("event", "result")
        try writer.put("client_id", clientID)
        try writer.put("client_secret", clientSecret)
        return writer.block
    }

    /// Reads a registration.
    package init(_ reader: WireReader) throws(WireFault) {
        self.init(
            clientID: try reader.required("client_id", .token(256)),
            clientSecret: try reader.optional("client_secret", .text(4096)).map { Secret($0) })
    }
}
