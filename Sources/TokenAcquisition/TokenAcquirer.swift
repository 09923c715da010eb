public import AnswerCache
public import Keyring
public import PluginHost
public import PluginWire
public import Rules
import Secrets
import Synchronization

/// Acquires tokens as MSAL does, but with the work split between host and plugins: from the store, else by a refresh
/// token, else from the user.
public struct TokenAcquirer: Sendable {
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

    var keeper: RecordKeeper
    let requests: PluginRequests
    let host: PluginRunner
    let recentErrors: RecentErrors
    let selection: SelectionFile?
    let isShared: Bool
    /// Whether the configuration allows asking a broker, another program of the machine that holds sign-ins.
    let mayUseBroker: Bool
    let identityRecords: IdentityRecords
    /// The variables of the process, which may select and prove an identity.
    let environment: [String: String]
    /// When to renew tokens that can still be handed out.
    let timing: RenewalTiming
    /// Has refresh tokens redeemed by another process; nil if this one may redeem them.
    let redeemer: (any Redeemer)?
    private let patience: Double?

    /// Creates an acquirer.
    ///
    /// `clientSecrets` stores clients' secrets, `selection` the chosen accounts, and `remembered` identities' tokens if
    /// there is no keyring; nil for none. `environment` has the process's variables. `patience` is the number of
    /// seconds that another process may take; nil for as long as a user may take. `timing` says when tokens are renewed
    /// that can still be handed out. `redeemer` has refresh tokens redeemed by another process; nil to redeem them here.
    /// `clock` returns seconds since 1970. `tell` is called before each step that may
    /// take long.
    public init(
        store: RecordStore, clientSecrets: ClientSecretStore? = nil, plugins: InstalledPlugins, host: PluginRunner,
        singleFlight: SingleFlight, notes: SharedNotes, configuration: Configuration, selection: SelectionFile? = nil,
        remembered: RememberedTokens? = nil, environment: [String: String] = [:], patience: Double? = nil,
        timing: RenewalTiming = .whenDue, redeemer: (any Redeemer)? = nil, clock: @escaping @Sendable () -> Int,
        tell: @escaping @Sendable (AcquisitionProgress) -> Void = { _ in }
    ) {
        self.host = host
        recentErrors = RecentErrors(notes: notes)
        requests = PluginRequests(
            plugins: plugins, clientSecrets: clientSecrets, caFile: configuration.caFile,
            knownHosts: configuration.configuredHosts, issuerHosts: configuration.issuerHosts)
        isShared = configuration.deviceMode == .shared
        mayUseBroker = configuration.mayUseBroker
        let locks = ProcessLocks(
            singleFlight: singleFlight, longestSignIn: Double(configuration.timeout) + 60, limit: patience,
            waits: timing != .ahead, tell: tell)
        keeper = RecordKeeper(store: store, clientSecrets: clientSecrets, locks: locks, clock: clock)
        identityRecords = IdentityRecords(
            keyring: store.withoutPrompts, remembered: configuration.answerCache ? remembered : nil, clock: clock)
        self.environment = environment
        self.selection = selection
        self.timing = timing
        self.redeemer = redeemer
        self.patience = patience
    }

    var locks: ProcessLocks {
        get { keeper.locks }
        set { keeper.locks = newValue }
    }
    var clock: @Sendable () -> Int { keeper.clock }
    var tell: @Sendable (AcquisitionProgress) -> Void { locks.tell }
    var registry: PluginRegistry { requests.plugins.registry }
    var identities: IdentityTokens {
        IdentityTokens(
            records: identityRecords, requests: requests, host: host, recentErrors: recentErrors, locks: locks,
            environment: environment, timing: timing, clock: clock)
    }
    private var renewal: Renewal {
        Renewal(
            keeper: keeper, requests: requests, host: host, recentErrors: recentErrors, timing: timing,
            redeemer: redeemer, patience: patience
        ) { request, isAnew in decide(request, isAnew: isAnew) }
    }
    var refusedTokens: RefusedTokens {
        RefusedTokens(keeper: keeper, identities: identityRecords, notes: recentErrors.notes)
    }

    /// The plugin that gets a request's token, and the authority that it gets it from.
    func match(_ request: TokenRequest) throws(AcquisitionError) -> AuthorityMatch {
        guard let match = registry.match(request) else { throw unserved(request) }
        return match
    }

