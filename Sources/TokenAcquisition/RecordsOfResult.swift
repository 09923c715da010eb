import JSON
import PluginWire
import Rules
import TokenStore

/// The records that a plugin's result leads to.
struct RecordsOfResult {
    let result: PluginResult
    /// The request that the plugin answered.
    let request: TokenRequest
    /// The place that the records are stored under.
    let place: AuthorityPlace
    /// The refresh token that was redeemed, if any.
    let redeemed: RefreshTokenRecord?
    /// The time of the result, in seconds since 1970.
    let now: Int
    /// The plugin that got it from a broker's sign-in; nil if it is lanyard's own.
    var broker: String?
    /// The origin of the authority's plugin.
    var plugin: String?
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
        if redeemed != nil {
            token.other[Rejection.renewedMember] = .string(request.claims == nil ? "1" : Rejection.renewedWithClaims)
        }
        return token.requested(besides: stored.accessTokens)
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
        let isKnown = redeemed != nil && request.claims == nil && account.map(known.contains) == true
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
        return others.map(CredentialRecord.accessToken) + [spent].compactMap(\.self)
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
        token.plugin = plugin
        token.familyID = redeemed?.familyID ?? result.familyID
        token.lastModificationTime = now
        if let replaced = stored.refreshTokens.first(where: token.isSameItem) {
            RejectedTokens.carry(from: replaced, to: &token, now: now)
        }
        RejectedTokens.settle(in: &token, for: request, by: result.accessToken, now: now)
        return token
    }

    /// The redeemed token without the refusals that the result resolved; nil if that changes nothing.
    private var redeemedAfterRefusal: RefreshTokenRecord? {
        guard var settled = redeemed else { return nil }
        RejectedTokens.settle(in: &settled, for: request, by: result.accessToken, now: now)
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
        return token
    }
}

extension AuthorityPlace {
    /// The scopes that belong to the resource itself.
    fileprivate func resourceScopes(of token: AccessTokenRecord) -> Set<String> {
        scopeKeys(token.scopes).filter { !$0.isOpenIDScope }
    }
}
