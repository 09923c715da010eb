import Addresses
internal import AnswerCache
import Keyring
import Model
import PluginHost
import PluginWire
import Secrets

extension TokenAcquirer {
    /// Acquires the credential that the request's host accepts in place of a token: a stored one, or the result of an
    /// exchange.
    ///
    /// The token itself is acquired like any other. Then one process at a time exchanges it, and those that waited find
    /// its result.
    func exchanged(
        _ exchange: TokenExchange, _ decision: Decision?, for request: TokenRequest, _ finder: UserFinder,
        since start: Int? = nil
    ) async throws(AcquisitionError) -> AcquiredToken {
        let asked = start ?? recentErrors.now
        let decision = decision ?? decide(request)
        if case .answer(let result) = decision.step { return result }
        do throws(AcquisitionError) {
            let token = try await token(for: request.withoutExchange, by: decision, finder)
            return try await turn(
                token, for: request, exchange, since: asked, isLast: false,
                hasSubstitute: decision.exchanged?.serves(instead: .busy(nil, .exchange), at: clock()) ?? false
            ) {
                () async throws(AcquisitionError) in
                // A new token wasn't at fault, but what it led to on the way may have been, such as keys that ended.
                if self.isNew(token, for: request) { return token }
                // Another may have been revoked: a new one shows whether the token was at fault.
                try self.reject(.these([token.accessToken.fingerprint]), for: [request.withoutExchange])
                return try await self.token(for: request.withoutExchange.meaning(token.account), by: nil, finder)
            }
        } catch {
            if let request = try await completed(request, after: error, finder), let exchange = request.exchange {
                // What failed a moment ago lacked the value.
                return try await exchanged(exchange, nil, for: request, finder, since: recentErrors.now + 1)
            }
            guard let result = decision.exchanged, result.serves(instead: error, at: clock()) else { throw error }
            return AcquiredToken(result, account: decision.account, source: .cache)
        }
    }

    /// Returns the request with a value that the user picks for what the rule leaves open; nil if that wasn't the error, or nobody
    /// picks one.
    private func completed(
        _ request: TokenRequest, after error: AcquisitionError, _ finder: UserFinder
    ) async throws(AcquisitionError) -> TokenRequest? {
        guard case .plugin(let error, _) = error, let parameter = error.parameter, !error.choices.isEmpty,
            request.exchange?.parameters[parameter] == nil, let user = await finder.user, let pick = user.pick
        else { return nil }
        try await user.announce?()
        guard let value = await pick(error, request) else { return nil }
        var request = request
        request.exchange?.parameters[parameter] = value
        return request
    }

    /// Whether a token was got by this process, or renewed so recently that another renewal would return the same.
    private func isNew(_ token: AcquiredToken, for request: TokenRequest) -> Bool {
        guard token.source == .cache else { return true }
        let stored = decide(request.withoutExchange.meaning(token.account)).accessToken
        return stored.map {
            $0.secret.fingerprint == token.accessToken.fingerprint && Rejection.wasJustRenewed($0, nil, clock())
        } ?? false
    }

    /// Exchanges a token; if the host calls it invalid, once more, with another one unless it is new.
    private func turn(
        _ token: AcquiredToken, for request: TokenRequest, _ exchange: TokenExchange, since asked: Int, isLast: Bool,
        hasSubstitute: Bool, another: () async throws(AcquisitionError) -> AcquiredToken
    ) async throws(AcquisitionError) -> AcquiredToken {
        let authority = try match(request)
        guard token.plugin == authority.plugin.origin else {
            throw decider.other(token.plugin, at: authority, token.account)
        }
        let plugin =
            registry.exchanger(named: exchange.name, forHost: exchange.audience, at: authority)
            ?? authority.plugin
        let meant = request.meaning(token.account)
        let result = try await locks.exclusively(
            lock(of: exchange, meant, token, authority.key), for: .exchange, isRequired: !locks.waits,
            hasSubstitute: hasSubstitute
        ) {
            () async throws(AcquisitionError) -> AcquiredToken? in
            // The process that held the lock before may have done the work; its stored result counts.
            if case .answer(let result) = self.decider.decide(meant, at: authority).step { return result }
            do throws(PluginError) {
                return try await self.ask(token, for: meant, exchange, authority, plugin, since: asked)
            } catch {
                if error.code == .interactionRequired, !isLast { return nil }
                throw .plugin(error, name: plugin.name)
            }
        }
        if let result { return result }
        let newer = try await another()
        // The failure with the other token says nothing about this one.
        let now = recentErrors.now + 1
        return try await turn(
            newer, for: request, exchange, since: now, isLast: true, hasSubstitute: hasSubstitute, another: another)
    }

