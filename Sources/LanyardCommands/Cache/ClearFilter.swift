import Addresses
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Selects the stored records that `cache clear` removes.
struct ClearFilter {
    /// Whether to remove only access tokens that are no longer usable.
    var expired = false
    /// The account whose records to remove, by user name or home account ID; nil for all.
    var account: String?
    /// The clients whose records to remove, by key; nil for all.
    var clientIDs: Set<String>?
    /// The authority whose records to remove; nil for all.
    var place: AuthorityPlace?

    /// Whether the filter selects everything.
    var isEverything: Bool { !expired && account == nil && clientIDs == nil && place == nil }

    /// Returns the records to remove; `now` is in seconds since 1970.
    ///
    /// An account is removed with its last token, and a client's metadata only with the client's tokens.
    func matches(among records: [CredentialRecord], now: Int) -> [CredentialRecord] {
        guard !isEverything else { return records }
        let facts = RecordFacts.all(records)
        let named = homes(in: records)
        let policies = policies(in: records)
        let chosen = zip(records, facts).filter { record, facts in
            guard facts.kind != .account else { return false }
            if expired, facts.usableUntil.map({ $0 > now }) ?? true { return false }
            if let named, !named.contains(facts.home) { return false }
            if let clientIDs, !clientIDs.contains(facts.clientID.clientKey) { return false }
            if let place, !covers(place, record, facts, policies) { return false }
            return true
        }
        let left = zip(records, facts).filter { record, facts in
            facts.kind != .account && facts.kind != .appMetadata && !chosen.contains { $0.0 == record }
        }
        let homesLeft = Set(left.map { $0.1.home })
        let touched = Set(chosen.map { $0.1.home }).union(named ?? [])
        let orphans = zip(records, facts).filter { _, facts in
            facts.kind == .account && !expired && touched.contains(facts.home) && !homesLeft.contains(facts.home)
        }
        return (chosen + orphans).map(\.0)
    }

    /// Returns the home account IDs that match the account's name; nil if the filter names none.
    func homes(in records: [CredentialRecord]) -> Set<String>? {
        guard let wanted = account?.lowercased() else { return nil }
        return Set(
            RecordFacts.all(records).filter { [$0.username.lowercased(), $0.home].contains(wanted) }.map(\.home))
    }

    /// Returns the policies of accounts, by home account ID.
    private func policies(in records: [CredentialRecord]) -> [String: String] {
        var policies: [String: String] = [:]
        for case .account(let account) in records { policies[account.homeAccountID.lowercased()] = account.policy }
        return policies
    }

    /// Whether a record belongs to an authority: tokens by its realm, if it names one, and records without a realm by
    /// its host.
    private func covers(
        _ place: AuthorityPlace, _ record: CredentialRecord, _ facts: RecordFacts, _ policies: [String: String]
    ) -> Bool {
        guard place.aliases.contains(facts.environment.lowercased()) else { return false }
        if let policy = place.policy { return policies[facts.home] == policy }
        guard place.sharedRealm == nil else { return true }
        switch record {
        case .accessToken(let token):
            return token.realm.lowercased() == place.realm || token.wasRequested(in: place.realm)
        case .exchanged(let result):
            return result.realm.lowercased() == place.realm || result.wasRequested(in: place.realm)
        case .idToken(let token): return token.realm.lowercased() == place.realm
        case .refreshToken, .account, .appMetadata: return false
        }
    }
}

extension Failure {
    /// An account that there is no record of.
    init(nothingStoredOf account: String) {
        self.init(
            "nothing is stored for \(account.displayable(limit: 200))", hints: [Hint("see", run: "lanyard cache list")])
    }
}
