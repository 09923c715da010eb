public import PluginHost
public import Rules
public import TokenStore

/// What will be done for a request with what is stored at one moment: `get` does it, and `explain` tells it.
///
/// It is made without a prompt, a plugin or a change.
public struct Decision: Sendable {
    /// What will be done first.
    public enum Step: Sendable {
        /// This token is handed out, or what one was exchanged for.
        case answer(AcquiredToken)
        /// This token is exchanged for what the host takes.
        case exchange(AcquiredToken)
        /// These refresh tokens are redeemed, best first, until one helps.
        case renew(by: [RefreshTokenRecord])
        /// The plugin gets a token as the identity.
        case authenticate
        /// Only the person helps.
        case askPerson
        /// Nothing can be done, unless the person can say who is meant or sign in who is named.
        case refuse(AcquisitionError)
    }

    /// Which plugin serves the authority; nil if none does.
    public var match: AuthorityMatch?
    /// Every account that could be meant.
    public var accounts: [AccountRecord] = []
    /// The account that is meant; nil if nobody has signed in, or several could be meant.
    public var account: AccountRecord?
    /// How it was chosen.
    public var reason: AccountReason?
    /// Whether the authority is known to accept it: else a renewal may be refused.
    public var isKnown = true
    /// The stored access token that is to be handed out, or was last.
    public var accessToken: AccessTokenRecord?
    /// What is stored that a token was exchanged for, if the host takes such a thing.
    public var exchanged: ExchangedRecord?
    /// Whether a refresh token is there that renewing by may help.
    public var canRenew = false
    /// The plugin that can be asked for a token of a sign-in that another program of the machine holds; nil if none can, or a stored
    /// token does.
    public var broker: PluginManifest?
    /// Whether that plugin is asked first: what `step` says comes next, if it has no token.
    public var asksBrokerFirst: Bool { broker != nil && (isBrokered || !canRenew) }
    /// Whether the last token of the account came from there.
    public var isBrokered = false
    /// What will be done first.
    public var step: Step
    /// What is stored for the account.
    var found: SilentAccount?

    /// What is stored and was last handed out, if it is to be replaced now, without anybody's help.
    public var replaced: AcquiredToken? {
        switch step {
        case .renew, .authenticate, .exchange: break
        case .answer, .askPerson, .refuse: return nil
        }
        if let exchanged { return AcquiredToken(exchanged, account: account, source: .cache) }
        return accessToken.map { AcquiredToken($0, account: account, source: .cache) }
    }
}

/// How the account for a request was chosen.
public enum AccountReason: String, Sendable {
    /// The request, the rule or the configuration names it.
    case named
    /// The user name in the URL is an account's.
    case username
    /// The person chose it for this authority.
    case selectedHere = "selected-here"
    /// The person chose it for all authorities.
    case selected
    /// It has a token for this authority and client, and no other has or was chosen as lately.
    case hasToken = "has-token"
    /// It is the only one from this tenant.
    case atHome = "at-home"
    /// It is the only one that another client has used at this tenant.
    case hasBeenHere = "has-been-here"
    /// There is no other.
    case onlyOne = "only-one"
}

extension TokenAcquirer {
    /// Decides what to do for a request now; a keyring or a rule that is in the way is a step too.
    public func decide(_ request: TokenRequest) -> Decision {
        decide(request) { place throws(AcquisitionError) in try load(place) }
    }

    /// Decides by what was read before, whichever authorities it is of.
    public func decide(_ request: TokenRequest, among records: StoredRecords) -> Decision {
        decide(request) { place in records.kept(under: place.aliases) }
    }

    private func decide(
        _ request: TokenRequest, reading: (AuthorityPlace) throws(AcquisitionError) -> StoredRecords
    ) -> Decision {
        var decision = Decision(step: .askPerson)
        do throws(AcquisitionError) {
            let authority = try match(request)
            if request.identity != nil {
                return decide(request, at: authority, now: clock(), reading: reading)
            }
            decision.match = authority.match
            // Read first: the keyring may still be on its way.
            let history = selection?.read() ?? []
            let records = try reading(authority.place)
            let known = known(records, authority, request, history)
            decision.accounts = known.accounts
            if let meant = try known.decision(
                named: request.account, hint: request.userHint, hintIsAccount: request.userHintIsAccount)
            {
                let stored = SilentSelection(
                    records, place: authority.place, account: meant.account, request: request,
                    renewsLate: authority.match.issuer?.revokesOnRenewal ?? false, timing: timing, now: clock())
                decision.settle(on: meant, SilentAccount(account: meant.account, selection: stored, records: records))
                if request.exchange != nil { decision.exchange(stored) }
                decision.isKnown = known.isKnown(meant.account)
            }
            if case .answer = decision.step { return decision }
            try requireClientSecret(for: request, at: authority.match)
        } catch {
            decision.step = .refuse(error)
        }
        if let match = decision.match, decision.mayBeBrokered { decision.broker = broker(for: request, at: match) }
        return decision
    }
}

extension Decision {
    /// Whether another token is wanted for an account that is settled, or that has yet to sign in.
    fileprivate var mayBeBrokered: Bool {
        switch step {
        case .renew, .askPerson, .refuse(.noSuchAccount): true
        case .answer, .exchange, .authenticate, .refuse: false
        }
    }

    /// Decides by what is stored for the account that is meant.
    mutating func settle(on meant: AccountSelection.Decision, _ found: SilentAccount) {
        account = meant.account
        reason = meant.choice
        self.found = found
        accessToken = found.selection.freshToken ?? found.selection.lastResort
        isBrokered = found.selection.isBrokered
        let redeemable = found.selection.redeemable
        canRenew = !redeemable.isEmpty
        // A token that the authority wants renewed early serves if it can't be.
        if let token = found.usable(renewsEarly: canRenew) {
            step = .answer(token)
        } else if canRenew, found.selection.mayRenew {
            step = .renew(by: redeemable)
        }
    }

    /// Decides by what tokens were exchanged for, if the host takes no token.
    mutating func exchange(_ stored: SilentSelection) {
        exchanged = stored.exchanged
        if let result = stored.freshExchanged {
            var acquired = AcquiredToken(result, account: account, source: .cache)
            acquired.dueOn = stored.dueOn(result)
            step = .answer(acquired)
        } else if case .answer(let token) = step {
            step = .exchange(token)
        }
    }

    /// The account that is meant, with what is stored for it; nil if it has yet to sign in.
    ///
    /// - Throws: what refuses; that the named account hasn't signed in only if nobody is there to sign it in.
    func meant(person: () async -> TokenAcquirer.Person?) async throws(AcquisitionError) -> SilentAccount? {
        guard case .refuse(let error) = step else { return found }
        guard case .noSuchAccount = error, await person() != nil else { throw error }
        return nil
    }

    /// The account that is meant by now; nil if it has signed out.
    var stillMeant: SilentAccount? {
        get throws(AcquisitionError) {
            guard case .refuse(let error) = step else { return found }
            guard case .noSuchAccount = error else { throw error }
            return nil
        }
    }

    /// The store's failure, which nothing but the store's recovery helps with.
    public var storeError: StoreError? {
        guard case .refuse(.store(let error)) = step else { return nil }
        return error
    }
}

extension StoredRecords {
    /// Those that are kept under any of these hosts.
    fileprivate func kept(under hosts: [String]) -> StoredRecords {
        all.reduce(into: StoredRecords()) { kept, record in
            if hosts.contains(record.environment.lowercased()) { kept.append(record) }
        }
    }
}