    /// Has the plugin exchange the token, unless that failed while this process waited, and stores the result.
    private func ask(
        _ token: AcquiredToken, for request: TokenRequest, _ exchange: TokenExchange, _ authority: AuthorityMatch,
        _ plugin: PluginManifest, since asked: Int
    ) async throws(PluginError) -> AcquiredToken {
        let key = RecentErrors.Key(exchange, request, authority.key, account: token.account)
        if let failure = recentErrors.failure(key, since: asked) { throw failure }
        tell(.exchanging(exchange.audience))
        let credential: PluginCredential
        do throws(PluginError) {
            credential = try await runner.exchange(self.request(exchange, token, request, authority), by: plugin)
        } catch {
            throw recentErrors.noted(error, key)
        }
        recentErrors.forget(key)
        let record = ExchangedRecord(credential, of: token, request, exchange, authority.key, now: clock())
        keep(record, for: request, at: authority.key)
        return AcquiredToken(record, account: token.account, source: .renewed)
    }

    private func request(
        _ exchange: TokenExchange, _ token: AcquiredToken, _ request: TokenRequest, _ authority: AuthorityMatch
    ) -> PluginRequest {
        var ask = requests.make(.exchange, at: request.authority, authority)
        ask.clientID = request.clientID
        if case .machine(let id, _)? = request.identity?.source { ask.identify(machine: id) }
        ask.scopes = request.scopes
        ask.exchange = exchange.name
        ask.audience = exchange.audience
        ask.audiencePath = exchange.path.isEmpty ? nil : exchange.path
        ask.exchangeParameters = exchange.parameters
        ask.accessToken = token.accessToken
        return ask
    }

    /// Stores the result, unless the client's account has signed out meanwhile; an identity never signs out.
    ///
    /// If it can't be stored, it is still handed out this once, like a token of an account that signed out.
    private func keep(_ record: ExchangedRecord, for request: TokenRequest, at place: AuthorityKey) {
        if request.identity != nil {
            return identityRecords.keep(.exchanged(record), for: request, at: place)
        }
        guard let stored = try? keeper.load(place),
            stored.accessTokens.contains(where: { token in
                token.homeAccountID?.lowercased() == record.homeAccountID?.lowercased()
                    && token.clientID.clientKey == record.clientID.clientKey
            })
        else { return }
        try? keeper.store.save([.exchanged(record)])
    }

    /// Returns the lock of an exchange's result; a host delays only the processes that need the same result.
    private func lock(
        of exchange: TokenExchange, _ request: TokenRequest, _ token: AcquiredToken, _ place: AuthorityKey
    ) -> String {
        let owner = [place.environment, request.clientID, token.account?.homeAccountID ?? "", token.realm]
        let result = [exchange.name, exchange.audience, exchange.path] + request.exchangeScopes
        return (["exchange"] + owner.map { $0.lowercased() } + result).joined(separator: "\n")
    }
}

extension TokenRequest {
    /// The request for the token itself.
    var withoutExchange: TokenRequest {
        var request = self
        request.exchange = nil
        return request
    }

    /// The key that distinguishes what is exchanged for the same host: the tokens' scopes, resources and kind, and the parameters.
    var exchangeScopes: [String] {
        let parameters = (exchange?.parameters ?? [:]).map { "\($0.key)=\($0.value)".percentEncoded }.sorted()
        return scopes + (resourceKey?.pieces(between: " ").map { "resource:\($0)" } ?? [])
            + parameters.map { "parameter:\($0)" } + (token == .id ? ["token:id"] : [])
    }

    /// Returns the request for the account that the token turned out to belong to.
    fileprivate func meaning(_ account: AccountRecord?) -> TokenRequest {
        var request = self
        request.account = account?.homeAccountID ?? request.account
        return request
    }
}

extension ExchangedRecord {
    /// Creates a record from a plugin's credential.
    fileprivate init(
        _ credential: PluginCredential, of token: AcquiredToken, _ request: TokenRequest, _ exchange: TokenExchange,
        _ place: AuthorityKey, now: Int
    ) {
        self.init(
            homeAccountID: token.account?.homeAccountID, environment: place.environment,
            clientID: request.clientID, realm: token.realm, target: request.exchangeScopes.joined(separator: " "),
            exchange: exchange.name, audience: exchange.audience, cachedAt: now)
        path = exchange.path
        requestedRealm = place.realm
        username = credential.username
        secret = credential.secret
        for field in credential.fields { fields[field.name] = field.value }
        expiresOn = credential.expiresIn.map { now + $0 }
        refreshOn = credential.refreshIn.map { now + $0 }
    }

    /// Whether it can be handed out although acquiring another failed: while it is valid, if nobody can be asked now,
    /// and after any failure, if it was only to be renewed early.
    fileprivate func serves(instead error: AcquisitionError, at now: Int) -> Bool {
        if case .plugin(let error, _) = error, error.code.isOutage, lives(after: now) { return true }
        if case .busy = error, lives(after: now) { return true }
        return refreshOn.map { $0 <= now } ?? false && lives(after: now + SilentSelection.expiryBuffer)
    }
}

extension RecentErrors.Key {
    /// Creates the key of a failed exchange; the host is what is throttled.
    fileprivate init(
        _ exchange: TokenExchange, _ request: TokenRequest, _ place: AuthorityKey, account: AccountRecord?
    ) {
        self.init(request, place, account: account)
        let host = [exchange.name, exchange.audience.lowercased()]
        throttle = (["throttle exchange"] + host).joined(separator: "\n")
        renewal = (["exchange"] + host + [exchange.path, renewal]).joined(separator: "\n")
    }
}
