public import PluginHost
public import PluginWire
public import Rules
public import TokenStore

/// Gets tokens as MSAL does, host and plugins together: from the store, else by a refresh token, else from the person.
public struct TokenAcquirer: Sendable {
    /// Who can be asked, and how.
    public struct Person: Sendable {
        /// Shows pages and codes, and asks.
        public var interface: any PersonInterface
        /// The flows that can work here, best first.
        public var flows: [PluginRequest.Flow]
        /// Asks which of several accounts is meant; nil if that can't be asked.
        public var chooser: (any AccountChooser)?
        /// What they are asked to sign in for, in words for them; nil leaves the resource's name.
        public var purpose: String?

        /// Makes a person.
        public init(
            interface: any PersonInterface, flows: [PluginRequest.Flow], chooser: (any AccountChooser)? = nil,
            purpose: String? = nil
        ) {
            self.interface = interface
            self.flows = flows
            self.chooser = chooser
            self.purpose = purpose
        }
    }

    let store: any RecordStore
    let clientSecrets: ClientSecretStore?
    private let plugins: InstalledPlugins
    let host: PluginRunner
    let singleFlight: SingleFlight
    let recentFailures: RecentFailures
    let caFile: String?
    let knownHosts: [String]
    let selection: SelectionFile?
    let isShared: Bool
    /// Whether the configuration lets tokens be asked of a program of the machine that holds sign-ins.
    let mayUseBroker: Bool
    /// Where identities' tokens are kept if there is no keyring; nil for nowhere.
    let remembered: RememberedTokens?
    /// The variables of the process, which identities may be found and proved by.
    let environment: [String: String]
    /// When tokens are renewed that can still be handed out.
    let timing: RenewalTiming
    /// Seconds to wait for another process: longer than a person has, who may be signing in there.
    var longestWait: Double
    let clock: @Sendable () -> Int
    let tell: @Sendable (AcquisitionProgress) -> Void

    /// Makes an acquirer.
    ///
    /// `clientSecrets` is where clients' secrets are kept, `selection` where chosen accounts are and `remembered` where identities'
    /// tokens are if there is no keyring, nil for nowhere; `environment` has the process's variables; `patience`
    /// is how many seconds another process may take, nil for as long as a person; `timing` says whether others renew tokens; `clock` gives seconds since 1970; `tell` is told
    /// what may take long, before it does.
    public init(
        store: any RecordStore, clientSecrets: ClientSecretStore? = nil, plugins: InstalledPlugins, host: PluginRunner,
        singleFlight: SingleFlight, notes: SharedNotes, configuration: Configuration, selection: SelectionFile? = nil,
        remembered: RememberedTokens? = nil, environment: [String: String] = [:], patience: Double? = nil,
        timing: RenewalTiming = .whenDue, clock: @escaping @Sendable () -> Int,
        tell: @escaping @Sendable (AcquisitionProgress) -> Void = { _ in }
    ) {
        self.store = store
        self.clientSecrets = clientSecrets
        self.plugins = plugins
        self.host = host
        self.singleFlight = singleFlight
        recentFailures = RecentFailures(notes: notes)
        caFile = configuration.caFile
        knownHosts = configuration.configuredHosts
        isShared = configuration.deviceMode == .shared
        mayUseBroker = configuration.mayUseBroker
        longestWait = patience ?? Double(configuration.timeout) + 60
        self.selection = selection
        self.remembered = configuration.answerCache ? remembered : nil
        self.environment = environment
        self.timing = timing
        self.clock = clock
        self.tell = tell
    }

    var registry: PluginRegistry { plugins.registry }

