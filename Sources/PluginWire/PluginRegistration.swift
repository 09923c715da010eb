public import Secrets

/// What `register` gave: the application as the authority knows it from now on.
public struct PluginRegistration: Sendable, Equatable {
    /// Where, and with which token, the application can be taken back (RFC 7592).
    public struct Management: Sendable, Equatable {
        /// The application's own URL at the authority.
        public var uri: String
        /// The token for it.
        public var token: Secret

        /// Makes one.
        public init(uri: String, token: Secret) {
            self.uri = uri
            self.token = token
        }
    }

    /// The client ID.
    public var clientID: String
    /// The secret that the authority wants from now on; nil if it wants none.
    public var clientSecret: Secret?
    /// When the secret ends, in seconds since 1970; nil if it doesn't.
    public var secretExpiresAt: Int?
    /// How the application is taken back; nil if the authority doesn't say.
    public var management: Management?

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
        try writer.put("client_secret_expires_at", secretExpiresAt)
        try writer.put("registration_uri", management?.uri)
        try writer.put("registration_token", management?.token)
        return writer.block
    }

    /// Reads a registration.
    package init(_ reader: WireReader) throws(WireFault) {
        self.init(
            clientID: try reader.required("client_id", .token(256)),
            clientSecret: try reader.optional("client_secret", .text(4096)).map { Secret($0) })
        secretExpiresAt = try reader.number("client_secret_expires_at", in: Lifetime.ofClocks)
        management = try Management(reader)
    }
}

extension PluginRegistration.Management {
    /// Reads how an application is taken back; nil if the block doesn't say both where and with what.
    init?(_ reader: WireReader) throws(WireFault) {
        let uri = try reader.optional("registration_uri", .securePage)
        let token = try reader.secret("registration_token")
        guard let uri, let token else { return nil }
        self.init(uri: uri, token: token)
    }
}
