import Addresses
import TokenStore

/// Which accounts one authority is known to accept, judging by the stored records.
///
/// An authority with a single realm accepts the accounts at home there and its guests. A token or a record of that
/// realm shows that an account has been there. If the authority's URL names the realm by a domain, its ID is known once
/// a token was issued.
struct AccountStandings: Sendable {
    private let place: AuthorityPlace
    /// The identifiers of the accounts for which the client has a token of this authority.
    private let served: Set<String>
    /// The identifiers of the accounts that have a record in this realm.
    private let visitors: Set<String>
    /// The identifiers of the accounts whose home is this realm.
    private let natives: Set<String>

    init(_ records: StoredRecords, at place: AuthorityPlace, clientID: String?) {
        let here = records.all.filter { place.aliases.contains($0.environment.lowercased()) }
        // The names of the authority's realm: the one in its URL, and its ID.
        let names = place.names(in: here)
        func identifiers(_ isMeant: (CredentialRecord) -> Bool) -> Set<String> {
            Set(here.filter(isMeant).compactMap { $0.homeAccountID?.lowercased() })
        }
        self.place = place
        served = identifiers { record in
            guard let client = record.clientID, client.clientKey == clientID?.clientKey ?? client.clientKey
            else { return false }
            return place.isOpen || record.realm.map { names.contains($0.lowercased()) } ?? false
        }
        visitors = identifiers { $0.realm.map { names.contains($0.lowercased()) } ?? false }
        natives = identifiers { record in
            guard case .account(let account) = record else { return false }
            return !names.isDisjoint(with: account.homeRealms)
        }
    }

    /// Whether the client has one of the account's tokens for this authority.
    func hasToken(_ account: AccountRecord) -> Bool { served.contains(account.homeAccountID.lowercased()) }

    /// Whether the authority's realm is the account's home; no account is at home at an authority without a realm of
    /// its own.
    func isAtHome(_ account: AccountRecord) -> Bool {
        !place.isOpen && natives.contains(account.homeAccountID.lowercased())
    }

    /// Whether the authority is known to accept the account.
    func isKnown(_ account: AccountRecord) -> Bool {
        place.isOpen || isAtHome(account) || visitors.contains(account.homeAccountID.lowercased())
    }
}

extension AuthorityPlace {
    /// Returns the names of the realm: the one in the authority's URL, and the ID under which it issued a token.
    fileprivate func names(in records: [CredentialRecord]) -> Set<String> {
        var names: Set = [realm]
        for record in records where record.wasRequested(in: realm) {
            if let id = record.realm?.lowercased() { names.insert(id) }
        }
        return names
    }
}

extension CredentialRecord {
    /// Whether the authority that issued the token was requested by a URL with this realm.
    fileprivate func wasRequested(in realm: String) -> Bool {
        switch self {
        case .accessToken(let record): record.wasRequested(in: realm)
        case .exchanged(let record): record.wasRequested(in: realm)
        case .account(let record): record.requestedRealm?.lowercased() == realm
        case .idToken, .refreshToken, .appMetadata: false
        }
    }
}
