import Addresses
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Which of the stored records `cache clear` removes.
struct ClearFilter {
    /// Only access tokens that serve no more.
    var expired = false
    /// Only an account's, by user name or home account id.
    var account: String?
    /// Only those of clients with these ids, lower-cased.
    var clientIDs: Set<String>?
    /// Only an authority's.
    var place: AuthorityPlace?

    /// Whether nothing narrows it down.
    var isEverything: Bool { !expired && account == nil && clientIDs == nil && place == nil }

    /// The records to remove, at a time in seconds since 1970.
    ///
    /// An account goes with the last token of it, and what is known of a client only with that client's.
    func matches(among records: [CredentialRecord], now: Int) -> [CredentialRecord] {
        guard !isEverything else { return records }
        let facts = RecordFacts.all(records)
        let named = homes(in: records)
        let policies = policies(in: records)
        let chosen = zip(records, facts).filter { record, facts in
            guard facts.kind != .account else { return false }
            if expired, facts.usableUntil.map({ $0 > now }) ?? true { return false }
            if let named, !named.contains(facts.homeAccountID.lowercased()) { return false }
            if let clientIDs, !clientIDs.contains(facts.clientID.lowercased()) { return false }
            if let place, !covers(place, record, facts, policies) { return false }
            return true
        }
        let left = zip(records, facts).filter { record, facts in
            facts.kind != .account && facts.kind != .appMetadata && !chosen.contains { $0.0 == record }
        }
        let homesLeft = Set(left.map { $0.1.homeAccountID.lowercased() })
        let touched = Set(chosen.map { $0.1.homeAccountID.lowercased() }).union(named ?? [])
        let orphans = zip(records, facts).filter { _, facts in
            let home = facts.homeAccountID.lowercased()
            return facts.kind == .account && !expired && touched.contains(home) && !homesLeft.contains(home)
        }
        return (chosen + orphans).map(\.0)
    }

    /// The home account ids that the account's name means; nil if none is named.
    func homes(in records: [CredentialRecord]) -> Set<String>? {
        guard let wanted = account?.lowercased() else { return nil }
        var homes: Set<String> = []
        for record in RecordFacts.all(records)
        where [record.username.lowercased(), record.homeAccountID.lowercased()].contains(wanted) {
            homes.insert(record.homeAccountID.lowercased())
        }
        return homes
    }

    /// The policies that accounts belong to, by home account id.
    private func policies(in records: [CredentialRecord]) -> [String: String] {
        var policies: [String: String] = [:]
        for case .account(let account) in records { policies[account.homeAccountID.lowercased()] = account.policy }
        return policies
    }

    /// Whether a record belongs to an authority: tokens to its realm, if it names one, and what has none to its host.
    private func covers(
        _ place: AuthorityPlace, _ record: CredentialRecord, _ facts: RecordFacts, _ policies: [String: String]
    ) -> Bool {
        guard place.aliases.contains(facts.environment.lowercased()) else { return false }
        if let policy = place.policy { return policies[facts.homeAccountID.lowercased()] == policy }
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
