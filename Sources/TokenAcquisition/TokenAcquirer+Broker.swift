import Claims
import Keyring
import Model
import PluginHost
import PluginWire
import Secrets

// Tokens from a broker, another program of the machine that holds sign-ins. Its plugin is asked before the user is.

extension TokenAcquirer {
    /// Seconds that the broker may take if the user would be asked next.
    private static let patience = 2.0
    /// The same if nobody can be asked.
    private static let unattendedPatience = 10.0
    /// The shortest remaining time in which it is still worth starting a plugin.
    private static let leastPatience = Duration.milliseconds(300)

    /// Asks the broker for a token, without the user and at most once in a run; nil if there is none, and the run has the reason.
    ///
    /// No failure of the broker's ends a request. `account` is the one that is meant, nil if it has yet to sign in.
    func askBroker(
        _ account: StoredAccount?, _ run: inout AcquisitionRun
    ) async throws(AcquisitionError) -> AcquiredToken? {
        guard let plugin = run.broker, run.brokerRefusal == nil else { return nil }
        let request = account?.withMissedClaims(run.request) ?? run.request
        // The tool that asks may wait for less.
        let seconds = min(run.mayAsk ? Self.patience : Self.unattendedPatience, locks.longestWait(for: .renewal))
        let end = ContinuousClock.now + .seconds(seconds)
        let key = RecentErrors.Key(broker: plugin, request, run.authority.key, account: account?.account)
        let answer = try await locks.exclusively(key.renewal, within: seconds) {
            [run] () async throws(AcquisitionError) -> Result<AcquiredToken, PluginError> in
            // The process that held the lock before may have done the work.
            if !run.isAnew, case .answer(let token) = self.decider.decide(request, at: run.authority).step {
                return .success(token)
            }
            if !run.isAnew, let failure = self.recentErrors.failure(key, since: run.began) {
                return .failure(failure)
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > Self.leastPatience else { return .failure(.slowBroker) }
            return try await self.ask(plugin, for: request, run.authority, account?.account, key, within: left)
        }
        switch answer ?? .failure(.slowBroker) {
        case .success(let token): return token
        case .failure(let error):
            run.brokerRefusal = error
            // As with a renewal, a token that is still valid is handed out while no other can be acquired.
            guard error.code.isOutage, let account, account.selection.redeemable.isEmpty else { return nil }
            return account.lastResort
        }
    }

    private func ask(
        _ plugin: PluginManifest, for request: TokenRequest, _ authority: AuthorityMatch, _ account: AccountRecord?,
        _ key: RecentErrors.Key, within limit: Duration
    ) async throws(AcquisitionError) -> Result<AcquiredToken, PluginError> {
        var ask = requests.forBroker(.silent, for: request, authority)
        ask.capabilities = []
        ask.account = account?.homeAccountID
        ask.signIn.loginHint = account == nil ? request.expectedAccount ?? request.signIn.loginHint : nil
        tell(.askingBroker)
        let result: PluginResult
        do throws(PluginError) {
            let end = ContinuousClock.now + limit
            var found = try await runner.silent(ask, by: plugin, at: authority, within: limit)
            let left = ContinuousClock.now.duration(to: end)
            if refusedTokens.wasJustRefused(found.accessToken, for: request), left > Self.leastPatience {
                ask.accessToken = found.accessToken
                found = try await runner.silent(ask, by: plugin, at: authority, within: left)
            }
            result = found
            try require(result, for: request, authority)
            if refusedTokens.wasJustRefused(result.accessToken, for: request) { throw PluginError.refusedOfBroker }
        } catch {
            if error == .interrupted { throw .plugin(error, name: plugin.name) }
            return .failure(recentErrors.noted(error, key, lasts: true))
        }
        recentErrors.forget(key)
        let token = try await keeper.keep(result, request, authority, redeemed: nil, broker: plugin.name)
        if let signedIn = token.account, account == nil {
            rememberChoice(of: signedIn, insteadOf: nil, request, authority)
            tell(.signedIn(signedIn))
        }
        return .success(token)
    }

    /// Refuses a result for another account than expected, or with fewer scopes than requested.
    private func require(
        _ result: PluginResult, for request: TokenRequest, _ authority: AuthorityMatch
    ) throws(PluginError) {
        let made = RecordsOfResult(
            result: result, request: request, place: authority.key, redeemed: nil, now: clock())
        if let account = made.account, !request.admits(account) {
            throw PluginError(.unsupported, "the broker returned a token for another account")
        }
        guard result.declinedScopes.isEmpty else {
            throw PluginError(.unsupported, "the broker was refused some of the scopes")
        }
    }

    /// Has the broker ask the user, if it said that it would have to; nil if the broker isn't used here, or got no
    /// token.
    ///
    /// - Throws: An error if the user refused; any error if there is no other way to sign in.
    func askUserByBroker(
        _ run: AcquisitionRun, account: AccountRecord?, because error: PluginError?, _ user: User
    ) async throws(AcquisitionError) -> PluginResult? {
        let (request, authority) = (run.request, run.authority)
        let isOnlyWay = user.flows == [.broker]
        guard let plugin = run.broker else {
            guard isOnlyWay else { return nil }
            throw .noBroker
        }
        guard isOnlyWay || run.brokerRequest != nil && user.flows.contains(.broker) else { return nil }
        var ask = requests.forBroker(.authorize, for: request, authority)
        ask.flows = [.broker]
        requests.shape(&ask, for: request, account: account, because: error ?? run.brokerRequest)
        if ask.signIn.prompt == nil || ask.signIn.prompt == "none" { ask.account = account?.homeAccountID }
        requests.name(&ask, purpose: user.purpose)
        ask.claims = request.claims ?? error?.claims
        do throws(PluginError) {
            let result = try await runner.authorize(ask, by: plugin, at: authority, user: user.interface)
            try require(result, for: request, authority)
            return result
        } catch {
            let key = RecentErrors.Key(request, authority.key, account: account)
            guard error.code == .cancelled || isOnlyWay else {
                let broker = RecentErrors.Key(broker: plugin, request, authority.key, account: account)
                await user.interface.progress(recentErrors.noted(error, broker, lasts: true).message)
                return nil
            }
            throw .plugin(recentErrors.noted(error, key), name: plugin.name)
        }
    }
}

extension PluginError {
    /// The error if the broker is busy with other requests, or used up the time limit.
    fileprivate static let slowBroker = PluginError(.unavailable, "the machine's broker did not answer in time")

    /// The error if a server has just refused the token that the broker returns.
    fileprivate static let refusedOfBroker = PluginError(
        .interactionRequired, "the server refused the token that the machine's broker gives")
}

extension RecentErrors.Key {
    /// Creates the key of a broker's failure; the broker is what is throttled.
    init(
        broker plugin: PluginManifest, _ request: TokenRequest, _ place: AuthorityKey, account: AccountRecord?
    ) {
        self.init(request, place, account: account)
        throttle = "throttle broker\n\(plugin.name)"
        renewal = "broker\n\(plugin.name)\n\(renewal)"
    }
}
