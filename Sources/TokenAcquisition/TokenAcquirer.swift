import Addresses
public import Keyring
public import Model
public import PluginHost
public import PluginWire
import Secrets
import Synchronization

/// Acquires tokens as MSAL does, but with the work split between host and plugins: from the store, else by a refresh
/// token, else from the user.
public struct TokenAcquirer: Serviced {
    /// A user who can be asked, and how.
    public struct User: Sendable {
        /// Shows pages and codes, and asks questions.
        public var interface: any UserInterface
        /// The flows that can work here, best first.
        public var flows: [PluginRequest.Flow]
        /// Asks which of several accounts to use; nil if that can't be asked.
        public var chooser: (any AccountChooser)?
        /// The purpose of the sign-in, in words for the user; nil for the resource's name.
        public var purpose: String?
        /// Called before each page, window or question, which doesn't come if it throws; nil for nothing.
        public var announce: (@Sendable () async throws(AcquisitionError) -> Void)?
        /// Has the user pick a value for the parameter of an exchange that an error says is open, and keeps it in the rule; nil if
        /// nobody picks one.
        public var pick: (@Sendable (PluginError, TokenRequest) async -> String?)?

        /// Creates a user from the ways to reach them.
        public init(
            interface: any UserInterface, flows: [PluginRequest.Flow], chooser: (any AccountChooser)? = nil,
            purpose: String? = nil, announce: (@Sendable () async throws(AcquisitionError) -> Void)? = nil
        ) {
            self.interface = interface
            self.flows = flows
            self.chooser = chooser
            self.purpose = purpose
            self.announce = announce
        }
    }

    /// What it works with.
    public internal(set) var services: AcquisitionServices

    /// Creates an acquirer.
    public init(_ services: AcquisitionServices) { self.services = services }

    private var renewal: Renewal { Renewal(services: services) }
    var refusedTokens: RefusedTokens { RefusedTokens(services: services) }

    /// Decides what to do for a request now; a keyring or rule that can't be used also results in a step.
    ///
    /// `records` are those of any authorities that were read earlier; nil to read them now.
    public func decide(_ request: TokenRequest, among records: StoredRecords? = nil) -> Decision {
        decider.decide(request, among: records)
    }

    /// Returns the error if the plugin of an authority's accounts is gone, and only one that takes any host is left; nil if
    /// that isn't known.
    public func orphan(_ authority: String) -> AcquisitionError? { decider.orphan(authority) }

    /// The plugin that gets a request's token, and the authority that it gets it from.
    func match(_ request: TokenRequest) throws(AcquisitionError) -> AuthorityMatch { try decider.match(request) }

    /// Acquires a token, asking the user only if there is one and nothing else helps.
    ///
    /// `decision` is what was decided a moment ago; nil if nothing was. `mayAsk` says whether somebody may be there, as far as that
    /// shows at once. `user` is called once at most, when only the user can help: finding out whether somebody is there takes time.
    public func token(
        for request: TokenRequest, by decision: Decision? = nil, mayAsk: Bool = true,
        user: @escaping @Sendable () async -> User?
    ) async throws(AcquisitionError) -> AcquiredToken {
        let finder = UserFinder(mayFind: mayAsk, user)
        if let source = request.source { return try await lookUp(source, for: request, finder) }
        guard let exchange = request.exchange else { return try await token(for: request, by: decision, finder) }
        return try await exchanged(exchange, decision, for: request, finder)
    }

    /// Gets a token for the account that the request means, or the user chooses.
    func token(
        for request: TokenRequest, by decision: Decision?, _ finder: UserFinder
    ) async throws(AcquisitionError) -> AcquiredToken {
        do throws(AcquisitionError) {
            return try await carryOut(decision, for: request, finder)
        } catch {
            guard case .ambiguousAccount(let accounts, isShared: false) = error else { throw error }
            return try await tokenOfChosen(among: accounts, request, finder)
        }
    }

