import Addresses
import JSON
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets

/// Reads the records of authorities from the store, and stores what plugins' results lead to.
struct RecordKeeper: Serviced {
    var services: AcquisitionServices

    func load(_ place: AuthorityKey) throws(AcquisitionError) -> StoredRecords {
        try load(RecordQuery(environments: place.aliases))
    }

    /// What is stored at any authority.
    func loadAll() throws(AcquisitionError) -> StoredRecords { try load(.all) }

    /// What is stored at an authority, with the client's secret if there may be one; takes one search.
    func load(_ authority: AuthorityMatch, for clientID: String) throws(AcquisitionError) -> StoredRecords {
        let place = authority.key
        var query = RecordQuery(environments: place.aliases)
        if services.clientSecrets != nil, authority.plugin.supports.contains(.clientSecrets) {
            query.secretOwner = ClientSecretStore.Owner(clientID, at: place)
        }
        return try load(query)
    }

    private func load(_ query: RecordQuery) throws(AcquisitionError) -> StoredRecords {
        tell(.usingKeyring)
        let records = try storing { () throws(KeyringError) in try store.records(matching: query) }
        if records.hasDamaged { tell(.skippingDamaged) }
        return records
    }

    func save(_ records: [CredentialRecord]) throws(AcquisitionError) {
        try storing { () throws(KeyringError) in try store.save(records) }
    }

    /// Deletes the items that still hold these records' tokens; replacements stay.
    func deleteUnchanged(_ records: [CredentialRecord]) throws(AcquisitionError) {
        guard !records.isEmpty else { return }
        try storing { () throws(KeyringError) in _ = try store.deleteUnchanged(records) }
    }

