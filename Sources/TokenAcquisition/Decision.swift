import Addresses
internal import AnswerCache
public import Keyring
public import Model
public import PluginHost
public import PluginWire
import Rules
import Secrets
import SettingsFile

/// The next step for a request, given what is stored now: `get` carries it out and `explain` prints it.
///
/// Deciding prompts nobody, runs no plugin and changes nothing.
public struct Decision: Sendable {
    /// The possible steps.
    public indirect enum Step: Sendable {
        /// Hand out this token, or this result of an exchange.
        case answer(AcquiredToken)
        /// Exchange this token for the credential that the host accepts.
        case exchange(AcquiredToken)
        /// These refresh tokens of the account are redeemed, best first, until one helps.
        case renew(by: [RefreshTokenRecord], of: StoredAccount)
        /// Have the plugin acquire a token as the identity.
        case authenticate
        /// Only the user helps; with the account that is meant, nil if it has yet to sign in.
        case askUser(StoredAccount?)
        /// Fail, unless the user picks an account, or signs in the one that was named.
        case refuse(AcquisitionError)
    }

    /// The plugin that serves the authority; nil if none does.
    public var match: AuthorityMatch?
    /// Every candidate for the account.
    public var accounts: [AccountRecord] = []
    /// The chosen account; nil if nobody has signed in, or if there are several candidates.
    public var account: AccountRecord?
    /// The reason for the choice.
    public var reason: AccountReason?
    /// Whether the authority is known to accept the account; if not, it may refuse a renewal.
    public var isKnown = true
    /// The stored access token that is to be handed out, or was handed out last.
    public var accessToken: AccessTokenRecord?
    /// The stored result of an exchange, if the host requires one.
    public var exchanged: ExchangedRecord?
    /// Whether there is a refresh token that is worth redeeming.
    public var canRenew = false
    /// The plugin that can ask a broker, another program of the machine that holds a sign-in, for a token; nil if there
    /// is none, or if a stored token can be handed out.
    public var broker: PluginManifest?
    /// Whether the broker's plugin is asked first; `step` is then the next step if the broker has no token.
    public var asksBrokerFirst: Bool { broker != nil && (isBrokered || !canRenew) }
    /// Whether the account's last token came from the broker.
    public var isBrokered = false
    /// The client's secret; nil if none is stored, or if that wasn't read.
    var clientSecret: Secret?
    /// Whether the client's secret is stored.
    public var hasClientSecret: Bool { clientSecret != nil }
    /// The first step.
    public var step: Step

    /// What is stored of the account that another token is wanted for; nil if it has yet to sign in, or none is wanted.
    var stored: StoredAccount? {
        switch step {
        case .renew(by: _, let account): account
        case .askUser(let account): account
        case .answer, .exchange, .authenticate, .refuse: nil
        }
    }

    /// What speaks against the renewal that will be done; nil if nothing does, or none will be.
    public var doubt: RenewalDoubt? {
        guard case .renew(by: _, let account) = step else { return nil }
        guard isKnown else { return .newToRealm }
        return account.selection.isMember ? nil : .othersSignIn
    }

    /// How the user would be asked first to sign in, of the ways that can work here, best first; nil if there are none.
    ///
    /// - Throws: why none of them can be used by the request's client.
    public func signInFlow(
        for request: TokenRequest, among flows: [PluginRequest.Flow]
    ) throws(AcquisitionError) -> PluginRequest.Flow? {
        guard let match else { throw .unknownAuthority(request.authority) }
        guard flows != [.broker] else {
            guard broker != nil else { throw .noBroker }
            return .broker
        }
        return try match.flows(for: request, among: flows.pages, hasSecret: hasClientSecret).first
    }

    /// The stored token that was last handed out, if it is to be replaced now without the user.
    public var replaced: AcquiredToken? {
        switch step {
        case .renew, .authenticate, .exchange: break
        case .answer, .askUser, .refuse: return nil
        }
        if let exchanged { return AcquiredToken(exchanged, account: account, source: .cache) }
        return accessToken.map { AcquiredToken($0, account: account, source: .cache) }
    }
}

