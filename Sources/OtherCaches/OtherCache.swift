import FoundationEssentials
public import Keyring

/// The contents of another program's cache, or of an exported document.
public struct OtherCache: Sendable, Equatable {
    /// An entry that can't become a record.
    public struct Reject: Sendable, Equatable {
        /// The kind of entry, in words for the user.
        public var what: String
        /// The owner in the entry; not yet made displayable.
        public var whose: String
        /// The reason.
        public var reason: SkipReason

        /// Creates a reject.
        public init(what: String, whose: String, reason: SkipReason) {
            self.what = what
            self.whose = whose
            self.reason = reason
        }
    }

    /// The highest number of bytes that are read.
    public static let mostBytes = 16 << 20

    /// The records in the cache.
    public var records: [CredentialRecord] = []
    /// The entries that can't become records.
    public var rejects: [Reject] = []

    /// Creates an empty cache.
    public init() {}

    /// Parses MSAL's unified cache, as JSON or as its base64, which .NET and Go store in keyrings; nil if it is
    /// neither.
    public init?(unified bytes: [UInt8]) {
        guard let cache = Self.unified(bytes) else { return nil }
        records = cache.records.atTheirTenants.map(\.asItsPluginTellsIt)
        rejects = cache.leftOver.map { Reject(what: $0, whose: "", reason: .unknownKind) }
    }

    private static func unified(_ bytes: [UInt8]) -> UnifiedCache? {
        if let cache = UnifiedCache(json: bytes) { return cache }
        guard bytes.count <= mostBytes * 4 / 3,
            let decoded = Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters), !decoded.isEmpty
        else { return nil }
        return UnifiedCache(json: decoded)
    }
}

/// The reasons for not importing an entry.
public enum SkipReason: String, Sendable, CaseIterable {
    /// Its client isn't one in the configuration.
    case otherClient = "other-client"
    /// It belongs to a family that no configured client is known to be in.
    case otherFamily = "other-family"
    /// Neither a plugin nor the configuration knows its authority's host.
    case unknownHost = "unknown-host"
    /// It has expired.
    case expired
    /// It is bound to a key that isn't there.
    case boundToKey = "bound-to-key"
    /// It belongs to an application rather than a user.
    case ownerless
    /// It belongs to a guest whose home isn't known.
    case guest
    /// It is valid for a single resource only.
    case oneResource = "one-resource"
    /// The same entry is stored.
    case stored
    /// An entry that is at least as new is stored.
    case newerStored = "newer-stored"
    /// The source has a newer entry.
    case newerFound = "newer-found"
    /// No token of the account is imported or stored.
    case noToken = "no-token"
    /// Its address is served by a token, not a password.
    case tokenAnswers = "token-answers"
    /// It is a refresh token that only its program can use.
    case programsOwn = "programs-own"
    /// A part is missing or invalid.
    case malformed
    /// Its kind is unknown.
    case unknownKind = "unknown-kind"
}
