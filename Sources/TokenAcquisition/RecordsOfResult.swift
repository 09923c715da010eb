import JSON
import PluginWire
import Rules
import TokenStore

/// What a plugin's result comes to in the store.
struct RecordsOfResult {
    let result: PluginResult
    /// What it was asked for.
    let request: TokenRequest
    /// Where its records are kept.
    let place: AuthorityPlace
    /// The refresh token that was redeemed for it.
    let redeemed: RefreshTokenRecord?
    /// When it came, in seconds since 1970.
    let now: Int
    /// The plugin that got it from another program's sign-in; nil if it is lanyard's own.
    var broker: String?
    /// What is stored.
    var stored = StoredRecords()
    /// Whether the redeemed refresh token has been replaced by another since it was read.
    var isSuperseded = false

    /// Whose it is: of a renewal, the account whose refresh token was redeemed.
    ///
    /// Empty for an application's, as MSAL keeps it: client and realm say whose it is.
    private var homeAccountID: String { redeemed?.homeAccountID ?? result.account?.homeAccountID ?? "" }

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
        if redeemed != nil {
            token.other[Rejection.renewedMember] = .string(request.claims == nil ? "1" : Rejection.renewedWithClaims)
        }
        return token.requested(besides: stored.accessTokens)
    }

    /// The account; what the authority doesn't tell at a renewal (OpenID Connect Core 1.0, 12.2) stays as it is stored.
    ///
    /// nil for what nobody signed in for.
    var account: AccountRecord? {
        guard let from = result.account else { return nil }
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
        // Who signs in to lanyard has a sign-in of its own from then on.
        account.broker = broker ?? (redeemed == nil ? nil : here?.broker)
        account.requestedRealm = place.isOpen ? here?.requestedRealm : place.realm
        let realms = here?.homeRealms ?? []
        account.homeRealms = result.idToken == nil && !realms.isEmpty ? realms : from.homeRealms.map { $0.lowercased() }
        account.kind = from.kind ?? names?.kind
        account.policy = place.policy
        account.authority = request.authority
        return account
    }

    /// What has to be written, in this order: each write takes the keyring some milliseconds.
    ///
    /// The refresh token is first: a process killed meanwhile must not lose a rotated one. The account is last: who sees it finds
    /// its token too, and does not renew beside the one who signs in. An ID token is read for what it says of the account. Of
    /// a renewal's, only the times are new while the account stays the same, and an expired one is a good hint, too (OpenID Connect
    /// RP-Initiated Logout 1.0, 2), so that the stored one stays.
    var changes: [CredentialRecord] {
        let known = stored.all
        let account = account.map(CredentialRecord.account)
        let isKnown = redeemed != nil && account.map(known.contains) == true
        let hint = idToken.map(CredentialRecord.idToken)
        let isHintKept = isKnown && known.contains { hint?.isSameItem(as: $0) == true }
        return [
            refreshToken.map(CredentialRecord.refreshToken), family.map(CredentialRecord.appMetadata),
            isHintKept ? nil : hint, .accessToken(accessToken), account,
        ].compactMap(\.self).filter { !known.contains($0) }
    }

    /// What is stored that this stands in for.
    ///
    /// That is the client's access tokens of the same account and realm that share a scope of the resource: those of
    /// OpenID Connect are every resource's. Also a client's own refresh token that was redeemed for its family's.
    var replaced: [CredentialRecord] {
        let new = accessToken
        let query = RecordQuery(
            kinds: [.accessToken], homeAccountID: homeAccountID, environments: [place.environment],
            clientID: new.clientID, includesShared: false, realm: new.realm)
        let others = stored.accessTokens.filter { old in
            query.matches(.accessToken(old)) && old.scopeSet != new.scopeSet
                && old.resourceIndicators == new.resourceIndicators
                && !old.resourceScopes.isDisjoint(with: new.resourceScopes)
        }
        let spent = redeemed.flatMap { redeemed in
            refreshToken.flatMap { $0.isSameItem(as: redeemed) ? nil : CredentialRecord.refreshToken(redeemed) }
        }
        return others.map(CredentialRecord.accessToken) + [spent].compactMap(\.self)
    }

    /// The refresh token that is to be kept; nil if what is stored stays as it is.
    ///
    /// A rotated one takes the place of the one that was redeemed, whosever that is in the family.
    var refreshToken: RefreshTokenRecord? {
        guard !isSuperseded else { return nil }
        guard let secret = result.refreshToken else { return redeemedAfterRefusal }
        var token =
            redeemed
            ?? RefreshTokenRecord(
                homeAccountID: homeAccountID, environment: place.environment, clientID: request.clientID,
                secret: secret)
        token.secret = secret
        token.familyID = redeemed?.familyID ?? result.familyID
        token.lastModificationTime = now
        if let replaced = stored.refreshTokens.first(where: token.isSameItem) {
            RejectedTokens.carry(from: replaced, to: &token, now: now)
        }
        RejectedTokens.settle(in: &token, for: request, by: result.accessToken, now: now)
        return token
    }

    /// The redeemed token once what was refused is settled; nil if that changes nothing.
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
        result.idToken.map {
            IDTokenRecord(
                homeAccountID: homeAccountID, environment: place.environment, clientID: request.clientID,
                realm: result.realm, secret: $0)
        }
    }
}

extension AccessTokenRecord {
    fileprivate var scopeSet: Set<String> { Set(scopes.map { $0.lowercased() }) }

    /// Those that are the resource's own.
    fileprivate var resourceScopes: Set<String> { scopeSet.filter { !$0.isOpenIDScope } }
}