/// Why the authority may refuse a renewal, as far as what is stored tells.
public enum RenewalDoubt: Sendable {
    /// The account has never been at this realm.
    case newToRealm
    /// Only other clients have signed in, and nobody knows whether the authority takes their refresh tokens for this one's.
    case othersSignIn
}

/// The reasons for choosing an account.
public enum AccountReason: String, Sendable {
    /// The request, the rule or the configuration names it.
    case named
    /// It has the user name that is in the URL.
    case username
    /// The user chose it for this authority.
    case selectedHere = "selected-here"
    /// The user chose it for all authorities.
    case selected
    /// It has a token for this authority and client, and no other account has one or was chosen as recently.
    case hasToken = "has-token"
    /// It is the only account at home in this tenant.
    case atHome = "at-home"
    /// It is the only account that another client has used at this tenant.
    case hasBeenHere = "has-been-here"
    /// There is no other account.
    case onlyOne = "only-one"
}

/// Decides by what is stored at the moment what to do for requests.
public struct Decider: Serviced {
    let services: AcquisitionServices

    /// The plugin that gets a request's token, and the authority that it gets it from.
    func match(_ request: TokenRequest) throws(AcquisitionError) -> AuthorityMatch {
        guard let match = registry.match(request) else { throw unserved(request) }
        return match
    }

    /// Decides what to do for a request; with `isAnew`, as if no access token were stored.
    ///
    /// `match` is the plugin that serves it, nil to look for it; `known` is what was read of any authorities earlier, nil to
    /// read it now.
    func decide(
        _ request: TokenRequest, at match: AuthorityMatch? = nil, isAnew: Bool = false,
        among known: StoredRecords? = nil
    ) -> Decision {
        if let source = request.source {
            do throws(AcquisitionError) { _ = try registry.usableSource(source) } catch {
                return Decision(step: .refuse(error))
            }
            return Decision(step: .authenticate)
        }
        var decision = Decision(step: .askUser(nil))
        var found: StoredRecords?
        do throws(AcquisitionError) {
            let authority = if let match { match } else { try self.match(request) }
            let place = authority.key
            guard request.identity == nil else {
                var decision = identities.decide(request, at: authority, among: known?.kept(under: place.aliases))
                if let error = obstacle(to: &decision, for: request, isAnew: isAnew, at: authority, among: nil) {
                    decision.step = .refuse(error)
                }
                return decision
            }
            decision.match = authority
            // Before the keyring, whose session may still be opening.
            let history = selection?.read() ?? []
            let records =
                if let known {
                    known.kept(under: place.aliases)
                } else {
                    try keeper.load(authority, for: request.clientID)
                }
            found = records
            decision.clientSecret = records.clientSecret?.secret
            let selection = self.known(records, authority, request, history)
            decision.accounts = selection.accounts
            if let meant = try selection.decision(
                named: request.account, hint: request.userHint, hintIsAccount: request.userHintIsAccount)
            {
                var stored = SilentSelection(
                    records: records, place: place, account: meant.account, request: request,
                    timing: services.timing, now: clock())
                stored.heed(authority)
                let account = StoredAccount(account: meant.account, selection: stored, records: records)
                decision.decide(for: meant, account, isAnew: isAnew)
                if request.exchange != nil, !isAnew { decision.exchange(stored) }
                decision.isKnown = selection.isKnown(meant.account)
            }
            if case .answer = decision.step { return decision }
            if authority.issuer?.needsSecret == true, decision.clientSecret == nil {
                // What was read before is of records only.
                if known != nil {
                    decision.clientSecret = try requests.clientSecret(of: request.clientID, at: authority)
                }
                if decision.clientSecret == nil { throw .noClientSecret }
            }
        } catch {
            decision.step = .refuse(error)
        }
        if let match = decision.match,
            let error = obstacle(to: &decision, for: request, isAnew: isAnew, at: match, among: found)
        {
            decision.step = .refuse(error)
        }
        if let match = decision.match, decision.mayBeBrokered { decision.broker = broker(for: request, at: match) }
        return decision
    }

