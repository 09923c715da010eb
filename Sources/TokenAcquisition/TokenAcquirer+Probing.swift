public import PluginHost
public import PluginWire
public import Rules

// Tests whether `get` would work, without asking the user.

extension TokenAcquirer {
    /// Has the plugin check whether a request's authority can be reached from here or, for a machine's identity,
    /// whether this machine has one.
    public func probe(_ request: TokenRequest) async throws(AcquisitionError) -> PluginProbe {
        let authority = try match(request)
        var ask: PluginRequest
        if case .machine(let id)? = request.identity?.source {
            ask = requests.make(.probe, at: "", authority)
            ask.identify(machine: id, variables: try identities.fields(authority.plugin.variables))
        } else {
            let secret = try requests.clientSecret(of: request.clientID, at: authority)
            ask = try requests.make(.probe, for: request, authority, clientSecret: secret)
        }
        return try await probe(ask, by: authority.plugin)
    }

    /// Returns the plugin that can get a request's tokens from a broker; nil if there is none.
    public func broker(for request: TokenRequest) -> PluginManifest? {
        registry.match(request).flatMap { broker(for: request, at: $0) }
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
        do throws(PluginError) { return try await host.probe(ask, by: plugin, within: limit) } catch {
            throw .plugin(error, name: plugin.name)
        }
    }

    /// Returns why the broker isn't asked at present, or failed a moment ago; nil if no reason is known.
    public func brokerFailure(of plugin: PluginManifest, for request: TokenRequest) -> PluginError? {
        guard let authority = try? match(request) else { return nil }
        // A user who had yet to sign in may have done so in another way since.
        return [decide(request).account, nil].compactMap { account in
            let key = RecentFailures.Key(broker: plugin, request, authority.place, account: account)
            return recentFailures.failure(key, since: .max)
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
        brief.locks.limit = seconds
        var run = AcquisitionRun(request: request, authority: try match(request), began: recentFailures.now)
        run.isAnew = true
        let decision = brief.decide(request, isAnew: true)
        (run.broker, run.clientSecret) = (decision.broker, decision.clientSecret)
        if let token = try await brief.silently(decision, &run) { return token }
        if case .refuse(let error) = decision.step { throw error }
        if case .askPerson = decision.step, let broker = run.broker, let refusal = run.brokerRefusal {
            throw .plugin(refusal, name: broker.name)
        }
        throw .interactionRequired(run.failure, account: decision.account)
    }
}
