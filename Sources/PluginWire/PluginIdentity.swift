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
    /// The variables that lead to the source.
    public var variables: [PluginField] = []

    /// Creates an identity of a kind; its properties are set afterwards.
    public init(_ kind: Kind) {
        self.kind = kind
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

/// An authority's endpoints (RFC 8414, 2); nil for one that doesn't exist or hasn't been discovered yet.
public struct PluginEndpoints: Sendable, Equatable {
    /// The authorization endpoint, where the user signs in.
    public var authorization: String?
    /// The token endpoint.
    public var token: String?
    /// The device authorization endpoint (RFC 8628).
    public var deviceAuthorization: String?
    /// The userinfo endpoint, which has the account's names.
    public var userinfo: String?
    /// The revocation endpoint (RFC 7009).
    public var revocation: String?
    /// The end-session endpoint, where the user signs out.
    public var endSession: String?

    /// Creates endpoints, none of them known.
    public init() {}

    /// The endpoints' names in the protocol; in manifests, they have `-` instead of `_`.
    package static var names: [(name: String, endpoint: WritableKeyPath<Self, String?>)] {
        [
            ("authorization_endpoint", \.authorization), ("token_endpoint", \.token),
            ("device_authorization_endpoint", \.deviceAuthorization), ("userinfo_endpoint", \.userinfo),
            ("revocation_endpoint", \.revocation), ("end_session_endpoint", \.endSession),
        ]
    }
}
