import PluginHost
public import TokenStore

/// All accounts, what was chosen, and which account is used where.
public struct AccountOverview: Sendable {
    /// Every account, by user name.
    public let accounts: [KnownAccount]
    /// What the person chose, the last choice first.
    public let history: [SelectedAccount]
    private let records: StoredRecords
    private let registry: PluginRegistry
    private let isShared: Bool

    init(_ records: StoredRecords, registry: PluginRegistry, history: [SelectedAccount], isShared: Bool = false) {
        accounts = KnownAccount.all(records, registry: registry)
        self.history = history
        self.records = records
        self.registry = registry
        self.isShared = isShared
    }

    /// The authorities that an account was chosen for, the last one first.
    public var places: [AuthorityPlace] {
        var seen: Set<String> = []
        return history.compactMap(place).filter { seen.insert($0.url).inserted }
    }

    /// The authority that a choice is for; nil if it is for all.
    public func place(_ selected: SelectedAccount) -> AuthorityPlace? {
        guard let path = selected.authority else { return nil }
        let url = "https://\(selected.environment)\(path)"
        if let match = registry.match(authority: url, isConfigured: true) { return AuthorityPlace(match) }
        let environments = registry.plugins.flatMap(\.environments)
        let aliases = environments.first { $0.contains(selected.environment) } ?? [selected.environment]
        return AuthorityPlace(selected, aliases: aliases)
    }

    /// The accounts of an authority, as `get` chooses among them on behalf of a client; nil for any client.
    public func selection(at place: AuthorityPlace, clientID: String? = nil) -> AccountSelection {
        AccountSelection(records, at: place, clientID: clientID, history: history, isShared: isShared)
    }

    /// The account that a record is of.
    public func account(_ record: AccountRecord) -> KnownAccount? {
        accounts.first { known in
            known.account.homeAccountID.lowercased() == record.homeAccountID.lowercased()
                && known.environments.contains(record.environment.lowercased())
        }
    }
}