    /// Does what was decided, or decides now: without the user first, then once it is this run's turn to ask them.
    func carryOut(
        _ decision: Decision?, for request: TokenRequest, _ finder: UserFinder
    ) async throws(AcquisitionError) -> AcquiredToken {
        let began = recentErrors.now
        let decision = decision ?? decide(request)
        guard let authority = decision.match else {
            if case .refuse(let error) = decision.step { throw error }
            throw .unknownAuthority(request.authority)
        }
        var run = AcquisitionRun(request: request, authority: authority, began: began)
        run.mayAsk = finder.mayFind
        (run.broker, run.clientSecret) = (decision.broker, decision.clientSecret)
        // Waits for processes that use the same refresh token, but not for a sign-in.
        if let token = try await silently(decision, &run) { return token }
        try await requireSomebody(for: decision, finder)
        let attempted = run
        return try await locks.alone(request, account: decision.account) { () async throws(AcquisitionError) in
            var run = attempted
            // The process that held the lock before may have done the work; its stored result counts.
            let decision = self.decider.decide(request, at: authority)
            run.clientSecret = decision.clientSecret
            if let token = try await self.silently(decision, &run) { return token }
            try await self.requireSomebody(for: decision, finder)
            return try await self.askUser(decision, run, finder)
        }
    }

    /// Has the user sign in, whatever is stored.
    public func signIn(_ request: TokenRequest, user: User) async throws(AcquisitionError) -> AcquiredToken {
        if let source = request.source {
            let error = PluginError(
                .unsupported, "the rule looks it up in \(source), so there is nothing to sign in to")
            throw .plugin(error, name: source)
        }
        let authority = try match(request)
        try decider.requirePlugin(authority)
        return try await locks.alone(request, account: nil) { () async throws(AcquisitionError) in
            var run = AcquisitionRun(request: request, authority: authority, began: self.recentErrors.now)
            (run.isAnew, run.mayAsk) = (true, true)
            run.broker = self.decider.broker(forSignIn: request, at: authority, user)
            if self.decider.broker(for: request, at: authority) != nil, let token = try await self.askBroker(nil, &run)
            {
                return token
            }
            run.clientSecret = try self.requests.clientSecret(of: request.clientID, at: authority)
            // Here `none` means: without a page, using the browser's session.
            return try await self.signIn(run, account: nil, because: nil, user)
        }
    }

    /// Carries out the order of another process: redeems a refresh token, and stores the result.
    ///
    /// - Parameters:
    ///   - order: The order; this acquirer's timing must be the order's, and it must have no redeemer.
    ///   - deliver: Takes the outcome, once. If the result can't be stored, this is called first, and the function
    ///     returns when a new refresh token has been stored, or after half an hour.
    public func carryOut(_ order: Redemption, deliver: @escaping @Sendable (RedemptionOutcome) -> Void) async {
        guard let authority = try? match(order.request) else { return deliver(.changed) }
        var run = AcquisitionRun(request: order.request, authority: authority, began: order.began)
        (run.isAnew, run.tried) = (order.isAnew, order.tried)
        var patient = self
        patient.services.lockPatience = order.patience
        let delivery = Mutex(deliver as (@Sendable (RedemptionOutcome) -> Void)?)
        let once: @Sendable (RedemptionOutcome) -> Void = { outcome in
            delivery.withLock { deliver in
                defer { deliver = nil }
                return deliver
            }?(outcome)
        }
        var renewal = patient.renewal
        renewal.deliver = { once(.token($0)) }
        once(await renewal.outcome(of: order.token, run))
    }

    /// Acquires a new token as an identity, whatever is stored, and stores it, to find out whether that works.
    public func authenticatedAnew(_ request: TokenRequest) async throws(AcquisitionError) -> AcquiredToken {
        try await identities.authenticatedAnew(request, at: match(request))
    }

    /// Drops tokens that a tool reports as refused, or notes the refusals at the request's host and path.
    ///
    /// The requests are those that may have got such a token, most likely first; without a secret only the first counts.
    /// The requests' claims are those that the server asked for. If a result of an exchange was refused, it is dropped,
    /// and the token stays and is exchanged again.
    ///
    /// - Returns: Whether any such token is stored; if not, that isn't an error.
    @discardableResult
    public func reject(_ refused: RefusalScope, for requests: [TokenRequest]) throws(AcquisitionError) -> Bool {
        let known = requests.compactMap { request in registry.match(request).map { (wanted: request, authority: $0) } }
        switch refused {
        case .these(let fingerprints):
            return try refusedTokens.reject(fingerprints, for: known, isReported: true)
        case .current:
            guard var first = known.first else { return false }
            (first.wanted.claims, first.wanted.prompt) = (nil, nil)
            let decision = decider.decide(first.wanted, at: first.authority)
            if let error = decision.storeError { throw .store(error) }
            let current = decision.current(for: first.wanted)
            guard !current.isEmpty else { return false }
            return try refusedTokens.reject(current, for: [first], isReported: false)
        }
    }

    // MARK: - Steps

