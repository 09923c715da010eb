import FoundationEssentials
public import TokenStore

/// What another program's cache holds, or a document that was exported.
public struct OtherCache: Sendable, Equatable {
    /// Something that can't become a record.
    public struct Reject: Sendable, Equatable {
        /// What it is, for people.
        public var what: String
        /// Whose it is, as far as it says; not yet fit to show.
        public var whose: String
        /// Why not.
        public var reason: SkipReason

        /// Makes a reject.
        public init(what: String, whose: String, reason: SkipReason) {
            self.what = what
            self.whose = whose
            self.reason = reason
        }
    }

    /// The most bytes that are read.
    public static let mostBytes = 16 << 20

    /// The records in it.
    public var records: [CredentialRecord] = []
    /// What can't become one.
    public var rejects: [Reject] = []

    /// Makes an empty cache.
    public init() {}

    /// Reads MSAL's unified cache: JSON, or base64 of it as .NET and Go keep it in keyrings; nil if it is neither.
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

/// Why something isn't taken over.
public enum SkipReason: String, Sendable, CaseIterable {
    /// Its client is not one of the configuration's.
    case otherClient = "other-client"
    /// It is a family's, and no configured client is known to belong to it.
    case otherFamily = "other-family"
    /// Neither a plugin nor the configuration knows its authority's host.
    case unknownHost = "unknown-host"
    /// It serves no more.
    case expired
    /// It is good only together with a key that isn't there.
    case boundToKey = "bound-to-key"
    /// It is an application's and no person's.
    case ownerless
    /// It is of a guest, whose home it doesn't tell.
    case guest
    /// It serves one resource only.
    case oneResource = "one-resource"
    /// The same is stored.
    case stored
    /// One that is as new or newer is stored.
    case newerStored = "newer-stored"
    /// The source has a newer one.
    case newerFound = "newer-found"
    /// No token of the account is taken or stored.
    case noToken = "no-token"
    /// A token answers at its address, not a password.
    case tokenAnswers = "token-answers"
    /// It is a refresh token that only its program can use.
    case programsOwn = "programs-own"
    /// It lacks a part, or a part is not what it should be.
    case malformed
    /// Nobody here knows what it is.
    case unknownKind = "unknown-kind"
}
