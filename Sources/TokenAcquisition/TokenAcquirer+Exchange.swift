import PluginHost
import PluginWire
import Rules
import Secrets
import TokenStore

extension TokenAcquirer {
    /// Gets what the request's host takes in a token's place: what is stored, or what a token is exchanged for now.
    ///
    /// The token is got as any other. Once there is one, a single process at a time exchanges it, and those that waited find
    /// what came of it.
    func exchanged(
        _ exchange: TokenExchange, _ decision: Decision?, for request: TokenRequest, _ finder: PersonFinder
    ) async throws(AcquisitionError) -> AcquiredToken {
        let asked = recentFailures.now
        let decision = decision ?? decide(request)
        if case .answer(let result) = decision.step { return result }
        do throws(AcquisitionError) {
            let token = try await token(for: request.withoutExchange, by: decision, finder)
            return try await turn(token, for: request, exchange, since: asked, isLast: token.source != .cache) {
                () async throws(AcquisitionError) in
                // What the host refused may have been taken back: a new one shows whether it is the token's fault.
                try self.reject(token.accessToken, for: request.withoutExchange)
                return try await self.token(for: request.withoutExchange.meaning(token.account), by: nil, finder)
            }
        } catch {
            guard let result = decision.exchanged, result.serves(instead: error, at: clock()) else { throw error }
            return AcquiredToken(result, account: decision.account, source: .cache)
        }
    }

    /// Exchanges a token; if the host takes it for bad, another one, unless it is new.
    private func turn(
        _ token: AcquiredToken, for request: TokenRequest, _ exchange: TokenExchange, since asked: Int, isLast: Bool,
        another: () async throws(AcquisitionError) -> AcquiredToken
    ) async throws(AcquisitionError) -> AcquiredToken {
        let authority = try match(request)
        let plugin =
            registry.exchanger(named: exchange.name, forHost: exchange.audience, at: authority)
            ?? authority.plugin
        let meant = request.meaning(token.account)
        let result = try await exclusively(lock(of: exchange, meant, token, authority.place)) {
            () async throws(AcquisitionError) -> AcquiredToken? in
            // Whoever held the lock before may have done the work: what it stored counts.
            if case .answer(let result) = self.decide(meant).step { return result }
            do throws(PluginError) {
                return try await self.ask(token, for: meant, exchange, authority, plugin, since: asked)
            } catch {
                if error.code == .interactionRequired, !isLast { return nil }
                throw .plugin(error, name: plugin.name)
            }
        }
        if let result { return result }
        let newer = try await another()
        // What failed with the other token says nothing of this one.
        let now = recentFailures.now + 1
        return try await turn(newer, for: request, exchange, since: now, isLast: true, another: another)
    }

    /// Has the plugin exchange the token, unless that failed while this process waited, and keeps what comes.
    private func ask(
        _ token: AcquiredToken, for request: TokenRequest, _ exchange: TokenExchange, _ authority: AuthorityMatch,
        _ plugin: PluginManifest, since asked: Int
    ) async throws(PluginError) -> AcquiredToken {
        let key = RecentFailures.Key(exchange, request, authority.place, account: token.account)
        if let failure = recentFailures.failure(key, since: asked) { throw failure }
        tell(.exchanging(exchange.audience))
        let credential: PluginCredential
        do throws(PluginError) {
            credential = try await host.exchange(self.request(exchange, token, request, authority), by: plugin)
        } catch {
            throw recentFailures.noted(error, key)
        }
        recentFailures.forget(key)
        let record = ExchangedRecord(credential, of: token, request, exchange, authority.place, now: clock())
        keep(record, for: request, at: authority.place)
        return AcquiredToken(record, account: token.account, source: .renewed)
    }

    private func request(
        _ exchange: TokenExchange, _ token: AcquiredToken, _ request: TokenRequest, _ authority: AuthorityMatch
    ) -> PluginRequest {
        var ask = pluginRequest(.exchange, at: request.authority, authority)
        ask.clientID = request.clientID
        if case .machine(let id)? = request.identity?.source { ask.identify(machine: id) }
        ask.scopes = request.scopes
        ask.exchange = exchange.name
        ask.audience = exchange.audience
        ask.audiencePath = exchange.path.isEmpty ? nil : exchange.path
        ask.accessToken = token.accessToken
        return ask
    }

