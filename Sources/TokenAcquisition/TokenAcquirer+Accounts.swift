import Addresses
import Claims
public import Keyring
public import Model
public import PluginHost
public import PluginWire
public import Rules

extension TokenAcquirer {
    /// Returns every record of the group.
    public func allRecords() throws(KeyringError) -> StoredRecords { try keeper.store.records(matching: .all) }

    /// Checks that the keyring can store the result of a sign-in that is about to start.
    ///
    /// - Throws: The reason why it can't; nothing if the provider can ask the user to fix it.
    package func requireWritable() throws(KeyringError) {
        guard let problem = keeper.store.problem() else { return }
        if keeper.store.mayPrompt, [.locked, .noDefaultCollection].contains(problem.reason) { return }
        throw problem
    }

    /// Returns every account among the records, its clients, and where it is used.
    public func accounts(among records: StoredRecords) -> AccountOverview {
        AccountOverview(
            records, registry: registry, history: selection?.read() ?? [],
            isShared: services.configuration.deviceMode == .shared)
    }

    /// The result of signing an account out.
    public struct SignedOut: Sendable, Equatable {
        /// The number of records that were removed.
        public let removed: Int
        /// The keys of the clients that still have a token of the account.
        public let remaining: [String]
        /// The ID token of each client that had one; it identifies the browser's session.
        public let idTokens: [IDTokenRecord]
        /// The refresh tokens among the removed records.
        public let refreshTokens: [RefreshTokenRecord]
    }

    /// Signs an account out of clients: removes their records of it, and no other client's.
    ///
    /// The client IDs are keys; nil stands for every client of the group. See `SignOutPlan` for the records that
    /// are removed. An account without any remaining records is also removed from the selection. Each refresh token is
    /// removed under its lock: a renewal that is under way stores its result before that, or nothing.
    public func signOut(
        _ account: KnownAccount, of clientIDs: Set<String>?
    ) async throws(KeyringError) -> SignedOut {
        do throws(AcquisitionError) {
            return try await signedOut(account, of: clientIDs)
        } catch {
            guard case .store(let problem) = error else { throw KeyringError(.broken, detail: "\(error)") }
            throw problem
        }
    }

    private func signedOut(
        _ account: KnownAccount, of clientIDs: Set<String>?
    ) async throws(AcquisitionError) -> SignedOut {
        let query = RecordQuery(
            homeAccountID: account.account.homeAccountID, environments: account.environments.sorted())
        var tokens: [RefreshTokenRecord] = []
        let before = SignOutPlan(try records(matching: query), clientIDs: clientIDs)
        for token in before.refreshTokens {
            try await whileNobodyRenews(by: token) { () async throws(AcquisitionError) in
                let stored = try self.records(matching: query).refreshTokens.first(where: token.isSameItem)
                tokens.append(stored ?? token)
                try storing { () throws(KeyringError) in _ = try keeper.store.delete([.refreshToken(token)]) }
            }
        }
        // A renewal has stored more meanwhile if there was one.
        let records = try records(matching: query)
        let plan = SignOutPlan(records, clientIDs: clientIDs)
        let removed = try storing { () throws(KeyringError) in try keeper.store.delete(plan.removed) }
        if plan.remaining.isEmpty { forget(account) }
        let own = records.idTokens.filter { clientIDs?.contains($0.clientID.clientKey) ?? true }
        return SignedOut(
            removed: removed + tokens.count, remaining: plan.remaining, idTokens: own,
            refreshTokens: tokens + plan.refreshTokens)
    }

    /// Deletes the refresh tokens among these records, each under its lock, and returns their number.
    ///
    /// A renewal that is under way could store them again otherwise.
    public func deleteRefreshTokens(among records: [CredentialRecord]) async throws(KeyringError) -> Int {
        var count = 0
        do throws(AcquisitionError) {
            for case .refreshToken(let token) in records {
                try await whileNobodyRenews(by: token) { () async throws(AcquisitionError) in
                    count += try storing { () throws(KeyringError) in try keeper.store.delete([.refreshToken(token)]) }
                }
            }
        } catch {
            guard case .store(let problem) = error else { throw KeyringError(.broken, detail: "\(error)") }
            throw problem
        }
        return count
    }

    private func whileNobodyRenews(
        by token: RefreshTokenRecord, _ body: () async throws(AcquisitionError) -> Void
    ) async throws(AcquisitionError) {
        let lock = keeper.lock(of: token, in: registry.firstHost(ofEnvironment: token.environment))
        try await locks.exclusively(lock, for: .renewal, isRequired: false, body)
    }

    private func records(matching query: RecordQuery) throws(AcquisitionError) -> StoredRecords {
        try storing { () throws(KeyringError) in try keeper.store.records(matching: query) }
    }

    /// Removes an account from the selection; if that fails, a choice without an account is left, which has no effect.
    private func forget(_ account: KnownAccount) {
        try? selection?.remove(account.isSelected)
    }

