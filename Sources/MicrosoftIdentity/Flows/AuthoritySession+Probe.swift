import FoundationEssentials
import OAuth
import PluginWire

extension AuthoritySession {
    /// Returns the checks that succeeded, given valid metadata.
    func probe() async throws(PluginError) -> PluginProbe {
        let isClientKnown = try await knowsClient()
        return PluginProbe(
            isClientKnown ? [.authority, .client] : [.authority],
            time: configuration.clockLead.map { Int(max(Date.now.timeIntervalSince1970 + $0, 0)) },
            proxy: transport.proxy(for: authority.url))
    }

    /// Whether the authority knows the client and its scopes; false if it doesn't say.
    ///
    /// A request for a device code must name both, and doesn't involve a user. If a policy forbids device codes, or the
    /// client must authenticate, a sign-in in the browser may work nevertheless.
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