    /// Returns the reason why a plugin may not do what was decided, given the authority's records; nil if it may.
    ///
    /// Whoever may be handed a stored token gets it, wherever it came from. But a plugin that can't be used has no stand-in, and
    /// what came from one plugin is for no other.
    func obstacle(
        to decision: inout Decision, for request: TokenRequest, isAnew: Bool, at match: AuthorityMatch,
        among records: StoredRecords?
    ) -> AcquisitionError? {
        switch decision.step {
        case .answer, .refuse(.store): return nil
        case .exchange, .renew, .authenticate, .askUser, .refuse: break
        }
        let stored = decision.stored
        guard let error = obstacle(to: &decision, at: match, among: records) else { return nil }
        // As while an authority is down: a token that is valid stays usable, although it can't be renewed.
        if !isAnew, request.exchange == nil, request.needsNoPage,
            let token = stored?.usable(renewsEarly: false) ?? stored?.lastResort
        {
            decision.step = .answer(token)
            return nil
        }
        return error
    }

    private func obstacle(
        to decision: inout Decision, at match: AuthorityMatch, among records: StoredRecords?
    ) -> AcquisitionError? {
        if let problem = match.plugin.problem { return .unusablePlugin(problem, name: match.plugin.name) }
        guard let records else { return nil }
        // A plugin gets only the tokens that came from it: one that is installed later, and claims the same authority,
        // gets none.
        let origin = match.plugin.origin
        switch decision.step {
        case .exchange(let token) where token.plugin != origin: return other(token.plugin, at: match, decision.account)
        case .renew(by: let tokens, of: let account):
            let own = tokens.filter { $0.plugin == origin }
            guard own.isEmpty, let foreign = tokens.first else {
                decision.step = .renew(by: own, of: account)
                return nil
            }
            decision.canRenew = false
            return other(foreign.plugin, at: match, account.account)
        case .askUser(let account?): return gone([account.account], at: match)
        case .askUser(nil), .refuse: return gone(records.accounts, at: match)
        case .answer, .exchange, .authenticate: return nil
        }
    }

    /// Returns the error if the plugin that all of these accounts signed in through is gone; nil if it isn't, or if there are
    /// none.
    func gone(_ accounts: [AccountRecord], at match: AuthorityMatch?) -> AcquisitionError? {
        guard let first = accounts.first,
            accounts.allSatisfy({ $0.plugin != match?.plugin.origin && !registry.hasPlugin(of: $0.plugin) })
        else { return nil }
        return other(first.plugin, at: match, first)
    }

    /// The error for an authority that no plugin serves; the plugin that its accounts signed in through may be gone.
    func unserved(_ request: TokenRequest) -> AcquisitionError {
        guard let url = AuthorityURL(request.authority),
            let records = try? keeper.store.withoutPrompts.records(matching: RecordQuery(environments: [url.host]))
        else { return .unknownAuthority(request.authority) }
        let foreign = records.accounts.filter { $0.plugin != nil }
        return gone(foreign, at: nil) ?? .unknownAuthority(request.authority)
    }

    /// Returns the error if the plugin of an authority's accounts is gone, and only one that takes any host is left; nil if
    /// that isn't known.
    func orphan(_ authority: String) -> AcquisitionError? {
        guard let match = registry.match(authority: authority, isConfigured: true), match.isByWildcard,
            let records = try? keeper.store.withoutPrompts.records(
                matching: RecordQuery(environments: match.key.aliases))
        else { return nil }
        return gone(records.accounts, at: match)
    }

    /// Refuses a sign-in by a plugin that can't be used, or that merely takes any host, in the place of one that is gone.
    func requirePlugin(_ match: AuthorityMatch) throws(AcquisitionError) {
        if let problem = match.plugin.problem { throw .unusablePlugin(problem, name: match.plugin.name) }
        guard match.isByWildcard else { return }
        if let gone = gone(try keeper.load(match.key).accounts, at: match) { throw gone }
    }

