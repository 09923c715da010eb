import AuthorityPlugin
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

    var accessToken: AccessTokenRecord {
        var token = AccessTokenRecord(
            homeAccountID: result.account.homeAccountID, environment: place.environment, clientID: request.clientID,
            realm: result.account.realm, target: target, secret: result.accessToken, cachedAt: now,
            expiresOn: now + result.expiresIn)
        token.tokenType = result.tokenType
        token.extendedExpiresOn = result.extendedExpiresIn.map { now + $0 }
        token.refreshOn = result.refreshIn.map { now + $0 }
        token.requestedRealm = place.realm
        return token
    }

    var account: AccountRecord {
        let from = result.account
        var account = AccountRecord(
            homeAccountID: from.homeAccountID, environment: place.environment, realm: from.realm,
            username: from.username)
        account.localAccountID = from.localAccountID
        account.authorityType = from.authorityType
        account.name = from.name
        account.clientInfo = from.clientInfo
        return account
    }

    var others: [CredentialRecord] {
        [
            refreshToken.map(CredentialRecord.refreshToken), family.map(CredentialRecord.appMetadata),
            idToken.map(CredentialRecord.idToken),
        ].compactMap(\.self)
    }

    /// The refresh token that is to be kept; nil where what is stored stays as it is.
    ///
    /// A rotated one takes the place of the one that was redeemed, whosever that is in the family.
    private var refreshToken: RefreshTokenRecord? {
        guard let secret = result.refreshToken else { return redeemedAfterClaims }
        var token =
            redeemed
            ?? RefreshTokenRecord(
                homeAccountID: result.account.homeAccountID, environment: place.environment,
                clientID: request.clientID, secret: secret)
        token.secret = secret
        token.familyID = result.familyID ?? redeemed?.familyID
        token.lastModificationTime = now
        Rejection.forget(in: &token, for: request)
        return token
    }

    /// The redeemed token without what it missed for the request; nil where it missed nothing.
    private var redeemedAfterClaims: RefreshTokenRecord? {
        guard var redeemed, Rejection.missedClaims(redeemed, for: request) != nil else { return nil }
        Rejection.forget(in: &redeemed, for: request)
        return redeemed
    }

    private var family: AppMetadataRecord? {
        result.familyID.map {
            AppMetadataRecord(clientID: request.clientID, environment: place.environment, familyID: $0)
        }
    }

    private var idToken: IDTokenRecord? {
        result.idToken.map {
            IDTokenRecord(
                homeAccountID: result.account.homeAccountID, environment: place.environment,
                clientID: request.clientID, realm: result.account.realm, secret: $0)
        }
    }

    /// The scopes granted and, since an authority need not repeat it, `.default` where it was asked for and not declined.
    private var target: String {
        let declined = Set(result.declinedScopes.map { $0.lowercased() })
        let asked = request.scopes.filter { $0.hasSuffix("/.default") && !declined.contains($0.lowercased()) }
        var seen: Set<String> = []
        return (result.scopes + asked).filter { seen.insert($0.lowercased()).inserted }.joined(separator: " ")
    }
}
