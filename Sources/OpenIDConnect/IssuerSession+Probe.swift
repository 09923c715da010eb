import FoundationEssentials
import OAuth
import PluginWire

extension IssuerSession {
    /// What works, once the issuer's own word was found to be right.
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

    /// Whether the issuer's servers answer at all: nothing was asked of them yet.
    private func reach() async throws(OAuthError) {
        _ = try await transport.get(request.authority)
    }

    /// Whether the issuer knows the client and its scopes; false if it doesn't say.
    ///
    /// Whoever asks for a device code must name both, and nobody has to be there. If the client may not have one, a sign-in by the
    /// browser may work all the same.
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
