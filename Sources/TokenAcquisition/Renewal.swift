import PluginHost
import PluginWire
import Rules
import Secrets
import TokenStore

/// Redeems refresh tokens, each under its own lock.
struct Renewal: Sendable {
    let keeper: RecordKeeper
    let requests: PluginRequests
    let host: PluginRunner
    let recentFailures: RecentFailures
    /// Decides by what is stored at the moment; the second argument is whether to get a new token even if a valid one is stored.
    let decide: @Sendable (TokenRequest, Bool) -> Decision

    /// The outcome of redeeming one refresh token.
    private indirect enum Attempt: Sendable {
        /// It is settled: by this token, or by the user alone.
        case ended(AcquiredToken?, AcquisitionRun)
        /// The store holds something else by now, and this is to be done.
        case changed(Decision.Step)
        /// It failed, and the next refresh token may be tried.
        case failed(PluginError)
    }

    /// Redeems an account's refresh tokens, best first, unless that lately failed; each under its own lock.
    ///
    /// Only one refresh token's lock is held at a time, so two processes that need several never wait for each other.
    ///
    /// - Returns: nil if only the user can help.
    /// - Throws: An error if neither a refresh token nor the user can help.
    func renew(
        by tokens: [RefreshTokenRecord], of account: StoredAccount, _ run: inout AcquisitionRun
    ) async throws(AcquisitionError) -> AcquiredToken? {
        var (tokens, account) = (tokens, account)
        while let next = tokens.first(where: { [tried = run.tried] in !tried.contains($0.secret) }) {
            switch try await attempt(next, run) {
            case .ended(let token, let attempted):
                run = attempted
                return token
            case .changed(.renew(let others, let now)): (tokens, account) = (others, now)
            case .changed(.askPerson(let now?)): (tokens, account) = ([], now)
            case .changed: return nil
            case .failed(let error):
                run.failure = error
                run.tried.insert(next.secret)
            }
        }
        return try withoutRefreshToken(account, &run)
    }

    /// What is left if there is no refresh token to try; nil if only the user can help.
    func withoutRefreshToken(
        _ account: StoredAccount, _ run: inout AcquisitionRun
    ) throws(AcquisitionError) -> AcquiredToken? {
        guard account.selection.mayRenew else { return nil }
        run.failure = run.failure ?? recentFailures.failure(run.key(account), since: run.began)
        return try end(account, &run)
    }

    /// Redeems a refresh token under its lock, if it is still stored and needed then.
    private func attempt(
        _ next: RefreshTokenRecord, _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Attempt {
        try await keeper.locks.exclusively(keeper.lock(of: next, run.authority.place)) {
            () async throws(AcquisitionError) -> Attempt in
            // The process that held the lock before may have done the work; its stored result counts.
            let decision = self.decide(run.request, run.isAnew)
            switch decision.step {
            case .answer(let token), .exchange(let token): return .ended(token, run)
            case .renew(let tokens, let account):
                guard let current = tokens.first(where: { $0.secret == next.secret }) else {
                    return .changed(decision.step)
                }
                var run = run
                run.tried.insert(current.secret)
                run.clientSecret = decision.clientSecret
                return try await self.redeem(current, among: tokens, of: account, run)
            case .askPerson, .authenticate, .refuse(.noSuchAccount): return .changed(decision.step)
            case .refuse(let error): throw error
            }
        }
    }

    private func redeem(
        _ refreshToken: RefreshTokenRecord, among tokens: [RefreshTokenRecord], of account: StoredAccount,
        _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Attempt {
        var run = run
        let request = account.heeding(run.request)
        let key = run.key(account)
        if let error = recentFailures.failure(key, since: run.began) {
            run.failure = error
            return .ended(try end(account, &run), run)
        }
        switch try await redeem(refreshToken, request, run) {
        case .success(let result):
            let token = try await keeper.keep(
                result, request, run.authority, redeemed: refreshToken, among: account.records)
            recentFailures.forget(key)
            return .ended(token, run)
        case .failure(let error):
            let isAnyLeft = tokens.contains { [tried = run.tried] in !tried.contains($0.secret) }
            if try keepGoing(after: error, refreshToken, account, request, run.authority), isAnyLeft {
                return .failed(error)
            }
            run.failure = recentFailures.noted(error, key)
            return .ended(try end(account, &run), run)
        }
    }

    /// What is left once no refresh token helped; nil if only the user can help.
    private func end(
        _ account: StoredAccount, _ run: inout AcquisitionRun
    ) throws(AcquisitionError) -> AcquiredToken? {
        // A token that was only due for early renewal stays usable whatever the outcome.
        if !run.isAnew, let token = account.usable(renewsEarly: false) { return token }
        guard let last = run.failure, !last.code.wantsPerson else { return nil }
        // The client turned out not to be in the family: it has yet to sign in itself.
        guard !last.isClientMismatch else {
            run.failure = nil
            return nil
        }
        if !run.isAnew, last.code.isOutage, let token = account.lastResort { return token }
        throw .plugin(last, name: run.authority.plugin.name)
    }

    private func redeem(
        _ refreshToken: RefreshTokenRecord, _ request: TokenRequest, _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Result<PluginResult, PluginError> {
        let ask = try requests.renewal(by: refreshToken, for: request, run.authority, clientSecret: run.clientSecret)
        keeper.tell(.renewing(request.authority))
        do throws(PluginError) {
            return .success(try await host.run(ask, on: run.authority, person: NobodyThere()))
        } catch {
            return .failure(error)
        }
    }

    /// Whether the next refresh token may be tried after this one failed.
    ///
    /// An invalid one is removed (MSAL's retention rule), if it is still the stored one.
    private func keepGoing(
        after error: PluginError, _ refreshToken: RefreshTokenRecord, _ found: StoredAccount, _ request: TokenRequest,
        _ authority: AuthorityMatch
    ) throws(AcquisitionError) -> Bool {
        if error.isClientMismatch {
            let stranger = AppMetadataRecord(
                clientID: request.clientID, environment: authority.place.environment, familyID: "")
            try keeper.save([.appMetadata(stranger)])
            return true
        }
        guard error.code == .interactionRequired else { return false }
        if error.reasons.contains(.deadToken) {
            // Its record holds the refusals: remove the refused tokens first, or they would be handed out again.
            let refused = found.refused(of: refreshToken, now: keeper.clock()).map(CredentialRecord.accessToken)
            try keeper.deleteUnchanged(refused + [.refreshToken(refreshToken)])
            return true
        }
        if error.reasons.contains(.accountDeleted) {
            try keeper.deleteUnchanged(found.everything)
        }
        return false
    }
}
