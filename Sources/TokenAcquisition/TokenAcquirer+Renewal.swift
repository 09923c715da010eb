import PluginHost
import PluginWire
import Rules
import Secrets
import TokenStore

extension TokenAcquirer {
    /// What came of the refresh tokens.
    enum Renewal: Sendable {
        case renewed(AcquiredToken)
        case needsPerson(FailedRenewal)
    }

    /// The refresh tokens that were of no use, and why the last one wasn't.
    struct FailedRenewal: Sendable {
        var tried: Set<Secret> = []
        var error: PluginError?
    }

    /// When a refresh token is redeemed.
    enum Urgency: Sendable {
        /// If nothing that is stored can be handed out.
        case whenNeeded
        /// In any case, so that it shows whether it still works.
        case always
    }

    /// What came of one refresh token.
    private enum Attempt: Sendable {
        case ended(Renewal)
        /// The store holds something else by now.
        case changed(SilentAccount?)
        /// The next refresh token may be tried.
        case failed(PluginError)
    }

    /// Redeems the account's refresh tokens, best first, unless that lately failed; each under its own lock.
    ///
    /// No lock but that of one refresh token is held at a time, so that two that need several never wait for each other.
    ///
    /// - Throws: if neither a refresh token nor the person can help.
    func renew(
        _ request: TokenRequest, _ authority: MatchedAuthority, _ found: SilentAccount, since asked: Int,
        after failed: FailedRenewal = FailedRenewal(), _ urgency: Urgency = .whenNeeded
    ) async throws(AcquisitionError) -> Renewal {
        guard found.selection.mayRenew else { return .needsPerson(failed) }
        var failed = failed
        var found = found
        while let next = found.selection.redeemable.first(where: { !failed.tried.contains($0.secret) }) {
            switch try await attempt(next, request, authority, since: asked, after: failed, urgency) {
            case .ended(let renewal): return renewal
            case .changed(let now?): found = now
            case .changed(nil): return .needsPerson(failed)
            case .failed(let error):
                failed.error = error
                failed.tried.insert(next.secret)
            }
        }
        let key = RecentFailures.Key(found.heeding(request), authority.place, account: found.account)
        failed.error = failed.error ?? recentFailures.failure(key, since: asked)
        return try end(failed, found, authority, urgency)
    }

    /// Redeems a refresh token under its lock, if it is still what is stored and needed then.
    private func attempt(
        _ next: RefreshTokenRecord, _ request: TokenRequest, _ authority: MatchedAuthority, since asked: Int,
        after failed: FailedRenewal, _ urgency: Urgency
    ) async throws(AcquisitionError) -> Attempt {
        try await exclusively(lock(of: next, authority.place)) { () async throws(AcquisitionError) -> Attempt in
            // Whoever held the lock before may have done the work: what it stored counts.
            guard let found = try self.decide(request).stillMeant else { return .changed(nil) }
            if urgency == .whenNeeded, let token = found.usable(renewsEarly: true) { return .ended(.renewed(token)) }
            guard let current = found.selection.redeemable.first(where: { $0.secret == next.secret }) else {
                return .changed(found)
            }
            var failed = failed
            failed.tried.insert(current.secret)
            return try await self.redeem(current, of: found, request, authority, since: asked, after: failed, urgency)
        }
    }

    private func redeem(
        _ refreshToken: RefreshTokenRecord, of found: SilentAccount, _ request: TokenRequest,
        _ authority: MatchedAuthority, since asked: Int, after failed: FailedRenewal, _ urgency: Urgency
    ) async throws(AcquisitionError) -> Attempt {
        let request = found.heeding(request)
        let key = RecentFailures.Key(request, authority.place, account: found.account)
        var failed = failed
        if let error = recentFailures.failure(key, since: asked) {
            failed.error = error
            return .ended(try end(failed, found, authority, urgency))
        }
        switch try await redeem(refreshToken, request, authority) {
        case .success(let result):
            let token = try await keep(result, request, authority, redeemed: refreshToken, among: found.records)
            recentFailures.forget(key)
            return .ended(.renewed(token))
        case .failure(let error):
            let isAnyLeft = found.selection.redeemable.contains { !failed.tried.contains($0.secret) }
            if try keepGoing(after: error, refreshToken, found, request, authority), isAnyLeft { return .failed(error) }
            failed.error = recentFailures.noted(error, key)
            return .ended(try end(failed, found, authority, urgency))
        }
    }

    /// What is left once no refresh token helped.
    private func end(
        _ failed: FailedRenewal, _ found: SilentAccount, _ authority: MatchedAuthority, _ urgency: Urgency
    ) throws(AcquisitionError) -> Renewal {
        // A token that was only due early stays usable whatever became of its renewal.
        if urgency == .whenNeeded, let token = found.usable(renewsEarly: false) { return .renewed(token) }
        guard let last = failed.error, !last.code.wantsPerson else { return .needsPerson(failed) }
        // A family that this client turned out not to be in: it has yet to sign in itself.
        if last.isClientMismatch { return .needsPerson(FailedRenewal(tried: failed.tried)) }
        if urgency == .whenNeeded, last.code.isOutage, let token = found.lastResort { return .renewed(token) }
        throw .plugin(last, name: authority.match.plugin.name)
    }

    private func redeem(
        _ refreshToken: RefreshTokenRecord, _ request: TokenRequest, _ authority: MatchedAuthority
    ) async throws(AcquisitionError) -> Result<PluginResult, PluginError> {
        var ask = try pluginRequest(.renew, for: request, authority)
        tell(.renewing(request.authority))
        ask.account = refreshToken.homeAccountID
        ask.refreshToken = refreshToken.secret
        do throws(PluginError) {
            return .success(try await host.run(ask, on: authority.match, person: NobodyThere()))
        } catch {
            return .failure(error)
        }
    }

    /// Whether the next refresh token may be tried after this one failed; a dead one is removed (MSAL's retention rule), if it
    /// is still the one that is stored.
    private func keepGoing(
        after error: PluginError, _ refreshToken: RefreshTokenRecord, _ found: SilentAccount, _ request: TokenRequest,
        _ authority: MatchedAuthority
    ) throws(AcquisitionError) -> Bool {
        if error.isClientMismatch {
            let stranger = AppMetadataRecord(
                clientID: request.clientID, environment: authority.place.environment, familyID: "")
            try storing { () throws(StoreError) in try store.save([.appMetadata(stranger)]) }
            return true
        }
        guard error.code == .interactionRequired else { return false }
        if error.reasons.contains(.deadToken) {
            // What was refused is noted beside it: that goes first, or it would be handed out again.
            let refused = found.refused(of: refreshToken, now: clock()).map(CredentialRecord.accessToken)
            try storing { () throws(StoreError) in
                _ = try store.deleteUnchanged(refused + [.refreshToken(refreshToken)])
            }
            return true
        }
        if error.reasons.contains(.accountDeleted) {
            try storing { () throws(StoreError) in _ = try store.deleteUnchanged(found.everything) }
        }
        return false
    }
}
