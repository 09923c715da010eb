import FoundationEssentials
import OAuth
import PluginWire

extension AuthoritySession {
    /// What works, once the authority's own word was found to be right.
    func probe() async throws(PluginError) -> PluginProbe {
        let isClientKnown = try await knowsClient()
        return PluginProbe(
            isClientKnown ? [.authority, .client] : [.authority],
            time: configuration.clockLead.map { Int(max(Date.now.timeIntervalSince1970 + $0, 0)) },
            proxy: transport.proxy(for: authority.url))
    }

    /// Whether the authority knows the client and its scopes; false if it doesn't say.
    ///
    /// Whoever asks for a device code must name both, and nobody has to be there. If codes are forbidden, by a policy or
    /// because the client must prove who it is, a sign-in by the browser may work all the same.
    private func knowsClient() async throws(PluginError) -> Bool {
        guard let endpoint = configuration.endpoints.deviceAuthorization else { return false }
        do throws(OAuthError) {
            _ = try await client.deviceCode(from: endpoint)
            return true
        } catch {
            let error = pluginError(error)
            let isAboutCodes = [.interactionRequired, .cancelled, .unsupported].contains(error.code)
            guard isAboutCodes || error.error == "invalid_client" else { throw error }
            return false
        }
    }
}
