import PluginHost
public import PluginWire
public import Rules

// Whether what `get` would do works, tried without asking anybody.

extension TokenAcquirer {
    /// Has the plugin find out whether a request's authority can be asked from here, or, for a machine's identity, whether this is a
    /// machine that has any.
    public func probe(_ request: TokenRequest) async throws(AcquisitionError) -> PluginProbe {
        let authority = try match(request)
        var ask: PluginRequest
        if case .machine(let id)? = request.identity?.source {
            ask = pluginRequest(.probe, at: "", authority.match)
            ask.identify(machine: id, variables: fields(authority.match.plugin.variables))
        } else {
            ask = try pluginRequest(.probe, for: request, authority)
        }
        ask.claims = nil
        ask.capabilities = []
        do throws(PluginError) {
            return try await host.probe(ask, by: authority.match.plugin)
        } catch {
            throw .plugin(error, name: authority.match.plugin.name)
        }
    }

    /// Renews the token of a request, though what is stored may serve still, and stores what comes.
    ///
    /// It is the renewal that `get` does, by the same refresh tokens and under the same locks: a new refresh token is kept,
    /// and a dead one is removed. What the machine's broker gave is asked for there.
    ///
    /// - Parameters:
    ///   - request: whose account is renewed, as `get` would choose it.
    ///   - seconds: how long to wait for other processes that renew by the same refresh token.
    /// - Returns: the new token.
    /// - Throws: `interactionRequired` if there is nothing to renew by, or the authority wants the person.
    public func renewNow(
        _ request: TokenRequest, waitingAtMost seconds: Double
    ) async throws(AcquisitionError) -> AcquiredToken {
        var brief = self
        brief.longestWait = seconds
        let asked = recentFailures.now
        let authority = try match(request)
        guard let found = try await decide(request).meant(person: { nil }) else { throw .interactionRequired(nil) }
        if found.selection.isBrokered || found.selection.redeemable.isEmpty {
            var broker = BrokerTurn(broker(for: request, at: authority.match))
            let token = try await askBroker(
                &broker, for: request, authority, found, since: asked, isAnew: true, person: { nil })
            if let token { return token }
            if found.selection.redeemable.isEmpty {
                throw broker?.refusal.map { .plugin($0, name: broker?.plugin.name ?? "") }
                    ?? .interactionRequired(nil, account: found.account)
            }
        }
        switch try await brief.renew(request, authority, found, since: asked, .always) {
        case .renewed(let token): return token
        case .needsPerson(let failed): throw .interactionRequired(failed.error, account: found.account)
        }
    }
}
