import PluginHost
import PluginWire
import Rules
import TokenStore

/// Reads the records of authorities from the store, and stores what plugins' results lead to.
struct RecordKeeper: Sendable {
    var store: any RecordStore
    let clientSecrets: ClientSecretStore?
    var locks: ProcessLocks
    let clock: @Sendable () -> Int

    var tell: @Sendable (AcquisitionProgress) -> Void { locks.tell }

    func load(_ place: AuthorityPlace) throws(AcquisitionError) -> StoredRecords {
        try load(RecordQuery(environments: place.aliases))
    }

    /// What is stored at any authority.
    func loadAll() throws(AcquisitionError) -> StoredRecords { try load(.all) }

    /// What is stored at an authority, with the client's secret if there may be one; takes one search.
    func load(_ authority: AuthorityMatch, for clientID: String) throws(AcquisitionError) -> StoredRecords {
        let place = authority.place
        var query = RecordQuery(environments: place.aliases)
        if clientSecrets != nil, authority.plugin.takesClientSecrets {
            query.secretOwner = ClientSecretStore.Owner(clientID, at: place)
        }
        return try load(query)
    }

    private func load(_ query: RecordQuery) throws(AcquisitionError) -> StoredRecords {
        tell(.usingKeyring)
        let records = try storing { () throws(StoreError) in try store.records(matching: query) }
        if records.hasDamaged { tell(.skippingDamaged) }
        return records
    }

    func save(_ records: [CredentialRecord]) throws(AcquisitionError) {
        try storing { () throws(StoreError) in try store.save(records) }
    }

    /// Deletes the items that still hold these records' tokens; replacements stay.
    func deleteUnchanged(_ records: [CredentialRecord]) throws(AcquisitionError) {
        guard !records.isEmpty else { return }
        try storing { () throws(StoreError) in _ = try store.deleteUnchanged(records) }
    }

    /// Returns the lock of the item that stores a refresh token: by environment, client or family, and account.
    func lock(of token: RefreshTokenRecord, _ place: AuthorityPlace) -> String {
        lock(of: token, in: place.environment)
    }

    /// The same, for the environment's first host.
    func lock(of token: RefreshTokenRecord, in environment: String) -> String {
        let owner = token.familyID.map { ["family", $0] } ?? ["client", token.clientID]
        return (["refresh token", environment] + owner + [token.homeAccountID])
            .map { $0.lowercased() }.joined(separator: "\n")
    }

    /// Stores a result, and returns its token.
    ///
    /// `redeemed` is the redeemed refresh token, whose lock is held here, and `known` are the records read under that
    /// lock. `broker` is the plugin that got the result from a broker's sign-in.
    func keep(
        _ result: PluginResult, _ request: TokenRequest, _ authority: AuthorityMatch, redeemed: RefreshTokenRecord?,
        among known: StoredRecords? = nil, broker: String? = nil
    ) async throws(AcquisitionError) -> AcquiredToken {
        var asked = RecordsOfResult(
            result: result, request: request, place: authority.place, redeemed: redeemed, now: clock())
        asked.broker = broker
        asked.plugin = authority.plugin.origin
        let wanted = asked
        let source: AcquiredToken.Source = redeemed != nil ? .renewed : broker != nil ? .broker : .signedIn
        let held = redeemed.map { lock(of: $0, authority.place) }
        let made: RecordsOfResult
        if let needed = asked.refreshToken.map({ lock(of: $0, authority.place) }), needed != held {
            // A client's lock comes before its family's, and nothing comes after that. The result must not be lost: it
            // is stored even if the holder doesn't release the lock.
            made = try await locks.exclusively(needed, for: .renewal, isRequired: false) {
                () async throws(AcquisitionError) in
                try self.save(wanted, among: self.load(authority.place))
            }
        } else {
            made = try save(asked, among: loadAgain(known, authority.place))
        }
        guard result.declinedScopes.isEmpty else {
            let granted = result.scopes.filter { !$0.isOpenIDScope }
            throw .scopesDeclined(granted: granted, declined: result.declinedScopes)
        }
        return AcquiredToken(made.accessToken, account: made.account, source: source)
    }

    /// Returns the token of a result that can't be stored; nil if it lacks scopes.
    func unstored(
        _ result: PluginResult, _ request: TokenRequest, _ authority: AuthorityMatch, redeemed: RefreshTokenRecord,
        among known: StoredRecords
    ) -> AcquiredToken? {
        guard result.declinedScopes.isEmpty else { return nil }
        var made = RecordsOfResult(
            result: result, request: request, place: authority.place, redeemed: redeemed, now: clock())
        made.stored = known
        return AcquiredToken(made.accessToken, account: made.account, source: .renewed)
    }

    /// Returns what is stored now that the authority has answered, given the records read under the refresh token's
    /// lock.
    ///
    /// A process that adds records to those of a refresh token holds its lock. Those that need no lock, such as a
    /// sign-out or another program, only change or remove the records that were found, which rereading these shows
    /// without a search.
    private func loadAgain(
        _ known: StoredRecords?, _ place: AuthorityPlace
    ) throws(AcquisitionError) -> StoredRecords {
        guard let known else { return try load(place) }
        tell(.usingKeyring)
        if let current = store.current(known) { return current }
        return try load(place)
    }

    /// Stores the parts of a result that are still valid given the current records, and returns them.
    ///
    /// An account that signed out during a renewal stays signed out. If a sign-in brought another refresh token
    /// meanwhile, that one stays. A refresh token that is gone although its account is there was deleted by a process
    /// that redeemed it, too, and was told that it is invalid: the one that came in its place is stored.
    private func save(
        _ asked: RecordsOfResult, among stored: StoredRecords
    ) throws(AcquisitionError) -> RecordsOfResult {
        var made = asked
        made.stored = stored
        if let redeemed = made.redeemed {
            if let current = stored.refreshTokens.first(where: redeemed.isSameItem) {
                made.isSuperseded = current.secret != redeemed.secret
            } else {
                guard made.result.refreshToken != nil, stored.accounts.contains(where: redeemed.isOf) else {
                    return made
                }
            }
        }
        try save(made.changes)
        try deleteUnchanged(made.replaced)
        return made
    }
}

extension RefreshTokenRecord {
    /// Whether it belongs to this account.
    fileprivate func isOf(_ account: AccountRecord) -> Bool {
        account.homeAccountID.lowercased() == homeAccountID.lowercased()
            && account.environment.lowercased() == environment.lowercased()
    }
}