    /// Returns the lock of the item that stores a refresh token: by environment, client or family, and account.
    func lock(of token: RefreshTokenRecord, _ place: AuthorityKey) -> String {
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
            result: result, request: request, place: authority.key, redeemed: redeemed, now: clock())
        asked.broker = broker
        asked.plugin = authority.plugin.origin
        asked.knowsScopes = authority.scopesAreOfSignIn
        let wanted = asked
        let source: AcquiredToken.Source = redeemed != nil ? .renewed : broker != nil ? .broker : .signedIn
        let held = redeemed.map { lock(of: $0, authority.key) }
        let made: RecordsOfResult
        if let needed = asked.refreshToken.map({ lock(of: $0, authority.key) }), needed != held {
            // A client's lock comes before its family's, and nothing comes after that. The result must not be lost: it
            // is stored even if the holder doesn't release the lock.
            made = try await locks.exclusively(needed, for: .renewal, isRequired: false) {
                () async throws(AcquisitionError) in
                try self.save(wanted, among: self.load(authority.key))
            }
        } else {
            made = try save(asked, among: loadAgain(known, authority.key))
        }
        // A sign-in also asks for what other rules need.
        let declined =
            authority.scopesAreOfSignIn ? result.declinedScopes.filter(request.scopes.contains) : result.declinedScopes
        guard declined.isEmpty else {
            let granted = result.scopes.filter { !$0.isOpenIDScope }
            throw .scopesDeclined(granted: granted, declined: declined)
        }
        guard let token = made.wanted else { throw .noIDToken(authority.authority.host) }
        return AcquiredToken(token, account: made.account, source: source)
    }

    /// Returns the token of a result that can't be stored; nil if it lacks scopes.
    func unstored(
        _ result: PluginResult, _ request: TokenRequest, _ authority: AuthorityMatch, redeemed: RefreshTokenRecord,
        among known: StoredRecords
    ) -> AcquiredToken? {
        guard result.declinedScopes.isEmpty else { return nil }
        var made = RecordsOfResult(
            result: result, request: request, place: authority.key, redeemed: redeemed, now: clock())
        made.stored = known
        return made.wanted.map { AcquiredToken($0, account: made.account, source: .renewed) }
    }

    /// Returns what is stored now that the authority has answered, given the records read under the refresh token's
    /// lock.
    ///
    /// A process that adds records to those of a refresh token holds its lock. Those that need no lock, such as a
    /// sign-out or another program, only change or remove the records that were found, which rereading these shows
    /// without a search.
    private func loadAgain(
        _ known: StoredRecords?, _ place: AuthorityKey
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

/// The records that a plugin's result leads to.
struct RecordsOfResult {
    let result: PluginResult
    /// The request that the plugin answered.
    let request: TokenRequest
    /// The place that the records are stored under.
    let place: AuthorityKey
    /// The refresh token that was redeemed, if any.
    let redeemed: RefreshTokenRecord?
    /// The time of the result, in seconds since 1970.
    let now: Int
    /// The plugin that got it from a broker's sign-in; nil if it is lanyard's own.
    var broker: String?
    /// The origin of the authority's plugin.
    var plugin: String?
    /// Whether a refresh token's record says which scopes the sign-in was for.
    var knowsScopes = false
    /// What is stored.
    var stored = StoredRecords()
    /// Whether the redeemed refresh token has been replaced since it was read.
    var isSuperseded = false

    /// The home account ID; after a renewal, that of the redeemed refresh token; nil for an application's token.
    private var homeAccountID: String? { redeemed?.homeAccountID ?? result.account?.homeAccountID }

    var accessToken: AccessTokenRecord {
        var token = AccessTokenRecord(
            homeAccountID: homeAccountID, environment: place.environment, clientID: request.clientID,
            realm: result.realm, target: target, secret: result.accessToken,
            cachedAt: now,
            expiresOn: result.expiresIn.map { now + $0 })
        token.tokenType = result.tokenType
        token.extendedExpiresOn = result.extendedExpiresIn.map { now + $0 }
        token.refreshOn = result.refreshIn.map { now + $0 }
        token.requestedRealm = place.realm
        token.basicUsername = result.basicUsername
        token.resourceIndicators = request.resourceKey
        token.broker = broker
        token.plugin = plugin
        token.other[Rejection.renewedMember] = renewedMark
        return token.requested(besides: stored.accessTokens)
    }

    /// What a token's record says of its renewal; nil if it comes from a sign-in.
    private var renewedMark: JSONValue? {
        redeemed == nil ? nil : .string(request.claims == nil ? "1" : Rejection.renewedWithClaims)
    }

    /// The token that the request is for; nil if the authority returned no ID token.
    var wanted: AccessTokenRecord? {
        request.token == .access ? accessToken : idToken.flatMap { AccessTokenRecord(handingOut: $0, for: request) }
    }

    /// The account; nil if nobody signed in.
    ///
    /// Claims that the authority omits at a renewal (OpenID Connect Core 1.0, 12.2) keep their stored values.
    var account: AccountRecord? {
        guard let from = result.account, let homeAccountID else { return nil }
        let known = stored.accounts.filter { $0.homeAccountID.lowercased() == homeAccountID.lowercased() }
        let here = known.first { $0.realm.lowercased() == result.realm.lowercased() }
        let names = ([here].compactMap(\.self) + known).first { !$0.username.isEmpty }
        var account = AccountRecord(
            homeAccountID: homeAccountID, environment: place.environment, realm: result.realm,
            username: from.username.isEmpty ? names?.username ?? "" : from.username)
        account.localAccountID = from.localAccountID ?? here?.localAccountID
        account.authorityType = result.idToken == nil ? here?.authorityType ?? from.authorityType : from.authorityType
        account.name = from.name ?? names?.name
        account.clientInfo = from.clientInfo ?? names?.clientInfo
        account.other = here?.other ?? [:]
        // An account that signs in to lanyard has a sign-in of its own from then on.
        account.broker = broker ?? (redeemed == nil ? nil : here?.broker)
        account.plugin = plugin
        account.requestedRealm = place.isOpen ? here?.requestedRealm : place.realm
        let realms = here?.homeRealms ?? []
        account.homeRealms = result.idToken == nil && !realms.isEmpty ? realms : from.homeRealms.map { $0.lowercased() }
        account.kind = from.kind ?? names?.kind
        account.policy = place.policy
        account.authority = request.authority
        return account
    }

    /// Returns the records to write, in this order; each write takes the keyring some milliseconds.
    ///
    /// The refresh token is first: if the process is killed in between, a rotated one must not be lost. The account is
    /// last: a process that finds it also finds its token, and doesn't start a renewal during the sign-in. An ID token
    /// is only read for its claims about the account. Unless claims were requested, only its times are new after a renewal
    /// as long as the account stays the same. Because an expired ID token is a good hint, too (OpenID Connect
    /// RP-Initiated Logout 1.0, 2), the stored one stays.
    var changes: [CredentialRecord] {
        let known = stored.all
        let account = account.map(CredentialRecord.account)
        let isKnown =
            redeemed != nil && request.claims == nil && request.token == .access && account.map(known.contains) == true
        let hint = idToken.map(CredentialRecord.idToken)
        let isHintKept = isKnown && known.contains { hint?.isSameItem(as: $0) == true }
        return [
            refreshToken.map(CredentialRecord.refreshToken), family.map(CredentialRecord.appMetadata),
            isHintKept ? nil : hint, .accessToken(accessToken), account,
        ].compactMap(\.self).filter { !known.contains($0) }
    }

    /// Returns the stored records that this result replaces.
    ///
    /// These are the client's access tokens of the same account and realm that share a scope of the resource. OpenID
    /// Connect's scopes don't count, because every resource has them. A client's own refresh token that was redeemed for
    /// its family's is also replaced.
    var replaced: [CredentialRecord] {
        let new = accessToken
        let query = RecordQuery(
            kinds: [.accessToken], homeAccountID: homeAccountID, environments: [place.environment],
            clientID: new.clientID, includesShared: false, realm: new.realm)
        let others = stored.accessTokens.filter { old in
            query.matches(.accessToken(old))
                && !CredentialRecord.accessToken(old).isSameItem(as: .accessToken(new))
                && old.resourceIndicators == new.resourceIndicators
                && !place.resourceScopes(of: old).isDisjoint(with: place.resourceScopes(of: new))
        }
        let spent = redeemed.flatMap { redeemed in
            refreshToken.flatMap { $0.isSameItem(as: redeemed) ? nil : CredentialRecord.refreshToken(redeemed) }
        }
        return others.map(CredentialRecord.accessToken) + [spent].compactMap(\.self) + exchangedBefore
    }

    /// What the tokens that a sign-in replaces were exchanged for: where an account is a place and no person, somebody else
    /// may have signed in.
    private var exchangedBefore: [CredentialRecord] {
        guard redeemed == nil, broker == nil else { return [] }
        let query = RecordQuery(
            kinds: [.exchanged], homeAccountID: homeAccountID, environments: [place.environment],
            clientID: request.clientID, includesShared: false)
        return stored.exchanged.map(CredentialRecord.exchanged).filter(query.matches)
    }

    /// The refresh token to store; nil if the stored one stays as it is.
    ///
    /// A rotated token replaces the redeemed one, whichever member of the family that belongs to.
    var refreshToken: RefreshTokenRecord? {
        guard !isSuperseded else { return nil }
        guard let secret = result.refreshToken else { return redeemedAfterRefusal }
        guard
            var token = redeemed
                ?? homeAccountID.map({
                    RefreshTokenRecord(
                        homeAccountID: $0, environment: place.environment, clientID: request.clientID, secret: secret)
                })
        else { return nil }
        token.secret = secret
        if redeemed == nil, knowsScopes { token.target = target }
        token.plugin = plugin
        token.familyID = redeemed?.familyID ?? result.familyID
        token.lastModificationTime = now
        if let replaced = stored.refreshTokens.first(where: token.isSameItem) {
            token.carryRefusals(from: replaced, now: now)
        }
        token.settleRefusals(of: request, by: answer, now: now)
        return token
    }

    /// The token that the request's place is shown.
    private var answer: Secret { request.token == .id ? result.idToken ?? result.accessToken : result.accessToken }

    /// The redeemed token without the refusals that the result resolved; nil if that changes nothing.
    private var redeemedAfterRefusal: RefreshTokenRecord? {
        guard var settled = redeemed else { return nil }
        settled.settleRefusals(of: request, by: answer, now: now)
        return settled == redeemed ? nil : settled
    }

    private var family: AppMetadataRecord? {
        result.familyID.map {
            AppMetadataRecord(clientID: request.clientID, environment: place.environment, familyID: $0)
        }
    }

    /// The scopes granted; an answer that names none grants all that was asked for (RFC 6749, 5.1).
    private var target: String { (result.scopes.isEmpty ? request.scopes : result.scopes).joined(separator: " ") }

    private var idToken: IDTokenRecord? {
        guard let homeAccountID, let secret = result.idToken else { return nil }
        var token = IDTokenRecord(
            homeAccountID: homeAccountID, environment: place.environment, clientID: request.clientID,
            realm: result.realm, secret: secret)
        token.plugin = plugin
        let before = stored.idTokens.first { CredentialRecord.idToken($0).isSameItem(as: .idToken(token)) }
        let realms = before?.requestedRealm
        let isKnown = realms?.realmNames.contains { $0.isSame(as: place.realm) } ?? false
        token.requestedRealm = isKnown ? realms : [place.realm, realms].compactMap(\.self).joined(separator: " ")
        // Claims are those of a sign-in, and a renewal brings none.
        token.userInfo = redeemed == nil ? result.userInfo : result.userInfo ?? before?.userInfo
        token.other[Rejection.renewedMember] = renewedMark
        return token
    }
}

extension AuthorityKey {
    /// The scopes that belong to the resource itself.
    fileprivate func resourceScopes(of token: AccessTokenRecord) -> Set<String> {
        scopeKeys(token.scopes).filter { !$0.isOpenIDScope }
    }
}
