import AuthorityPlugin
import Rules
import TokenStore

/// What a plugin's result comes to in the store.
struct RecordsOfResult {
    let accessToken: AccessTokenRecord
    let account: AccountRecord
    let others: [CredentialRecord]

    /// Makes the records of a result that came now (seconds since 1970) for a request, kept at a place.
    ///
    /// A rotated refresh token takes the place of the one that was redeemed, whosever that is in the family.
    init(_ result: PluginResult, request: TokenRequest, place: AuthorityPlace, redeemed: RefreshTokenRecord?, now: Int)
    {
        let from = result.account
        var token = AccessTokenRecord(
            homeAccountID: from.homeAccountID, environment: place.environment, clientID: request.clientID,
            realm: from.realm, target: Self.target(result, request), secret: result.accessToken, cachedAt: now,
            expiresOn: now + result.expiresIn)
        token.tokenType = result.tokenType
        token.extendedExpiresOn = result.extendedExpiresIn.map { now + $0 }
        token.refreshOn = result.refreshIn.map { now + $0 }
        token.requestedRealm = place.realm
        accessToken = token

        var account = AccountRecord(
            homeAccountID: from.homeAccountID, environment: place.environment, realm: from.realm,
            username: from.username)
        account.localAccountID = from.localAccountID
        account.authorityType = from.authorityType
        account.name = from.name
        account.clientInfo = from.clientInfo
        self.account = account

        var others: [CredentialRecord] = []
        if let secret = result.refreshToken {
            var refresh =
                redeemed
                ?? RefreshTokenRecord(
                    homeAccountID: from.homeAccountID, environment: place.environment, clientID: request.clientID,
                    secret: secret)
            refresh.secret = secret
            refresh.familyID = result.familyID ?? redeemed?.familyID
            refresh.lastModificationTime = now
            Rejection.forget(in: &refresh, for: request)
            others.append(.refreshToken(refresh))
        } else if var redeemed, Rejection.missedClaims(redeemed, for: request) != nil {
            Rejection.forget(in: &redeemed, for: request)
            others.append(.refreshToken(redeemed))
        }
        if let family = result.familyID {
            others.append(
                .appMetadata(
                    AppMetadataRecord(
                        clientID: request.clientID, environment: place.environment, familyID: family)))
        }
        if let secret = result.idToken {
            others.append(
                .idToken(
                    IDTokenRecord(
                        homeAccountID: from.homeAccountID, environment: place.environment, clientID: request.clientID,
                        realm: from.realm, secret: secret)))
        }
        self.others = others
    }

    /// The scopes granted and, since an authority need not repeat it, `.default` where it was asked for and not declined.
    private static func target(_ result: PluginResult, _ request: TokenRequest) -> String {
        let declined = Set(result.declinedScopes.map { $0.lowercased() })
        let asked = request.scopes.filter { $0.hasSuffix("/.default") && !declined.contains($0.lowercased()) }
        var seen: Set<String> = []
        return (result.scopes + asked).filter { seen.insert($0.lowercased()).inserted }.joined(separator: " ")
    }
}
