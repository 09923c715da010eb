import TokenStore

/// What may be taken over.
public struct ImportRules: Sendable {
    /// The clients whose tokens may be taken, lower-cased; nil for any client's.
    public var clientIDs: Set<String>?
    /// The hosts of the environment that a host belongs to, the one to keep tokens under first; nil for an unknown host.
    public var environment: @Sendable (String) -> [String]?
    /// Seconds since 1970.
    public var now: Int

    /// Makes rules.
    public init(
        clientIDs: Set<String>?, environment: @escaping @Sendable (String) -> [String]?, now: Int
    ) {
        self.clientIDs = clientIDs
        self.environment = environment
        self.now = now
    }

    /// Whether a client's own tokens may be taken.
    func allows(client: String) -> Bool {
        clientIDs?.contains(client.lowercased()) ?? true
    }

    /// The families that the clients are known to belong to, by what the records say.
    func families(in records: [CredentialRecord]) -> Set<String> {
        var families: Set<String> = []
        for case .appMetadata(let metadata) in records where allows(client: metadata.clientID) {
            if let family = metadata.familyID, !family.isEmpty { families.insert(family) }
        }
        return families
    }
}
