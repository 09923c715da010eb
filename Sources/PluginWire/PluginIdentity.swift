import Addresses
import Claims
public import Secrets

/// An identity that needs no user to sign in: an application, or a machine's identity that its platform manages.
public struct PluginIdentity: Sendable, Equatable {
    /// The ways in which identities get their tokens; a plugin may define further kinds.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name in the protocol.
        public let rawValue: String
        /// Creates a kind with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// An application that authenticates to the authority (RFC 6749, 4.4).
        public static let client = Kind(rawValue: "client")
        /// The identity of the machine that this process runs on; it has no authority and no client ID.
        public static let managed = Kind(rawValue: "managed")
    }

    /// How it gets its tokens.
    public var kind: Kind
    /// The machine's identity: `system`, `client-id:…`, `object-id:…` or `resource-id:…`.
    public var managedID: String?
    /// Whether the machine's identity was chosen only because nothing else was configured; the platform may be absent.
    public var isAssumed = false
    /// The file with an application's certificate and key.
    public var certificate: String?
    /// The passphrase of that file, if it is encrypted.
    public var certificatePassword: Secret?
    /// The source of an assertion: a name such as `github-actions`, `file:PATH` or `command:PATH`.
    public var assertion: String?
    /// The source of the token that the authority exchanges for one of its own (RFC 8693), by the same names.
    public var subject: String?
    /// The service that the token is for, by its name at the authority; nil if scopes say that.
    public var audience: String?
    /// The variables that lead to the source.
    public var variables: [PluginField] = []

    /// Creates an identity of a kind; its properties are set afterwards.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("identity", kind.rawValue)
        try writer.put("managed_id", managedID)
        try writer.put("assumed", isAssumed ? "yes" : nil)
        try writer.put("certificate", certificate)
        try writer.put("certificate_password", certificatePassword)
        try writer.put("assertion", assertion)
        try writer.put("subject", subject)
        try writer.put("token_audience", audience)
        try writer.put("variable[]", fields: variables)
    }

    /// Parses the identity that a token is for; nil if the request has none.
    init?(_ reader: WireReader) throws(ProtocolError) {
        guard let name = try reader.optional("identity", .token(64)) else { return nil }
        self.init(Kind(rawValue: name))
        managedID = try reader.optional("managed_id", .managedID)
        isAssumed = try reader.optional("assumed", .token(16)) == "yes"
        certificate = try reader.optional("certificate", .absolutePath)
        certificatePassword = try reader.optional("certificate_password", .text(1024)).map { Secret($0) }
        assertion = try reader.optional("assertion", .text(4096))
        subject = try reader.optional("subject", .text(4096))
        audience = try reader.optional("token_audience", .text(2048))
        variables = try reader.fields("variable[]")
    }

    /// Checks that an identity of a known kind has its required properties, and not more than one proof.
    func check(clientSecret: Secret?) throws(ProtocolError) {
        switch kind {
        case .client:
            let proofs = [clientSecret != nil, certificate != nil, assertion != nil].count { $0 }
            guard proofs > 0 || subject != nil else {
                throw .missing("client_secret, certificate, assertion or subject")
            }
            guard proofs <= 1 else { throw .unexpected("second proof of who the client is") }
        case .managed:
            guard managedID != nil else { throw .missing("managed_id") }
        default: break
        }
    }
}

/// A name with a secret value.
public struct PluginField: Sendable, Equatable {
    /// The name: letters, digits and `_`, like a variable's.
    public let name: String
    /// The value, which is masked in traces.
    public let value: Secret

    /// Creates a field.
    public init(_ name: String, _ value: Secret) {
        self.name = name
        self.value = value
    }
}

extension WireWriter {
    mutating func put(_ key: String, fields: [PluginField]) throws(ProtocolError) {
        for field in fields { try put(key, "\(field.name)=\(field.value.reveal())") }
    }
}

extension WireReader {
    /// The highest number of fields in a list; no resource needs as many.
    private static let mostFields = 64

    /// Returns the fields in `NAME=VALUE` texts; a value may be any text on one line.
    func fields(_ key: String, named form: WireForm = .fieldName) throws(ProtocolError) -> [PluginField] {
        try list(key, .text(65_535), limit: Self.mostFields).map { text throws(ProtocolError) in
            guard let (name, value) = text.cut(at: "="), form.accepts(String(name)) else {
                throw .invalid(key)
            }
            return PluginField(String(name), Secret(String(value)))
        }
    }
}

extension WireForm {
    /// A variable's name, as in POSIX.
    package static let fieldName = WireForm(limit: 128, allows: \.isVariableName)
    /// One of a machine's identities.
    package static let managedID = WireForm(limit: 1024, allows: \.isManagedIdentity)
    /// An absolute path of a file.
    package static let absolutePath = WireForm(limit: 4096) { text(4096).accepts($0) && $0.utf8.first == 0x2F }
    /// A resource indicator (RFC 8707, 2): an absolute URI without a fragment.
    package static let resource = WireForm(limit: 2048, allows: StrictURL.isResourceIndicator)
}