    /// Gets a token, from the person only if there is one and nothing else helps.
    ///
    /// `decision` is what was decided a moment ago; nil if nothing was. `person` is called when only a person helps, and not
    /// before: finding out whether somebody is there takes time.
    public func token(
        for request: TokenRequest, by decision: Decision? = nil, person: @Sendable () async -> Person?
    ) async throws(AcquisitionError) -> AcquiredToken {
        if let exchange = request.exchange {
            return try await exchanged(exchange, decision, for: request, person: person)
        }
        if request.identity != nil { return try await authenticated(decision, for: request) }
        do throws(AcquisitionError) {
            return try await carryOut(decision, for: request, person: person)
        } catch {
            guard case .ambiguousAccount(let accounts, isShared: false) = error else { throw error }
            return try await tokenOfChosen(among: accounts, request, person: person)
        }
    }

    /// Does what was decided for the account that the request means by itself, or decides now.
    func carryOut(
        _ decision: Decision?, for request: TokenRequest, person: @Sendable () async -> Person?
    ) async throws(AcquisitionError) -> AcquiredToken {
        let asked = recentFailures.now
        let authority = try match(request)
        let decision = decision ?? decide(request)
        if case .answer(let token) = decision.step { return token }
        var broker = BrokerTurn(decision.broker)
        if decision.asksBrokerFirst {
            let token = try await askBroker(
                &broker, for: decision.found?.heeding(request) ?? request, authority, decision.found, since: asked,
                person: person)
            if let token { return token }
        }
        let found = try await decision.meant(person: person)
        var failed = FailedRenewal()
        if let found {
            // Waits for those that renew by the same refresh token, and not for whoever is signing in.
            switch try await renew(request, authority, found, since: asked) {
            case .renewed(let token): return token
            case .needsPerson(let failure): failed = failure
            }
        }
        let (left, turn) = (failed, broker)
        return try await alone(request, account: found?.account) { () async throws(AcquisitionError) in
            try await self.renewOrSignIn(request, authority, since: asked, after: left, broker: turn, person: person)
        }
    }

    /// Has the person sign in, whatever is stored.
    public func signIn(_ request: TokenRequest, person: Person) async throws(AcquisitionError) -> AcquiredToken {
        let authority = try match(request)
        return try await alone(request, account: nil) { () async throws(AcquisitionError) in
            var broker = self.brokerTurn(forSignIn: request, at: authority.match, person)
            let token = try await self.askBroker(
                &broker, for: request, authority, nil, since: self.recentFailures.now, isAnew: true,
                person: { person })
            if let token { return token }
            // Here `none` means: without a page, by the session that the browser has.
            return try await self.signIn(
                request, authority, account: nil, because: nil, broker: broker, person: person)
        }
    }

    // MARK: - Steps

    private func renewOrSignIn(
        _ request: TokenRequest, _ authority: MatchedAuthority, since asked: Int, after failed: FailedRenewal,
        broker: BrokerTurn?, person: () async -> Person?
    ) async throws(AcquisitionError) -> AcquiredToken {
        var broker = broker
        // Whoever held the lock before may have done the work: what it stored counts.
        guard let found = try await decide(request).meant(person: person) else {
            try refuseCancelled(request, authority, account: nil, since: asked)
            let token = try await askBroker(&broker, for: request, authority, nil, since: asked, person: person)
            if let token { return token }
            return try await askPerson(
                request, authority, account: nil, because: broker?.wish, broker: broker, person: await person())
        }
        if let token = found.usable(renewsEarly: true) { return token }
        switch try await renew(request, authority, found, since: asked, after: failed) {
        case .renewed(let token): return token
        case .needsPerson(let failure):
            let missed = request.claims == nil ? found.selection.missedClaims : nil
            let heeding = found.heeding(request)
            try refuseCancelled(heeding, authority, account: found.account, since: asked)
            let refused = found.selection.secondsToRenewal.map(PluginError.refused)
            let token = try await askBroker(&broker, for: heeding, authority, found, since: asked, person: person)
            if let token { return token }
            let reason = failure.error ?? missed.map(PluginError.missing) ?? refused ?? broker?.wish
            let person = await person()
            if person == nil, let token = found.refusedToken { return token }
            return try await askPerson(
                heeding, authority, account: found.account, because: reason, broker: broker, person: person)
        }
    }