    /// Does what was decided as far as nobody is needed for it; nil if only the user can help.
    func silently(
        _ decision: Decision, _ run: inout AcquisitionRun
    ) async throws(AcquisitionError) -> AcquiredToken? {
        if decision.asksBrokerFirst, let token = try await askBroker(decision.stored, &run) { return token }
        switch decision.step {
        // If the host needs what a token is exchanged for, the caller exchanges this one.
        case .answer(let token), .exchange(let token): return token
        case .authenticate: return try await identities.authenticated(run, stored: decision.accessToken)
        case .renew(let tokens, let account): return try await renewal.renew(by: tokens, of: account, &run)
        case .askUser(let account?): return try renewal.withoutRefreshToken(account, &run)
        case .askUser(nil), .refuse(.noSuchAccount): return nil
        case .refuse(let error): throw error
        }
    }

    /// Refuses if an account is named that hasn't signed in, and nobody is there to sign it in.
    private func requireSomebody(
        for decision: Decision, _ finder: UserFinder
    ) async throws(AcquisitionError) {
        if case .refuse(let error) = decision.step, await finder.user == nil { throw error }
    }

    /// Has the user sign in, unless they have just refused, or a broker that wasn't asked yet has a token.
    private func askUser(
        _ decision: Decision, _ run: AcquisitionRun, _ finder: UserFinder
    ) async throws(AcquisitionError) -> AcquiredToken {
        var run = run
        let account = decision.stored
        try refuseCancelled(run, account)
        if let token = try await askBroker(account, &run) { return token }
        let reason = account.flatMap { run.failure ?? $0.complaint(about: run.request) } ?? run.brokerRequest
        let user = await finder.user
        if user == nil, let token = account?.refusedToken { return token }
        guard let user, run.request.prompt != "none" else {
            throw .interactionRequired(reason, account: account?.account)
        }
        run.request = account?.withMissedClaims(run.request) ?? run.request
        return try await signIn(run, account: account?.account, because: reason, user)
    }

    private func signIn(
        _ run: AcquisitionRun, account: AccountRecord?, because error: PluginError?, _ user: User
    ) async throws(AcquisitionError) -> AcquiredToken {
        let (request, authority) = (run.request, run.authority)
        // A sign-in that can't be stored would be asked for again at once.
        tell(.usingKeyring)
        try storing { () throws(KeyringError) in try requireWritable() }
        try await user.announce?()
        tell(.startingSignIn(request.authority))
        let key = RecentErrors.Key(request, authority.key, account: account)
        // A page that opens unasked states its reason. Without one, it is the first sign-in, or one that was asked for.
        if let error {
            let name = account?.username ?? ""
            let what = error.isAboutAccount ? "can't sign in here" : "must sign in again"
            let remedy = error.isAboutAccount ? error.hint.map { "; \($0)" } ?? "" : ""
            await user.interface.progress("\(name.isEmpty ? "you" : name) \(what): \(error.message)\(remedy)")
        }
        let given = try await askUserByBroker(run, account: account, because: error, user)
        let result =
            if let given { given } else {
                try await askUserByPage(run, account: account, because: error, user)
            }
        recentErrors.forget(key)
        if let secret = result.clientSecret, authority.plugin.supports.contains(.clientSecrets) {
            // The sign-in counts without it, too.
            let owner = ClientSecretStore.Owner(request.clientID, at: authority.key)
            try? services.clientSecrets?.store(ClientSecret(secret), of: owner)
        }
        let token = try await keeper.keep(
            result, request, authority, redeemed: nil, broker: given == nil ? nil : run.broker?.name)
        guard let signedIn = token.account else { return token }
        if let wanted = request.expectedAccount, !request.admits(signedIn) {
            let known = (try? allRecords()).map { accounts(among: $0).accounts.map(\.account) }
            throw .wrongAccount(wanted: wanted, signedIn: signedIn, known: known ?? [signedIn])
        }
        rememberChoice(of: signedIn, insteadOf: account, request, authority)
        tell(.signedIn(signedIn))
        if let error = result.userInfoError { tell(.withoutUserInfo(error)) }
        return token
    }

