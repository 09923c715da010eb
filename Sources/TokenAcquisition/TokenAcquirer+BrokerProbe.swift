public import PluginHost
public import PluginWire
public import Rules

extension TokenAcquirer {
    /// The plugin that a request's tokens can be asked of if another program of the machine holds the sign-in; nil if none can.
    public func broker(for request: TokenRequest) -> PluginManifest? {
        registry.match(request).flatMap { broker(for: request, at: $0) }
    }

    /// Has that plugin find out whether the program is there; starts it if it can be.
    public func probeBroker(
        _ plugin: PluginManifest, for request: TokenRequest
    ) async throws(AcquisitionError) -> PluginProbe {
        var ask = brokerRequest(.probe, for: request, try match(request))
        ask.claims = nil
        ask.capabilities = []
        do throws(PluginError) {
            return try await host.probe(ask, by: plugin)
        } catch {
            throw .plugin(error, name: plugin.name)
        }
    }

    /// Why the program isn't asked at present, or was of no use a moment ago; nil if nothing is known.
    public func brokerFailure(of plugin: PluginManifest, for request: TokenRequest) -> PluginError? {
        guard let authority = try? match(request) else { return nil }
        // Whoever had yet to sign in may have done so since, in another way.
        return [decide(request).account, nil].lazy.compactMap { account in
            let key = RecentFailures.Key(broker: plugin, request, authority.place, account: account)
            return recentFailures.failure(key, since: .max)
        }.first
    }
}