    /// Keeps what came, unless the client's account has signed out meanwhile, which an identity never does.
    ///
    /// If it can't be kept it is handed out this once, as a token of such an account is.
    private func keep(_ record: ExchangedRecord, for request: TokenRequest, at place: AuthorityPlace) {
        if request.identity != nil {
            return keep(.exchanged(record), of: RememberedTokens.Owner(request, place))
        }
        guard let stored = try? load(place),
            stored.accessTokens.contains(where: { token in
                token.homeAccountID.lowercased() == record.homeAccountID.lowercased()
                    && token.clientID.lowercased() == record.clientID.lowercased()
            })
        else { return }
        try? store.save([.exchanged(record)])
    }

    /// The lock of what a token is exchanged for: nobody waits for a host but those who need something of it.
    private func lock(
        of exchange: TokenExchange, _ request: TokenRequest, _ token: AcquiredToken, _ place: AuthorityPlace
    ) -> String {
        let owner = [place.environment, request.clientID, token.account?.homeAccountID ?? "", token.realm]
        return (["exchange"] + owner.map { $0.lowercased() } + [exchange.name, exchange.audience, exchange.path])
            .joined(separator: "\n")
    }

    /// Forgets what a consumer says was refused; no credential means whichever is current.
    func rejectExchanged(
        _ refused: Secret?, for request: TokenRequest
    ) throws(AcquisitionError) {
        let place = try match(request).place
        forgetRemembered(refused, for: request, place)
        let records = try stored(for: request, at: place)
        let dropped = records.exchanged.filter { result in
            result.serves(request) && refused.map { $0 == result.secret } ?? true
        }
        guard !dropped.isEmpty else { return }
        try storing { () throws(StoreError) in _ = try store.deleteUnchanged(dropped.map(CredentialRecord.exchanged)) }
    }
}

extension TokenRequest {
    /// The request for the token itself.
    var withoutExchange: TokenRequest {
        var request = self
        request.exchange = nil
        return request
    }

    /// What tells the token from others that are exchanged for the same host: its scopes and resources.
    var exchangeScopes: [String] { scopes + Set(resourceIndicators).sorted().map { "resource:\($0)" } }

    /// The request on behalf of the account that a token turned out to be of.
    fileprivate func meaning(_ account: AccountRecord?) -> TokenRequest {
        var request = self
        request.account = account?.homeAccountID ?? request.account
        return request
    }
}

extension ExchangedRecord {
    /// What a plugin gave for a token.
    fileprivate init(
        _ credential: PluginCredential, of token: AcquiredToken, _ request: TokenRequest, _ exchange: TokenExchange,
        _ place: AuthorityPlace, now: Int
    ) {
        self.init(
            homeAccountID: token.account?.homeAccountID ?? "", environment: place.environment,
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

    /// Whether it does though getting another failed: as long as it lives, if nobody can be asked now; and at any failure, if it
    /// was only to be renewed early.
    fileprivate func serves(instead error: AcquisitionError, at now: Int) -> Bool {
        if case .plugin(let error, _) = error, error.code.isOutage, lives(after: now) { return true }
        return refreshOn.map { $0 <= now } ?? false && lives(after: now + SilentSelection.expiryBuffer)
    }
}

extension RecentFailures.Key {
    /// What a failed exchange is filed under: who is to be left alone is the host.
    fileprivate init(
        _ exchange: TokenExchange, _ request: TokenRequest, _ place: AuthorityPlace, account: AccountRecord?
    ) {
        self.init(request, place, account: account)
        let host = [exchange.name, exchange.audience.lowercased()]
        throttle = (["throttle exchange"] + host).joined(separator: "\n")
        renewal = (["exchange"] + host + [exchange.path, renewal]).joined(separator: "\n")
    }
}
