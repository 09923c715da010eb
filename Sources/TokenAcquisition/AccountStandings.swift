import TokenStore

/// How accounts stand to one authority, as far as what is stored tells.
///
/// An authority of one realm accepts those who are at home there and its guests. Who has been there is known by a token or a
/// record of that realm; a realm that the authority's URL names by a domain is known by its id once a token was issued.
struct AccountStandings: Sendable {
    private let place: AuthorityPlace
    /// The accounts that the client has a token of for this authority, by identifier.
    private let served: Set<String>
    /// The accounts that something of this realm is stored of, by identifier.
    private let visitors: Set<String>
    /// The accounts that come from this realm, by identifier.
    private let natives: Set<String>

    init(_ records: StoredRecords, at place: AuthorityPlace, clientID: String?) {
        let here = records.all.filter { place.aliases.contains($0.environment.lowercased()) }
        // What the authority's realm is called: as in its URL, and by its id.
        let names = place.names(in: here)
        func identifiers(_ isMeant: (CredentialRecord) -> Bool) -> Set<String> {
            Set(here.filter(isMeant).compactMap { $0.homeAccountID?.lowercased() })
        }
        self.place = place
        served = identifiers { record in
            guard let client = record.clientID, client.lowercased() == clientID?.lowercased() ?? client.lowercased()
            else { return false }
            return place.isOpen || record.realm.map { names.contains($0.lowercased()) } ?? false
        }
        visitors = identifiers { $0.realm.map { names.contains($0.lowercased()) } ?? false }
        natives = identifiers { record in
            guard case .account(let account) = record else { return false }
            return !names.isDisjoint(with: account.homeRealms)
        }
    }

    /// Whether the client has a token of it for this authority.
    func hasToken(_ account: AccountRecord) -> Bool { served.contains(account.homeAccountID.lowercased()) }

    /// Whether the account comes from the authority's realm; an authority that is no realm's is nobody's home.
    func isAtHome(_ account: AccountRecord) -> Bool {
        !place.isOpen && natives.contains(account.homeAccountID.lowercased())
    }

    /// Whether the authority is known to accept it.
    func isKnown(_ account: AccountRecord) -> Bool {
        place.isOpen || isAtHome(account) || visitors.contains(account.homeAccountID.lowercased())
    }
}

extension AuthorityPlace {
    /// What the realm is called: as the authority's URL has it, and by the id under which it issued a token.
    fileprivate func names(in records: [CredentialRecord]) -> Set<String> {
        var names: Set = [realm]
        for record in records where record.wasRequested(in: realm) {
            if let id = record.realm?.lowercased() { names.insert(id) }
        }
        return names
    }
}

extension CredentialRecord {
    /// Whether the URL of the authority that issued the token had this realm.
    fileprivate func wasRequested(in realm: String) -> Bool {
        switch self {
        case .accessToken(let record): record.wasRequested(in: realm)
        case .exchanged(let record): record.wasRequested(in: realm)
        case .account(let record): record.requestedRealm?.lowercased() == realm
        case .idToken, .refreshToken, .appMetadata: false
        }
    }
}
