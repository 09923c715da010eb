public import Secrets

/// Who signs in by itself: an application, or a machine's identity that its platform manages.
public struct PluginIdentity: Sendable, Equatable {
    /// How an identity gets its tokens; a plugin may serve kinds of its own.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name on the wire.
        public let rawValue: String
        /// Makes a kind of any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// An application that proves itself to the authority (RFC 6749, 4.4).
        public static let client = Kind(rawValue: "client")
        /// The identity of the machine that this runs on; it has no authority and no client ID.
        public static let managed = Kind(rawValue: "managed")
    }

    /// How it gets its tokens.
    public var kind: Kind
    /// Which of a machine's identities: `system`, `client-id:…`, `object-id:…` or `resource-id:…`.
    public var managedID: String?
    /// Whether nobody named the machine's identity: it is what is left, and the platform may not be there.
    public var isAssumed = false
    /// The file with an application's certificate and key.
    public var certificate: String?
    /// What opens that file, if it is encrypted.
    public var certificatePassword: Secret?
    /// Where an assertion comes from: a name such as `github-actions`, `file:PATH` or `command:PATH`.
    public var assertion: String?
    /// The variables that the source is found by.
    public var variables: [PluginField] = []

    /// Makes an identity of a kind; what it is known by is set afterwards.
    public init(_ kind: Kind) {
        self.kind = kind
    }
}

/// A name with a secret value.
public struct PluginField: Sendable, Equatable {
    /// The name: letters, digits and `_`, as variables have them.
    public let name: String
    /// The value, which the trace masks.
    public let value: Secret

    /// Makes a field.
    public init(_ name: String, _ value: Secret) {
        self.name = name
        self.value = value
    }
}

/// An authority's endpoints (RFC 8414, 2); nil for what it has none of or what is yet to be found.
public struct PluginEndpoints: Sendable, Equatable {
    /// Where the person signs in.
    public var authorization: String?
    /// Where tokens are given.
    public var token: String?
    /// Where codes to be typed elsewhere are given (RFC 8628).
    public var deviceAuthorization: String?
    /// Where the account's names are told.
    public var userinfo: String?
    /// Where tokens are revoked (RFC 7009).
    public var revocation: String?
    /// Where the person signs out.
    public var endSession: String?

    /// Makes endpoints, none of them known.
    public init() {}

    /// Their names on the wire and in manifests, which have `-` for `_`.
    package static var names: [(name: String, endpoint: WritableKeyPath<Self, String?>)] {
        [
            ("authorization_endpoint", \.authorization), ("token_endpoint", \.token),
            ("device_authorization_endpoint", \.deviceAuthorization), ("userinfo_endpoint", \.userinfo),
            ("revocation_endpoint", \.revocation), ("end_session_endpoint", \.endSession),
        ]
    }
}