    /// Ends the user's session with the authority in the browser; the ID token is from before the sign-out.
    public func endSession(
        of account: AccountRecord, idToken: IDTokenRecord?, clientID: String, authority url: String,
        kind: String?, user: any UserInterface
    ) async throws(AcquisitionError) {
        guard let match = match(url, kind: kind) else { throw .unknownAuthority(url) }
        var ask = try requests.make(.signOut, of: clientID, at: url, match)
        ask.account = account.homeAccountID
        ask.idTokenHint = idToken.flatMap { $0.plugin == match.plugin.origin ? $0.secret : nil }
        ask.signIn.loginHint = account.username.isEmpty ? nil : account.username
        do throws(PluginError) {
            try await runner.signOut(ask, on: match, user: user)
        } catch {
            throw .plugin(error, name: match.plugin.name)
        }
    }

    /// Revokes a refresh token that was removed here, if the authority's plugin can.
    public func revoke(
        _ token: RefreshTokenRecord, authority url: String, kind: String?
    ) async throws(AcquisitionError) {
        guard let match = match(url, kind: kind) else { return }
        if let problem = match.plugin.problem { throw .unusablePlugin(problem, name: match.plugin.name) }
        guard token.plugin == match.plugin.origin else { throw decider.other(token.plugin, at: match, nil) }
        guard match.plugin.supports.contains(.revoke) else { return }
        var ask = try requests.make(.revoke, of: token.clientID, at: url, match)
        ask.account = token.homeAccountID
        ask.refreshToken = token.secret
        do throws(PluginError) {
            try await runner.revoke(ask, on: match)
        } catch {
            throw .plugin(error, name: match.plugin.name)
        }
    }

    private func match(_ url: String, kind: String?) -> AuthorityMatch? {
        let isConfigured = AuthorityURL(url).map { services.configuration.configuredHosts.contains($0.host) } ?? false
        return registry.match(authority: url, kind: kind, isConfigured: isConfigured)
    }

    /// Returns where an authority's accounts are stored; nil if no plugin serves it.
    ///
    /// This sends nothing, so any host will do. `kind` is for an authority whose URL doesn't show its kind.
    public func key(of authority: String, kind: String? = nil) -> AuthorityKey? {
        registry.match(authority: authority, kind: kind, isConfigured: true).map(AuthorityKey.init)
    }

    /// Acquires a token once the user has chosen one of several accounts.
    ///
    /// - Throws: `ambiguousAccount` if the user can't be asked.
    func tokenOfChosen(
        among accounts: [AccountRecord], _ request: TokenRequest, _ finder: UserFinder
    ) async throws(AcquisitionError) -> AcquiredToken {
        let authority = try match(request)
        guard let user = await finder.user, let chooser = user.chooser else { throw .ambiguousAccount(accounts) }
        let choice = try await locks.exclusively("choose\n\(authority.key.environment)", for: .signIn) {
            () async throws(AcquisitionError) -> AccountChoice in
            // The process that held the lock before may have asked already.
            if let account = self.decider.decide(request, at: authority).account { return .account(account) }
            try await user.announce?()
            let choice = await chooser.choose(among: accounts)
            if case .account(let account) = choice { await self.select(account, authority, telling: chooser) }
            return choice
        }
        var request = request
        switch choice {
        case .account(let account):
            request.account = account.homeAccountID
            return try await carryOut(nil, for: request, finder)
        case .another:
            request.account = nil
            request.userHint = nil
            if user.flows != [.deviceCode] { request.prompt = request.prompt ?? "select_account" }
            let token = try await signIn(request, user: user)
            if let account = token.account { await select(account, authority, telling: chooser) }
            return token
        case .cancelled: throw .noAccountChosen
        case .unavailable: throw .ambiguousAccount(accounts)
        }
    }

    private func select(_ account: AccountRecord, _ authority: AuthorityMatch, telling chooser: any AccountChooser)
        async
    {
        guard let selection, let selected = SelectedAccount(account, authority: authority.key.path) else { return }
        // If the choice can't be stored, it only counts for this request.
        guard (try? selection.select(selected)) != nil else { return }
        await chooser.confirm(account, at: authority.key)
    }

    /// Chooses an account that signed in for its authority, if none was chosen there, or if the user was asked for
    /// another account and signed in with this one.
    func rememberChoice(
        of account: AccountRecord, insteadOf meant: AccountRecord?, _ request: TokenRequest,
        _ authority: AuthorityMatch
    ) {
        guard let selection, let selected = SelectedAccount(account, authority: authority.key.path) else { return }
        let isAnother = meant.map { $0.homeAccountID.lowercased() != account.homeAccountID.lowercased() } ?? false
        if isAnother, request.expectedAccount == nil {
            try? selection.select(selected)
        } else if let stored = try? keeper.load(authority.key),
            decider.known(stored, authority, request).recent.isEmpty
        {
            try? selection.append(selected)
        }
    }

