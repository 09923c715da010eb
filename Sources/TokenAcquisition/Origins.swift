import Addresses
import PluginHost
import Rules
import TokenStore

// A plugin gets only the tokens that came from it: one that is installed later, and claims the same authority, gets none.

extension TokenAcquirer {
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
        case .exchange, .renew, .authenticate, .askPerson, .refuse: break
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
        case .askPerson(let account?): return gone([account.account], at: match)
        case .askPerson(nil), .refuse: return gone(records.accounts, at: match)
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
    public func orphan(_ authority: String) -> AcquisitionError? {
        guard let match = registry.match(authority: authority, isConfigured: true), match.isByWildcard,
            let records = try? keeper.store.withoutPrompts.records(
                matching: RecordQuery(environments: match.place.aliases))
        else { return nil }
        return gone(records.accounts, at: match)
    }

    /// Refuses a sign-in by a plugin that can't be used, or that merely takes any host, in the place of one that is gone.
    func requirePlugin(_ match: AuthorityMatch) throws(AcquisitionError) {
        if let problem = match.plugin.problem { throw .unusablePlugin(problem, name: match.plugin.name) }
        guard match.isByWildcard else { return }
        if let gone = gone(try keeper.load(match.place).accounts, at: match) { throw gone }
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
