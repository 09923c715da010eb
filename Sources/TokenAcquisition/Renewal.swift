import Keyring
import Model
import PluginHost
import PluginWire
import Secrets

/// Redeems refresh tokens, each under its own lock, and in a process of its own if there is a redeemer.
struct Renewal: Serviced {
    let services: AcquisitionServices
    /// Takes the token of a result that couldn't be stored, before that is tried again; nil if nobody does.
    var deliver: (@Sendable (AcquiredToken) -> Void)?

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
            switch try await attempt(next, of: account, run) {
            case .ended(let token, let attempted):
                run = attempted
                return token
            case .changed(.renew(let others, let now)): (tokens, account) = (others, now)
            case .changed(.askUser(let now?)): (tokens, account) = ([], now)
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
        run.failure = run.failure ?? recentErrors.failure(run.key(account), since: run.began)
        return try end(account, &run)
    }

    /// Redeems a refresh token, if it is still stored and needed once nobody else is redeeming it.
    ///
    /// While there is a redeemer, this process holds no lock, so it may be stopped or killed at any time.
    private func attempt(
        _ next: RefreshTokenRecord, of account: StoredAccount, _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Attempt {
        guard let redeemer = services.redeemer else { return try await attemptHere(next, run) }
        let living = { self.substitute(for: account, run) }
        do throws(AcquisitionError) {
            let began = ContinuousClock.now
            // Those that wait for the same token need no process of their own.
            try await locks.exclusively(
                keeper.lock(of: next, run.authority.key), for: .renewal, hasSubstitute: living() != nil
            ) {}
            var account = account
            if ContinuousClock.now - began > .milliseconds(20) {
                switch try standing(of: next, run) {
                case .settled(let attempt): return attempt
                case .due(_, let now, _): account = now
                }
            }
            if let failure = recentErrors.failure(run.key(account), since: run.began, by: next.secret) {
                var run = run
                run.failure = failure
                return .ended(try end(account, &run), run)
            }
        } catch {
            guard case .busy = error, let token = living() else { throw error }
            return .ended(token, run)
        }
        tell(.renewing(run.request.authority))
        let order = Redemption(
            next, run, services.timing, patience: locks.longestWait(for: .renewal), mayPrompt: store.mayPrompt)
        var longest = services.patience ?? Self.longest
        // A renewal that revokes the previous token may have done so by now.
        if living() != nil, !account.selection.renewsLate { longest = min(longest, ProcessLocks.grace) }
        let answer = await redeemer.outcome(of: order, within: longest, tell: tell)
        switch answer {
        case .outcome(let outcome): return try attempt(next, run, outcome)
        case .late:
            if let token = living() { return .ended(token, run) }
            throw .plugin(.slow, name: run.authority.plugin.name)
        case .interrupted: throw .plugin(.interrupted, name: run.authority.plugin.name)
        case .lost: throw .plugin(.lost, name: run.authority.plugin.name)
        case .unavailable: return try await attemptHere(next, run)
        }
    }

    /// Seconds that a redemption takes at most, with all that it may have to wait for.
    private static let longest = 200.0

    private func attempt(
        _ next: RefreshTokenRecord, _ run: AcquisitionRun, _ outcome: RedemptionOutcome
    ) throws(AcquisitionError) -> Attempt {
        var run = run
        switch outcome {
        case .token(let token): return .ended(token, run)
        case .nobody(let failure):
            run.failure = failure
            run.tried.insert(next.secret)
            return .ended(nil, run)
        case .changed:
            guard case .settled(let attempt) = try standing(of: next, run) else {
                throw .plugin(.lost, name: run.authority.plugin.name)
            }
            return attempt
        case .failed(let error): return .failed(error)
        case .refused(let error): throw error
        }
    }

    /// The stored token that can still be handed out while a renewal takes long; nil if there is none.
    private func substitute(for account: StoredAccount, _ run: AcquisitionRun) -> AcquiredToken? {
        guard !run.isAnew, let token = account.usable(renewsEarly: false) ?? account.lastResort,
            token.expiresOn.map({ $0 > clock() }) ?? true
        else { return nil }
        return token
    }

    /// Redeems a refresh token for another process that waits for the outcome.
    func outcome(
        of next: RefreshTokenRecord, _ run: AcquisitionRun
    ) async -> RedemptionOutcome {
        do throws(AcquisitionError) {
            switch try await attemptHere(next, run) {
            case .ended(let token?, _): return .token(token)
            case .ended(nil, let run): return .nobody(run.failure)
            case .changed: return .changed
            case .failed(let error): return .failed(error)
            }
        } catch {
            return .refused(error)
        }
    }

    /// What the store says about a refresh token that is about to be redeemed.
    private enum Standing {
        case settled(Attempt)
        /// It is still to be redeemed, among these of the account and with this client's secret.
        case due([RefreshTokenRecord], StoredAccount, Secret?)
    }

    private func standing(of next: RefreshTokenRecord, _ run: AcquisitionRun) throws(AcquisitionError) -> Standing {
        let decision = decider.decide(run.request, at: run.authority, isAnew: run.isAnew)
        switch decision.step {
        case .answer(let token), .exchange(let token): return .settled(.ended(token, run))
        case .renew(let tokens, let account):
            guard tokens.contains(where: { $0.secret == next.secret }) else { return .settled(.changed(decision.step)) }
            return .due(tokens, account, decision.clientSecret)
        case .askUser, .authenticate, .refuse(.noSuchAccount): return .settled(.changed(decision.step))
        case .refuse(let error): throw error
        }
    }

    /// Redeems a refresh token in this process, under its lock.
    private func attemptHere(
        _ next: RefreshTokenRecord, _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Attempt {
        try await locks.exclusively(keeper.lock(of: next, run.authority.key), for: .renewal) {
            () async throws(AcquisitionError) -> Attempt in
            // The process that held the lock before may have done the work; its stored result counts.
            switch try self.standing(of: next, run) {
            case .settled(let attempt): return attempt
            case .due(let tokens, let account, let clientSecret):
                var run = run
                run.tried.insert(next.secret)
                run.clientSecret = clientSecret
                let current = tokens.first { $0.secret == next.secret } ?? next
                return try await self.redeem(current, among: tokens, of: account, run)
            }
        }
    }

    private func redeem(
        _ refreshToken: RefreshTokenRecord, among tokens: [RefreshTokenRecord], of account: StoredAccount,
        _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Attempt {
        var run = run
        let request = account.withMissedClaims(run.request)
        let key = run.key(account)
        if let error = recentErrors.failure(key, since: run.began, by: refreshToken.secret) {
            run.failure = error
            return .ended(try end(account, &run), run)
        }
        switch try await askAuthority(by: refreshToken, request, run) {
        case .success(let result):
            recentErrors.forget(key)
            do throws(AcquisitionError) {
                return .ended(try await keep(result, request, run.authority, redeemed: refreshToken, of: account), run)
            } catch {
                switch error {
                // An authority need not renew ID tokens (OpenID Connect Core 1.0, 12.2); a sign-in brings one.
                case .noIDToken(let host):
                    run.failure = PluginError(.interactionRequired, "\(host) renews no ID tokens")
                case .scopesDeclined(_, let declined) where run.authority.scopesAreOfSignIn:
                    run.failure = .lacking(declined)
                default: throw error
                }
                return .ended(nil, run)
            }
        case .failure(let error):
            let isAnyLeft = tokens.contains { [tried = run.tried] in !tried.contains($0.secret) }
            if try keepGoing(after: error, refreshToken, account, request, run.authority), isAnyLeft {
                return .failed(error)
            }
            run.failure = recentErrors.noted(error, key, of: run.tried)
            return .ended(try end(account, &run), run)
        }
    }

    /// What is left once no refresh token helped; nil if only the user can help.
    private func end(
        _ account: StoredAccount, _ run: inout AcquisitionRun
    ) throws(AcquisitionError) -> AcquiredToken? {
        // A token that was only due for early renewal stays usable whatever the outcome.
        if !run.isAnew, let token = account.usable(renewsEarly: false) { return token }
        guard let last = run.failure, !last.code.wantsUser else { return nil }
        // The client turned out not to be in the family: it has yet to sign in itself.
        guard !last.isClientMismatch else {
            run.failure = nil
            return nil
        }
        if !run.isAnew, last.code.isOutage, let token = account.lastResort { return token }
        throw .plugin(last, name: run.authority.plugin.name)
    }

    /// Stores the result, and returns its token.
    ///
    /// If the keyring fails, the token is handed out all the same. A refresh token that came with it is all that is left
    /// of the sign-in, so it is kept here, under the lock, until it can be stored.
    private func keep(
        _ result: PluginResult, _ request: TokenRequest, _ authority: AuthorityMatch, redeemed: RefreshTokenRecord,
        of account: StoredAccount
    ) async throws(AcquisitionError) -> AcquiredToken {
        do throws(AcquisitionError) {
            return try await keeper.keep(result, request, authority, redeemed: redeemed, among: account.records)
        } catch {
            guard case .store = error else { throw error }
            let token = keeper.unstored(result, request, authority, redeemed: redeemed, among: account.records)
            guard let token else { throw error }
            deliver?(token)
            var quiet = keeper
            quiet.services.store = store.withoutPrompts
            for pause in result.refreshToken == nil ? [] : deliver == nil ? Self.shortPauses : Self.pauses {
                try? await Task.sleep(for: .seconds(pause))
                do throws(AcquisitionError) {
                    _ = try await quiet.keep(result, request, authority, redeemed: redeemed)
                    break
                } catch {
                    guard case .store = error else { break }
                }
            }
            return token
        }
    }

    /// The seconds between attempts to store a refresh token: for half an hour, or briefly if somebody waits.
    private static let pauses = [1, 1, 2, 4, 8, 15] + Array(repeating: 30, count: 60)
    private static let shortPauses = [1, 1]

    private func askAuthority(
        by refreshToken: RefreshTokenRecord, _ request: TokenRequest, _ run: AcquisitionRun
    ) async throws(AcquisitionError) -> Result<PluginResult, PluginError> {
        let ask = try requests.renewal(by: refreshToken, for: request, run.authority, clientSecret: run.clientSecret)
        tell(.renewing(request.authority))
        do throws(PluginError) {
            return .success(try await runner.run(ask, on: run.authority, user: NobodyThere()))
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
            let app = AppMetadataRecord(
                clientID: request.clientID, environment: authority.key.environment, familyID: "")
            try keeper.save([.appMetadata(app)])
            return true
        }
        guard error.code == .interactionRequired else { return false }
        if error.reasons.contains(.deadToken) {
            // Its record holds the refusals: remove the refused tokens first, or they would be handed out again.
            let refused = found.refused(of: refreshToken, now: clock()).map(CredentialRecord.accessToken)
            try keeper.deleteUnchanged(refused + [.refreshToken(refreshToken)])
            return true
        }
        if error.reasons.contains(.accountDeleted) {
            try keeper.deleteUnchanged(found.everything)
        }
        return false
    }
}

extension PluginError {
    /// The error if whoever asks can't wait for the renewal, which goes on.
    fileprivate static let slow = PluginError(
        .unavailable, "the authority takes longer than there is time for", hint: "try again in a moment")
    /// The error if the process that renews was killed.
    fileprivate static let lost = PluginError(
        .internal, "the process that renews the token ended without an answer", hint: "try again")
}
