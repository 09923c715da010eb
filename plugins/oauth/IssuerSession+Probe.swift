import FoundationEssentials
import OAuth
import PluginWire

extension IssuerSession {
    /// Returns the checks that succeeded, given valid metadata.
    func probe() async throws(PluginError) -> PluginProbe {
        do throws(OAuthError) {
            if metadata.isConfigured { try await reach() }
            let isClientKnown = try await knowsClient()
            return PluginProbe(
                isClientKnown ? [.authority, .client] : [.authority],
                time: metadata.clockLead.map { Int(max(Date.now.timeIntervalSince1970 + $0, 0)) },
                proxy: transport.proxy(for: request.authority))
        } catch {
            throw pluginError(error)
        }
    }

    /// Checks whether the issuer's servers answer at all; configured metadata needed no request.
    private func reach() async throws(OAuthError) {
        _ = try await transport.get(request.authority)
    }

    /// Whether the issuer knows the client and its scopes; false if it doesn't say.
    ///
    /// A request for a device code must name both, and doesn't involve a user. If the client may not use device codes,
    /// a sign-in in the browser may work nevertheless.
    private func knowsClient() async throws(OAuthError) -> Bool {
        guard let endpoint = metadata.endpoints.deviceAuthorization else { return false }
        do throws(OAuthError) {
            _ = try await client.deviceCode(from: endpoint)
            return true
        } catch {
            guard mayDoBetterElsewhere(after: error) else { throw error }
            return false
        }
    }
}
