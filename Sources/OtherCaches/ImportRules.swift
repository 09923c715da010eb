import TokenStore

/// The rules for what may be imported.
public struct ImportRules: Sendable {
    /// The clients whose tokens may be imported, lower-cased; nil for any client.
    public var clientIDs: Set<String>?
    /// Returns the hosts of the environment that a host belongs to, first the one to store tokens under; nil for an
    /// unknown host.
    public var environment: @Sendable (String) -> [String]?
    /// The current time, in seconds since 1970.
    public var now: Int

    /// Creates rules.
    public init(
        clientIDs: Set<String>?, environment: @escaping @Sendable (String) -> [String]?, now: Int
    ) {
        self.clientIDs = clientIDs
        self.environment = environment
        self.now = now
    }

    /// Whether a client's own tokens may be imported.
    func allows(client: String) -> Bool {
        clientIDs?.contains(client.lowercased()) ?? true
    }

    /// Returns the families that the clients are known to belong to, according to the records.
    func families(in records: [CredentialRecord]) -> Set<String> {
        var families: Set<String> = []
        for case .appMetadata(let metadata) in records where allows(client: metadata.clientID) {
            if let family = metadata.familyID, !family.isEmpty { families.insert(family) }
        }
        return families
    }
}
