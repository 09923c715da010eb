import PluginHost
import PluginWire
import Rules
import TokenStore

extension TokenAcquirer {
    /// The lock of the item that keeps a refresh token: of its environment, its client or family, and its account.
    func lock(of token: RefreshTokenRecord, _ place: AuthorityPlace) -> String {
        let owner = token.familyID.map { ["family", $0] } ?? ["client", token.clientID]
        return (["refresh token", place.environment] + owner + [token.homeAccountID])
            .map { $0.lowercased() }.joined(separator: "\n")
    }

    /// Stores what came, and hands out the token.
    ///
    /// `redeemed` is what was redeemed for it, under whose lock this runs, and `known` what was read under that lock; `broker` is the
    /// plugin that got it from another program's sign-in.
    func keep(
        _ result: PluginResult, _ request: TokenRequest, _ authority: AuthorityMatch, redeemed: RefreshTokenRecord?,
        among known: StoredRecords? = nil, broker: String? = nil
    ) async throws(AcquisitionError) -> AcquiredToken {
        var asked = RecordsOfResult(
            result: result, request: request, place: authority.place, redeemed: redeemed, now: clock())
        asked.broker = broker
        let wanted = asked
        let source: AcquiredToken.Source = redeemed != nil ? .renewed : broker != nil ? .broker : .signedIn
        let held = redeemed.map { lock(of: $0, authority.place) }
        let made: RecordsOfResult
        if let needed = asked.refreshToken.map({ lock(of: $0, authority.place) }), needed != held {
            // A client's lock comes before its family's, and nothing after that. What came must not be lost: it is kept
            // even if whoever has the lock doesn't give it back.
            made = try await exclusively(needed, insists: false) { () async throws(AcquisitionError) in
                try self.save(wanted, among: self.load(authority.place))
            }
        } else {
            made = try save(asked, among: loadAgain(known, authority.place))
        }
        guard result.declinedScopes.isEmpty else {
            throw .scopesDeclined(granted: result.scopes, declined: result.declinedScopes)
        }
        return AcquiredToken(made.accessToken, account: made.account, source: source)
    }

    /// What is stored now that the authority has answered, given what was read under the refresh token's lock.
    ///
    /// Whoever adds what goes with a refresh token has its lock. Who needs none, as a sign-out or another program, changes
    /// what was found or takes it away, and that shows where it was found, without a search.
    private func loadAgain(
        _ known: StoredRecords?, _ place: AuthorityPlace
    ) throws(AcquisitionError) -> StoredRecords {
        guard let known else { return try load(place) }
        tell(.usingKeyring)
        if let current = store.current(known) { return current }
        return try load(place)
    }

    /// Stores what came as far as it follows from what is stored by now, and gives what that is.
    ///
    /// Who signed out during a renewal stays signed out. If a sign-in brought another refresh token meanwhile, that stays.
    private func save(
        _ asked: RecordsOfResult, among stored: StoredRecords
    ) throws(AcquisitionError) -> RecordsOfResult {
        var made = asked
        made.stored = stored
        if let redeemed = made.redeemed {
            guard let current = stored.refreshTokens.first(where: redeemed.isSameItem) else { return made }
            made.isSuperseded = current.secret != redeemed.secret
        }
        let current = made
        try storing { () throws(StoreError) in
            try store.save(current.changes)
            let outdated = current.replaced
            if !outdated.isEmpty { _ = try store.deleteUnchanged(outdated) }
        }
        return made
    }
}
