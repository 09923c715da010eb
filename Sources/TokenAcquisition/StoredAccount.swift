import PluginWire
import Rules
import Secrets
import TokenStore

/// An account and its stored records that can answer a request.
public struct StoredAccount: Sendable {
    let account: AccountRecord
    let selection: SilentSelection
    let records: StoredRecords

    /// Returns a token that can be handed out as it is; one that is due for early renewal only if `renewsEarly` is
    /// false.
    func usable(renewsEarly: Bool) -> AcquiredToken? {
        guard let token = selection.freshToken, !renewsEarly || !selection.shouldRenew(token) else { return nil }
        var acquired = AcquiredToken(token, account: account, source: .cache)
        acquired.dueOn = selection.redeemable.isEmpty ? nil : selection.dueOn(token)
        return acquired
    }

    /// The token that is handed out while the authority is down.
    var lastResort: AcquiredToken? {
        selection.lastResort.map { AcquiredToken($0, account: account, source: .cache) }
    }

    /// The token that is handed out although it was refused, if nobody can be asked.
    ///
    /// It counts as due, so that the answer isn't remembered: for the next request, somebody may be there to be asked.
    var refusedToken: AcquiredToken? {
        guard var token = selection.refusedToken else { return nil }
        token.refreshOn = token.cachedAt
        return AcquiredToken(token, account: account, source: .cache)
    }

    /// Returns the request with the claims that a server asked for when it refused a stored token.
    func heeding(_ request: TokenRequest) -> TokenRequest {
        var request = request
        request.claims = request.claims ?? selection.missedClaims
        return request
    }

    /// What a server complained of in what is stored; nil if it didn't.
    func complaint(about request: TokenRequest) -> PluginError? {
        let missed = request.claims == nil ? selection.missedClaims : nil
        return missed.map(PluginError.missing) ?? selection.secondsToRenewal.map(PluginError.refused)
    }

    /// Returns the access tokens that were refused somewhere, according to a refresh token's record.
    func refused(of refreshToken: RefreshTokenRecord, now: Int) -> [AccessTokenRecord] {
        let digests = RejectedTokens.tokens(in: refreshToken, now: now)
        return records.accessTokens.filter { digests.contains($0.secret.reveal().shortDigest) }
    }

    /// Every record of the account.
    var everything: [CredentialRecord] {
        records.all.filter { $0.homeAccountID?.lowercased() == account.homeAccountID.lowercased() }
    }
}