    /// Has the plugin check whether a request's authority can be reached from here or, for a machine's identity,
    /// whether this machine has one.
    public func probe(_ request: TokenRequest) async throws(AcquisitionError) -> PluginProbe {
        let authority = try match(request)
        var ask: PluginRequest
        if case .machine(let id, _)? = request.identity?.source {
            ask = requests.make(.probe, at: "", authority)
            ask.identify(machine: id, variables: try identities.fields(authority.plugin.variables))
        } else if request.identity != nil, authority.issuer?.repositoryScopes != nil {
            ask = try identities.authentication(for: request, authority)
            ask.operation = .probe
        } else {
            let secret = try requests.clientSecret(of: request.clientID, at: authority)
            ask = try requests.make(.probe, for: request, authority, clientSecret: secret)
        }
        return try await probe(ask, by: authority.plugin)
    }

    /// Returns the plugin that can get a request's tokens from a broker; nil if there is none.
    public func broker(for request: TokenRequest) -> PluginManifest? {
        registry.match(request).flatMap { decider.broker(for: request, at: $0) }
    }

    /// Has the plugin check whether the broker is there, and which accounts it has; starts the broker if possible.
    public func probeBroker(
        _ plugin: PluginManifest, for request: TokenRequest, within limit: Duration? = nil
    ) async throws(AcquisitionError) -> PluginProbe {
        try await probe(requests.forBroker(.probe, for: request, match(request)), by: plugin, within: limit)
    }

    private func probe(
        _ ask: PluginRequest, by plugin: PluginManifest, within limit: Duration? = nil
    ) async throws(AcquisitionError) -> PluginProbe {
        var ask = ask
        ask.claims = nil
        ask.capabilities = []
        do throws(PluginError) { return try await runner.probe(ask, by: plugin, within: limit) } catch {
            throw .plugin(error, name: plugin.name)
        }
    }

    /// Returns why the broker isn't asked at present, or failed a moment ago; nil if no reason is known.
    public func brokerFailure(of plugin: PluginManifest, for request: TokenRequest) -> PluginError? {
        guard let authority = try? match(request) else { return nil }
        // A user who had yet to sign in may have done so in another way since.
        return [decider.decide(request, at: authority).account, nil].compactMap { account in
            let key = RecentErrors.Key(broker: plugin, request, authority.key, account: account)
            return recentErrors.failure(key, since: .max)
        }.first
    }

    /// Renews a request's token even if a stored one is still valid, and stores the result.
    ///
    /// This is the renewal that `get` does, with the same refresh tokens and under the same locks: a new refresh token
    /// is stored, and an invalid one is removed. A token from the machine's broker is requested there again.
    ///
    /// - Parameters:
    ///   - request: The request, whose account is chosen as `get` would choose it.
    ///   - seconds: How long to wait for other processes that use the same refresh token.
    /// - Returns: The new token.
    /// - Throws: `interactionRequired` if there is no refresh token, or if the authority requires the user.
    public func renewNow(
        _ request: TokenRequest, waitingAtMost seconds: Double
    ) async throws(AcquisitionError) -> AcquiredToken {
        var brief = self
        brief.services.lockPatience = seconds
        let authority = try match(request)
        var run = AcquisitionRun(request: request, authority: authority, began: recentErrors.now)
        run.isAnew = true
        let decision = brief.decider.decide(request, at: authority, isAnew: true)
        (run.broker, run.clientSecret) = (decision.broker, decision.clientSecret)
        if let token = try await brief.silently(decision, &run) { return token }
        if case .refuse(let error) = decision.step { throw error }
        if case .askUser = decision.step, let broker = run.broker, let refusal = run.brokerRefusal {
            throw .plugin(refusal, name: broker.name)
        }
        throw .interactionRequired(run.failure, account: decision.account)
    }

    /// Has a new rule's authority register lanyard as a separate application; each success creates another one.
    public func registerClient(
        for rule: Rule, at match: AuthorityMatch, named name: String
    ) async throws(PluginError) -> PluginRegistration {
        var ask = requests.make(.register, at: rule.authority, match)
        ask.clientName = name
        ask.redirectURI =
            match.plugin.redirect(of: nil, port: rule.signIn.redirectPort)
            ?? match.issuer?.registration.redirectURI ?? match.plugin.redirectURI
        ask.scopes = rule.scopes.isEmpty ? match.issuer?.scopes ?? [] : rule.scopes
        return try await runner.register(ask, on: match)
    }

    /// Has an authority delete an application that it has just registered for a rule.
    ///
    /// - Throws: `unsupported` also if the authority didn't say how.
    public func unregister(
        _ client: PluginRegistration, for rule: Rule, at match: AuthorityMatch
    ) async throws(PluginError) {
        guard let management = client.management else {
            throw PluginError(.unsupported, "\(match.environment) did not say how to take it back")
        }
        var ask = requests.make(.unregister, at: rule.authority, match)
        ask.clientID = client.clientID
        ask.registration = management
        try await runner.unregister(ask, on: match)
    }
}
