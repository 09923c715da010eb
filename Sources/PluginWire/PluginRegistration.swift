public import Secrets

/// The result of `register`: the application as it is now registered at the authority.
public struct PluginRegistration: Sendable, Equatable {
    /// The URL and the token for deleting the application (RFC 7592).
    public struct Management: Sendable, Equatable {
        /// The application's URL at the authority.
        public var uri: String
        /// The registration access token.
        public var token: Secret

        /// Creates the pair.
        public init(uri: String, token: Secret) {
            self.uri = uri
            self.token = token
        }
    }

    /// The client ID.
    public var clientID: String
    /// The client secret that the authority requires from now on; nil if it requires none.
    public var clientSecret: Secret?
    /// The secret's expiry, in seconds since 1970; nil if it doesn't expire.
    public var secretExpiresAt: Int?
    /// How to delete the application; nil if the authority doesn't say.
    public var management: Management?

    /// Creates a registration.
    public init(clientID: String, clientSecret: Secret? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
    }
}

extension PluginRegistration: PluginAnswer {
    /// Writes the registration.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("client_id", clientID)
        try writer.put("client_secret", clientSecret)
        try writer.put("client_secret_expires_at", secretExpiresAt)
        try writer.put("registration_uri", management?.uri)
        try writer.put("registration_token", management?.token)
    }

    /// Parses a registration.
    package init(_ reader: WireReader) throws(ProtocolError) {
        self.init(
            clientID: try reader.required("client_id", .token(256)),
            clientSecret: try reader.optional("client_secret", .text(4096)).map { Secret($0) })
        secretExpiresAt = try reader.number("client_secret_expires_at", in: Lifetime.ofClocks)
        management = try Management(reader)
    }
}

extension PluginRegistration.Management {
    /// Parses how to delete an application; nil unless the message has both the URL and the token.
    init?(_ reader: WireReader) throws(ProtocolError) {
        let uri = try reader.optional("registration_uri", .securePage)
        let token = try reader.secret("registration_token")
        guard let uri, let token else { return nil }
        self.init(uri: uri, token: token)
    }
}