    /// Acquires a token, asking the user only if there is one and nothing else helps.
    ///
    /// `decision` is what was decided a moment ago; nil if nothing was. `mayAsk` says whether somebody may be there, as far as that
    /// shows at once. `user` is called once at most, when only the user can help: finding out whether somebody is there takes time.
    public func token(
        for request: TokenRequest, by decision: Decision? = nil, mayAsk: Bool = true,
        user: @escaping @Sendable () async -> User?
    ) async throws(AcquisitionError) -> AcquiredToken {
        let finder = UserFinder(mayFind: mayAsk, user)
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
        var run = AcquisitionRun(request: request, authority: try match(request), began: recentErrors.now)
        run.mayAsk = finder.mayFind
        let decision = decision ?? decide(request)
        (run.broker, run.clientSecret) = (decision.broker, decision.clientSecret)
        // Waits for processes that use the same refresh token, but not for a sign-in.
        if let token = try await silently(decision, &run) { return token }
        try await requireSomebody(for: decision, finder)
        let attempted = run
        return try await locks.alone(request, account: decision.account) { () async throws(AcquisitionError) in
            var run = attempted
            // The process that held the lock before may have done the work; its stored result counts.
            let decision = self.decide(request)
            run.clientSecret = decision.clientSecret
            if let token = try await self.silently(decision, &run) { return token }
            try await self.requireSomebody(for: decision, finder)
            return try await self.askUser(decision, run, finder)
        }
    }

    /// Has the user sign in, whatever is stored.
    public func signIn(_ request: TokenRequest, user: User) async throws(AcquisitionError) -> AcquiredToken {
        let authority = try match(request)
        try requirePlugin(authority)
        return try await locks.alone(request, account: nil) { () async throws(AcquisitionError) in
            var run = AcquisitionRun(request: request, authority: authority, began: self.recentErrors.now)
            (run.isAnew, run.mayAsk) = (true, true)
            run.broker = self.broker(forSignIn: request, at: authority, user)
            if self.broker(for: request, at: authority) != nil, let token = try await self.askBroker(nil, &run) {
                return token
            }
            run.clientSecret = try self.requests.clientSecret(of: request.clientID, at: authority)
            // Here `none` means: without a page, using the browser's session.
            return try await self.signIn(run, account: nil, because: nil, user)
        }
    }

    /// Redeems a refresh token as another process ordered, and stores the result.
    ///
    /// - Parameters:
    ///   - order: The order; this acquirer's timing must be the order's, and it must have no redeemer.
    ///   - deliver: Takes the outcome, once. If the result can't be stored, this is called first, and the function
    ///     returns when a new refresh token has been stored, or after half an hour.
    public func redeem(_ order: Redemption, deliver: @escaping @Sendable (RedemptionOutcome) -> Void) async {
        guard let authority = try? match(order.request) else { return deliver(.changed) }
        var run = AcquisitionRun(request: order.request, authority: authority, began: order.began)
        (run.isAnew, run.tried) = (order.isAnew, order.tried)
        var patient = self
        patient.locks.limit = order.patience
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
    public func reject(_ refused: Refused, for requests: [TokenRequest]) throws(AcquisitionError) -> Bool {
        let known = requests.compactMap { request in registry.match(request).map { (wanted: request, authority: $0) } }
        switch refused {
        case .these(let fingerprints):
            return try refusedTokens.reject(fingerprints, for: known, isReported: true)
        case .current:
            guard var first = known.first else { return false }
            (first.wanted.claims, first.wanted.prompt) = (nil, nil)
            let decision = decide(first.wanted)
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
        try storing { () throws(StoreError) in try requireWritable() }
        try await user.announce?()
        tell(.startingSignIn(request.authority))
        let key = RecentErrors.Key(request, authority.place, account: account)
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
        let token = try await keeper.keep(
            result, request, authority, redeemed: nil, broker: given == nil ? nil : run.broker?.name)
        guard let signedIn = token.account else { return token }
        if let wanted = request.expectedAccount, !request.admits(signedIn) {
            let known = (try? allRecords()).map { accounts(among: $0).accounts.map(\.account) }
            throw .wrongAccount(wanted: wanted, signedIn: signedIn, known: known ?? [signedIn])
        }
        settle(on: signedIn, insteadOf: account, request, authority)
        tell(.signedIn(signedIn))
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
        do throws(PluginError) {
            return try await host.run(ask, on: authority, user: user.interface)
        } catch {
            let key = RecentErrors.Key(request, authority.place, account: account)
            throw .plugin(recentErrors.noted(error, key), name: authority.plugin.name)
        }
    }

    /// Fails a request that waited for a sign-in that the user cancelled; one refusal counts for all that waited.
    private func refuseCancelled(_ run: AcquisitionRun, _ account: StoredAccount?) throws(AcquisitionError) {
        guard let error = recentErrors.cancellation(run.key(account), since: run.began) else { return }
        throw .plugin(error, name: run.authority.plugin.name)
    }
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
