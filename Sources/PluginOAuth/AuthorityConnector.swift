import FoundationEssentials
package import HTTP
package import OAuth
package import PluginWire
import Secrets

/// Opens connections to the authorities of the host's requests.
package struct AuthorityConnector: Sendable {
    private let environment: [String: String]
    private let limits: Transport.Limits
    private let headers: @Sendable (PluginRequest) -> [(name: String, value: String)]

    /// Creates a connector.
    ///
    /// - Parameters:
    ///   - environment: The variables that configure proxies and certificates.
    ///   - limits: The limits on the time and size of an authority's answer.
    ///   - headers: Additional headers for each request to the authority.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, limits: Transport.Limits = .init(),
        headers: @escaping @Sendable (PluginRequest) -> [(name: String, value: String)] = { _ in [] }
    ) {
        self.environment = environment
        self.limits = limits
        self.headers = headers
    }

    /// Opens a connection to authorities, runs the body and closes the connection.
    package func connected<Value: Sendable>(
        _ request: PluginRequest, _ body: (Transport) async throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let transport: Transport
        do throws(OAuthError) {
            transport = try Transport(settings(for: request))
        } catch {
            throw error.plain
        }
        return try await body(transport)
    }

    private func settings(for request: PluginRequest) -> Transport.Settings {
        var settings = Transport.Settings(
            userAgent: "lanyard/\(Version.current)", environment: environment, limits: limits)
        settings.headers = headers(request)
        settings.network = NetworkSettings(request.network, environment)
        settings.whole =
            switch request.operation {
            case .renew, .exchange, .authenticate: limits.renewal
            case .probe, .revoke, .unregister: limits.probe
            default: nil
            }
        return settings
    }
}

extension NetworkSettings {
    /// What a request's settings and the plugin's environment say.
    package init(_ network: PluginNetwork, _ environment: [String: String]) {
        self.init(environment: environment)
        (caFiles, caFolder) = (network.caFiles, network.caFolder)
        proxy = network.proxy?.reveal()
        proxyAuthentication = network.proxyAuthentication.flatMap(ProxyAuthentication.init)
        (certificate, certificateKey) = (network.certificate, network.certificateKey)
        needsTLS13 = network.oldestTLS == "1.3"
    }
}
