import AuthorityPlugin
import Rules
import TokenStore

extension TokenAcquirer {
    /// What came of the refresh tokens.
    enum Renewal {
        case renewed(AcquiredToken)
        case needsPerson(PluginError?)
    }

    /// Redeems the account's refresh tokens, best first, unless that lately failed.
    ///
    /// - Throws: where neither a refresh token nor the person can help.
    func renew(
        _ request: TokenRequest, _ authority: Authority, _ found: SilentAccount, since asked: Int
    ) async throws(AcquisitionError) -> Renewal {
        guard request.prompt == nil || request.prompt == "none" else { return .needsPerson(nil) }
        let key = Setbacks.Key(request, authority.place, account: found.account)
        var last = setbacks.standing(key, since: asked)
        if last == nil {
            let (token, error) = try await redeemFirst(of: found, request, authority)
            if let token {
                setbacks.forget(key)
                return .renewed(token)
            }
            last = error.map { setbacks.noted($0, key) }
        }
        // A token that was only due early stays usable whatever became of its renewal.
        if let token = found.usable(renewsEarly: false) { return .renewed(token) }
        guard let last, !last.code.wantsPerson else { return .needsPerson(last) }
        // A family that this client turned out not to be in: it has yet to sign in itself.
        if last.isClientMismatch { return .needsPerson(nil) }
        if last.code.isOutage, let token = found.lastResort { return .renewed(token) }
        throw .plugin(last, name: authority.match.plugin.name)
    }

    /// The token of the first refresh token that is good for one, else why the last one tried wasn't.
    private func redeemFirst(
        of found: SilentAccount, _ request: TokenRequest, _ authority: Authority
    ) async throws(AcquisitionError) -> (token: AcquiredToken?, error: PluginError?) {
        var last: PluginError?
        for refreshToken in found.selection.refreshTokens where !Rejection.isMarked(refreshToken, for: request) {
            switch await redeem(refreshToken, request, authority) {
            case .success(let result):
                let token = try keep(result, request, authority, redeemed: refreshToken, known: found.records)
                return (token, nil)
            case .failure(let error):
                last = error
                guard try keepGoing(after: error, refreshToken, found, request, authority) else { return (nil, error) }
            }
        }
        return (nil, last)
    }

    private func redeem(
        _ refreshToken: RefreshTokenRecord, _ request: TokenRequest, _ authority: Authority
    ) async -> Result<PluginResult, PluginError> {
        var ask = PluginRequest(.renew)
        fill(&ask, from: request, authority)
        tell(.renewing(request.authority))
        ask.account = refreshToken.homeAccountID
        ask.refreshToken = refreshToken.secret
        do {
            return .success(try await host.run(ask, on: authority.match, person: NobodyThere()))
        } catch {
            return .failure(error)
        }
    }

    /// Whether the next refresh token may be tried after this one failed; a dead one is removed (MSAL's retention rule).
    private func keepGoing(
        after error: PluginError, _ refreshToken: RefreshTokenRecord, _ found: SilentAccount, _ request: TokenRequest,
        _ authority: Authority
    ) throws(AcquisitionError) -> Bool {
        if error.isClientMismatch {
            let stranger = AppMetadataRecord(
                clientID: request.clientID, environment: authority.place.environment, familyID: "")
            try storing { () throws(StoreError) in try store.save([.appMetadata(stranger)]) }
            return true
        }
        guard error.code == .interactionRequired else { return false }
        switch error.suberror {
        case "bad_token":
            try storing { () throws(StoreError) in _ = try store.delete([.refreshToken(refreshToken)]) }
            return true
        case "user_account_deleted":
            try storing { () throws(StoreError) in _ = try store.delete(found.everything) }
            return false
        default: return false
        }
    }
}