    private func askPerson(
        _ request: TokenRequest, _ authority: MatchedAuthority, account: AccountRecord?, because error: PluginError?,
        broker: BrokerTurn?, person: Person?
    ) async throws(AcquisitionError) -> AcquiredToken {
        guard let person, request.prompt != "none" else { throw .interactionRequired(error, account: account) }
        return try await signIn(
            request, authority, account: account, because: error, broker: broker, person: person)
    }

    private func signIn(
        _ request: TokenRequest, _ authority: MatchedAuthority, account: AccountRecord?, because error: PluginError?,
        broker: BrokerTurn?, person: Person
    ) async throws(AcquisitionError) -> AcquiredToken {
        // A sign-in that cannot be kept would be asked for again at once.
        tell(.usingKeyring)
        try storing { () throws(StoreError) in try requireWritable() }
        tell(.startingSignIn(request.authority))
        let key = RecentFailures.Key(request, authority.place, account: account)
        // A page that opens unasked says why; without a cause, it is the first sign-in or one that was asked for.
        if let error {
            let name = account?.username ?? ""
            await person.interface.progress("\(name.isEmpty ? "you" : name) must sign in again: \(error.message)")
        }
        let given = try await askPersonByBroker(
            broker, request, authority, account: account, because: error, person: person)
        let result =
            if let given { given } else {
                try await askPersonByPage(
                    request, authority, account: account, because: error, person: person)
            }
        recentFailures.forget(key)
        let token = try await keep(
            result, request, authority, redeemed: nil, broker: given == nil ? nil : broker?.plugin.name)
        guard let signedIn = token.account else { return token }
        if let wanted = request.expectedAccount, !request.admits(signedIn) {
            let known = (try? allRecords()).map { accounts(among: $0).accounts.map(\.account) }
            throw .wrongAccount(wanted: wanted, signedIn: signedIn, known: known ?? [signedIn])
        }
        settle(on: signedIn, insteadOf: account, request, authority)
        tell(.signedIn(signedIn))
        return token
    }

    private func askPersonByPage(
        _ request: TokenRequest, _ authority: MatchedAuthority, account: AccountRecord?, because error: PluginError?,
        person: Person
    ) async throws(AcquisitionError) -> PluginResult {
        var ask = try pluginRequest(.authorize, for: request, authority)
        try route(&ask, for: request, authority, person.flows.filter { $0 != .broker })
        shape(&ask, for: request, account: account, because: error)
        name(&ask, purpose: person.purpose)
        ask.claims = request.claims ?? error?.claims
        do throws(PluginError) {
            return try await host.run(ask, on: authority.match, person: person.interface)
        } catch {
            let key = RecentFailures.Key(request, authority.place, account: account)
            throw .plugin(recentFailures.noted(error, key), name: authority.match.plugin.name)
        }
    }

    /// Ends what waited for a sign-in that the person has cancelled: they said no once, and for all that waited.
    private func refuseCancelled(
        _ request: TokenRequest, _ authority: MatchedAuthority, account: AccountRecord?, since asked: Int
    ) throws(AcquisitionError) {
        let key = RecentFailures.Key(request, authority.place, account: account)
        guard let error = recentFailures.cancellation(key, since: asked) else { return }
        throw .plugin(error, name: authority.match.plugin.name)
    }
}

extension TokenRequest {
    /// Whether an account may be the one that is expected.
    ///
    /// At a code host that tells no user names the one in the URL can't be compared, and would be asked for again and again.
    func admits(_ signedIn: AccountRecord) -> Bool {
        guard let expectedAccount, !signedIn.isNamed(expectedAccount) else { return true }
        return account == nil && userHintIsAccount && !signedIn.hasUsername
    }
}