    /// Returns the accounts of an authority among the records, and which of them a request's client uses.
    func known(
        _ records: StoredRecords, _ authority: AuthorityMatch, _ request: TokenRequest,
        _ history: [SelectedAccount]? = nil
    ) -> AccountSelection {
        AccountSelection(
            records, at: authority.key, clientID: request.clientID, history: history ?? selection?.read() ?? [],
            isShared: services.configuration.deviceMode == .shared)
    }

    /// Returns the plugin that can get a token from a broker without the user; nil if there is none.
    ///
    /// There is none if no such plugin serves the authority and the client, if its program can't be present, if the
    /// configuration forbids it, or if the request has a prompt for the user.
    func broker(for request: TokenRequest, at match: AuthorityMatch) -> PluginManifest? {
        guard request.needsNoPage else { return nil }
        return anyBroker(for: request, at: match)
    }

    /// Returns the same plugin, whatever prompt the request has.
    private func anyBroker(for request: TokenRequest, at match: AuthorityMatch) -> PluginManifest? {
        guard services.configuration.mayUseBroker, request.identity == nil, request.token == .access,
            request.resourceIndicators.isEmpty,
            let plugin = registry.broker(for: match), plugin.hasNeeds(in: services.environment),
            match.client(request.clientID)?.usable([.broker]).isEmpty != true
        else { return nil }
        return plugin
    }

    /// The broker's plugin, if this sign-in may use it.
    func broker(forSignIn request: TokenRequest, at match: AuthorityMatch, _ user: TokenAcquirer.User)
        -> PluginManifest?
    {
        guard user.flows.contains(.broker) || broker(for: request, at: match) != nil else { return nil }
        return anyBroker(for: request, at: match)
    }

    /// The error for what came from another plugin than the authority's.
    func other(_ origin: String?, at match: AuthorityMatch?, _ account: AccountRecord?) -> AcquisitionError {
        let isUsable = registry.hasPlugin(of: origin)
        return .otherPlugin(
            OtherPlugin(
                origin: origin, problem: registry.problems.first { $0.plugin != nil && $0.plugin == origin },
                isUsable: isUsable, serving: match?.plugin.name,
                maySignIn: match.map { isUsable || !$0.isByWildcard } ?? false, account: account))
    }
}

extension Decision {
    /// Whether the broker may be asked: a token is needed for a chosen account, or for one that has yet to sign in.
    fileprivate var mayBeBrokered: Bool {
        switch step {
        case .renew, .askUser, .refuse(.noSuchAccount): true
        case .answer, .exchange, .authenticate, .refuse: false
        }
    }

    /// Decides by the stored records of the chosen account.
    mutating func decide(for meant: AccountSelection.Chosen, _ found: StoredAccount, isAnew: Bool = false) {
        (account, reason) = (meant.account, meant.reason)
        accessToken = found.selection.freshToken ?? found.selection.lastResort
        isBrokered = found.selection.isBrokered
        let redeemable = found.selection.redeemable
        canRenew = !redeemable.isEmpty
        // A token that is due for early renewal is still usable if it can't be renewed.
        if !isAnew, let token = found.usable(renewsEarly: canRenew) {
            step = .answer(token)
        } else if canRenew, found.selection.mayRenew, found.selection.missingScopes.isEmpty {
            step = .renew(by: redeemable, of: found)
        } else {
            step = .askUser(found)
        }
    }

    /// Decides by the stored results of exchanges, if the host accepts no token.
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

    /// The fingerprints of what the request gets, or got last.
    func current(for request: TokenRequest) -> Set<String> {
        if request.exchange != nil { return exchanged.map(\.fingerprints) ?? [] }
        return accessToken.map { [$0.secret.fingerprint] } ?? []
    }

    /// The store's error, if that is the reason for the refusal.
    public var storeError: KeyringError? {
        guard case .refuse(.store(let error)) = step else { return nil }
        return error
    }
}

extension StoredRecords {
    /// Returns the records that are stored under any of these hosts.
    func kept(under hosts: [String]) -> StoredRecords {
        all.reduce(into: StoredRecords()) { kept, record in
            if hosts.contains(record.environment.lowercased()) { kept.append(record) }
        }
    }
}