    private func askUserByPage(
        _ run: AcquisitionRun, account: AccountRecord?, because error: PluginError?, _ user: User
    ) async throws(AcquisitionError) -> PluginResult {
        let (request, authority) = (run.request, run.authority)
        var ask = try requests.make(.authorize, for: request, authority, clientSecret: run.clientSecret)
        try requests.route(&ask, for: request, authority, user.flows.pages)
        requests.shape(&ask, for: request, account: account, because: error)
        requests.name(&ask, purpose: user.purpose)
        ask.claims = request.claims ?? error?.claims
        let others = requests.scopesOfOtherRules(for: request, authority)
        do throws(PluginError) {
            guard !others.isEmpty else { return try await runner.run(ask, on: authority, user: user.interface) }
            var all = ask
            all.scopes += others
            do throws(PluginError) { return try await runner.run(all, on: authority, user: user.interface) } catch {
                // The app may not have them.
                guard error.error == "invalid_scope" else { throw error }
                return try await runner.run(ask, on: authority, user: user.interface)
            }
        } catch {
            let key = RecentErrors.Key(request, authority.key, account: account)
            throw .plugin(recentErrors.noted(error, key), name: authority.plugin.name)
        }
    }

    /// Fails a request that waited for a sign-in that the user cancelled; one refusal counts for all that waited.
    private func refuseCancelled(_ run: AcquisitionRun, _ account: StoredAccount?) throws(AcquisitionError) {
        guard let error = recentErrors.cancellation(run.key(account), since: run.began) else { return }
        throw .plugin(error, name: run.authority.plugin.name)
    }
}

extension TokenAcquirer {
    /// Has a plugin look up a credential; nothing of it is stored here.
    private func lookUp(
        _ source: String, for request: TokenRequest, _ finder: UserFinder
    ) async throws(AcquisitionError) -> AcquiredToken {
        let (plugin, row, reference) = try registry.usableSource(source)
        let host = request.host ?? ""
        var ask = PluginRequest(.lookup)
        ask.lookup = PluginLookup(
            source: row.name, reference: reference, host: host.hasSuffix(":443") ? String(host.dropLast(4)) : host,
            path: request.path.map { String($0.utf8.prefix { !"?#".utf8.contains($0) }) ?? $0 },
            username: request.userHint, row: row.row)
        do throws(PluginError) {
            var credential = try await runner.lookup(
                ask, by: plugin, user: LateUser(finder: finder), mayAsk: finder.mayFind)
            credential.keepFor = credential.keepFor ?? row.keepFor
            return AcquiredToken(credential, now: clock())
        } catch {
            throw .plugin(error, name: plugin.name)
        }
    }
}

extension PluginRegistry {
    /// Returns the plugin and the row that a rule's source names, and what the rule says besides.
    ///
    /// - Throws: `unknownSource` or `unusablePlugin`.
    func usableSource(
        _ text: String
    ) throws(AcquisitionError) -> (plugin: PluginManifest, row: PluginSource, reference: String) {
        let (name, reference) = Self.parts(ofSource: text)
        guard let (plugin, row) = source(named: name) else { throw .unknownSource(name, sourceNames) }
        if let problem = plugin.problem { throw .unusablePlugin(problem, name: plugin.name) }
        return (plugin, row, reference)
    }
}

/// A user who is only looked for once a plugin asks something.
private struct LateUser: UserInterface {
    let finder: UserFinder

    func answer(_ event: PluginEvent) async -> PluginReply {
        guard let user = await finder.user else { return .unsupported }
        do throws(AcquisitionError) { try await user.announce?() } catch { return .cancelled }
        return await user.interface.answer(event)
    }

    func progress(_ message: String) async {}

    func end() async { await finder.known?.interface.end() }
}

extension TokenRequest {
    /// Whether an account may be the expected one.
    ///
    /// At a code host that provides no user names, the one in the URL can't be compared. The account is
    /// admitted, or the user would be asked again and again.
    func admits(_ signedIn: AccountRecord) -> Bool {
        guard let expectedAccount, !signedIn.isNamed(expectedAccount) else { return true }
        return account == nil && userHintIsAccount && !signedIn.hasUsername
    }
}

/// Finds the user for one request: at most once, and only if nothing else helps, because looking takes time.
actor UserFinder {
    /// Whether somebody may be there, as far as that shows without looking.
    nonisolated let mayFind: Bool
    private let find: @Sendable () async -> TokenAcquirer.User?
    private var found: TokenAcquirer.User??

    init(mayFind: Bool, _ find: @escaping @Sendable () async -> TokenAcquirer.User?) {
        self.mayFind = mayFind
        self.find = find
    }

    /// The user, if one was looked for and found.
    var known: TokenAcquirer.User? { found ?? nil }

    /// The user; nil if nobody can be asked.
    var user: TokenAcquirer.User? {
        get async {
            if let found { return found }
            let user = mayFind ? await find() : nil
            found = .some(user)
            return user
        }
    }
}
