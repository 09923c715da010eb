import Claims
import JSON
import PluginHost
import PluginWire
import Rules
import Secrets
import TokenStore

// Tokens of sign-ins that another program of the machine holds, a broker: its plugin is asked before the person is.

/// What came of asking the broker in one run, which is done once.
struct BrokerTurn: Sendable {
    let plugin: PluginManifest
    /// Why it has no token; nil until it was asked.
    var refusal: PluginError?

    init?(_ plugin: PluginManifest?) {
        guard let plugin else { return nil }
        self.plugin = plugin
    }

    /// Why the broker itself has to ask the person; nil if it wouldn't, or wasn't asked.
    var wish: PluginError? { refusal.flatMap { $0.code.wantsPerson ? $0 : nil } }
}

extension TokenAcquirer {
    /// Seconds that the broker may take if a person would be asked next.
    private static let patience = 2.0
    /// The same if nobody can be.
    private static let unattendedPatience = 10.0
    /// What is left of that time must be enough to start a plugin.
    private static let leastPatience = Duration.milliseconds(300)

    /// The plugin that a token can be asked of without the person; nil if none serves the authority and the client, its program
    /// can't be there, the configuration forbids it, or the request has a prompt for the person.
    func broker(for request: TokenRequest, at match: AuthorityMatch) -> PluginManifest? {
        guard request.prompt == nil || request.prompt == "none" else { return nil }
        return anyBroker(for: request, at: match)
    }

    /// The same, if the person may be asked.
    private func anyBroker(for request: TokenRequest, at match: AuthorityMatch) -> PluginManifest? {
        guard mayUseBroker, request.identity == nil, request.resourceIndicators.isEmpty,
            let plugin = registry.broker(for: match), plugin.hasNeeds(in: environment),
            match.client(request.clientID)?.usable([.broker]).isEmpty != true
        else { return nil }
        return plugin
    }

    /// What a sign-in has to do with the broker; nil if nothing.
    func brokerTurn(forSignIn request: TokenRequest, at match: AuthorityMatch, _ person: Person) -> BrokerTurn? {
        guard person.flows.contains(.broker) || broker(for: request, at: match) != nil else { return nil }
        return BrokerTurn(anyBroker(for: request, at: match))
    }

    /// Asks the broker for a token, without the person and at most once in a run; nil if there is none, and `turn` says why.
    ///
    /// No failure of the broker's ends a request. `found` is the account that is meant, nil if it has yet to sign in; `asked` is when
    /// the run began. `isAnew` wants a token though one may be stored, and whatever failed a moment ago.
    func askBroker(
        _ turn: inout BrokerTurn?, for request: TokenRequest, _ authority: MatchedAuthority, _ found: SilentAccount?,
        since asked: Int, isAnew: Bool = false, person: () async -> Person?
    ) async throws(AcquisitionError) -> AcquiredToken? {
        guard let plugin = turn?.plugin, turn?.refusal == nil,
            broker(for: request, at: authority.match) != nil
        else { return nil }
        // The tool that asks may wait for less.
        let seconds = min(await person() == nil ? Self.unattendedPatience : Self.patience, longestWait)
        let end = ContinuousClock.now + .seconds(seconds)
        let key = RecentFailures.Key(broker: plugin, request, authority.place, account: found?.account)
        let answer = try await exclusively(key.renewal, within: seconds) {
            () async throws(AcquisitionError) -> BrokerAnswer in
            // Whoever held the lock before may have done the work.
            if !isAnew, case .answer(let token) = self.decide(request).step { return .token(token) }
            if !isAnew, let failure = self.recentFailures.failure(key, since: asked) { return .refusal(failure) }
            let left = ContinuousClock.now.duration(to: end)
            guard left > Self.leastPatience else { return .refusal(.slowBroker) }
            return try await self.ask(plugin, for: request, authority, found?.account, key, within: left)
        }
        switch answer ?? .refusal(.slowBroker) {
        case .token(let token): return token
        case .refusal(let error):
            turn?.refusal = error
            // As at a renewal, a token that still lives serves while nobody can be asked for another.
            guard error.code.isOutage, let found, found.selection.redeemable.isEmpty else { return nil }
            return found.lastResort
        }
    }

    /// What the broker has.
    private enum BrokerAnswer: Sendable {
        case token(AcquiredToken)
        case refusal(PluginError)
    }

    private func ask(
        _ plugin: PluginManifest, for request: TokenRequest, _ authority: MatchedAuthority, _ account: AccountRecord?,
        _ key: RecentFailures.Key, within limit: Duration
    ) async throws(AcquisitionError) -> BrokerAnswer {
        var ask = try pluginRequest(.silent, for: request, authority)
        ask.capabilities = []
        ask.account = account?.homeAccountID
        ask.signIn.loginHint = account == nil ? request.expectedAccount ?? request.signIn.loginHint : nil
        tell(.askingBroker)
        let result: PluginResult
        do throws(PluginError) {
            result = try await host.silent(ask, by: plugin, at: authority.match, within: limit)
            try require(result, for: request, authority)
            if wasJustRefused(result.accessToken, for: request) { throw PluginError.refusedOfBroker }
        } catch {
            if error == .interrupted { throw .plugin(error, name: plugin.name) }
            return .refusal(recentFailures.noted(error, key, lasts: true))
        }
        recentFailures.forget(key)
        let token = try await keep(result, request, authority, redeemed: nil, broker: plugin.name)
        if let signedIn = token.account, account == nil {
            settle(on: signedIn, insteadOf: nil, request, authority)
            tell(.signedIn(signedIn))
        }
        return .token(token)
    }

    /// Refuses what isn't for the account that is expected, or is less than was asked for.
    private func require(
        _ result: PluginResult, for request: TokenRequest, _ authority: MatchedAuthority
    ) throws(PluginError) {
        let made = RecordsOfResult(
            result: result, request: request, place: authority.place, redeemed: nil, now: clock())
        if let account = made.account, !request.admits(account) {
            throw PluginError(.unsupported, "the broker gave a token of another account")
        }
        guard result.declinedScopes.isEmpty else {
            throw PluginError(.unsupported, "the broker was declined some of the scopes")
        }
    }

    /// Takes note that a server refused a token of the broker's, which may give it again.
    func note(refused token: Secret, for request: TokenRequest) {
        let at = JSONValue.integer(Int64(recentFailures.now))
        recentFailures.notes.leave(["at": at], about: Self.refusal(of: token, for: request))
    }

    /// Whether a server refused that very token at the request's place within the last minute.
    private func wasJustRefused(_ token: Secret, for request: TokenRequest) -> Bool {
        let note = recentFailures.notes.note(about: Self.refusal(of: token, for: request))
        guard let at = note?["at"]?.wholeNumber else { return false }
        return (0..<RejectedToken.window * 1000).contains(recentFailures.now - at)
    }

    private static func refusal(of token: Secret, for request: TokenRequest) -> String {
        ["refused of broker", token.reveal().shortDigest, request.host ?? "", request.path ?? ""].joined(
            separator: "\n")
    }

    /// Has the broker ask the person, if it said that it would have to; nil if it isn't its turn, or came to nothing.
    ///
    /// - Throws: that the person refused, and whatever it is if there is no other way to sign in.
    func askPersonByBroker(
        _ turn: BrokerTurn?, _ request: TokenRequest, _ authority: MatchedAuthority, account: AccountRecord?,
        because error: PluginError?, person: Person
    ) async throws(AcquisitionError) -> PluginResult? {
        let isOnlyWay = person.flows == [.broker]
        guard let turn else {
            guard isOnlyWay else { return nil }
            throw .plugin(.noBroker, name: authority.match.plugin.name)
        }
        guard isOnlyWay || turn.wish != nil && person.flows.contains(.broker) else { return nil }
        var ask = try pluginRequest(.authorize, for: request, authority)
        ask.flows = [.broker]
        shape(&ask, for: request, account: account, because: error ?? turn.wish)
        if ask.signIn.prompt == nil || ask.signIn.prompt == "none" { ask.account = account?.homeAccountID }
        name(&ask, purpose: person.purpose)
        ask.claims = request.claims ?? error?.claims
        do throws(PluginError) {
            let result = try await host.authorize(ask, by: turn.plugin, at: authority.match, person: person.interface)
            try require(result, for: request, authority)
            return result
        } catch {
            let key = RecentFailures.Key(request, authority.place, account: account)
            guard error.code == .cancelled || isOnlyWay else {
                let broker = RecentFailures.Key(broker: turn.plugin, request, authority.place, account: account)
                await person.interface.progress(recentFailures.noted(error, broker, lasts: true).message)
                return nil
            }
            throw .plugin(recentFailures.noted(error, key), name: turn.plugin.name)
        }
    }
}

extension PluginError {
    /// The error for a broker that others keep busy, or that took the time that was left.
    fileprivate static let slowBroker = PluginError(.unavailable, "the machine's broker did not answer in time")

    /// The error if a server has just refused what the broker gives.
    fileprivate static let refusedOfBroker = PluginError(
        .interactionRequired, "the server refused the token that the machine's broker gives")

    /// The error if people sign in by a broker only, and there is none.
    fileprivate static let noBroker = PluginError(
        .unsupported, "no broker of this machine signs in here",
        hint: "sign in with --flow auto, or set flow to auto in the configuration")
}

extension RecentFailures.Key {
    /// What a broker's failure is filed under: who is to be left alone is the broker.
    init(
        broker plugin: PluginManifest, _ request: TokenRequest, _ place: AuthorityPlace, account: AccountRecord?
    ) {
        self.init(request, place, account: account)
        throttle = "throttle broker\n\(plugin.name)"
        renewal = "broker\n\(plugin.name)\n\(renewal)"
    }
}
