package import OAuth
import PluginKit
package import PluginWire
package import Secrets

extension PluginRequest {
    /// The ways to sign in that the request lets be used, in OAuth's terms.
    ///
    /// - Parameter plugin: the plugin's name.
    /// - Returns: those that are known, best first.
    /// - Throws: `unsupported` if it names none that is known.
    package func oauthFlows(of plugin: String) throws(PluginError) -> [OAuth.Flow] {
        let asked = flows.isEmpty ? [.browser, .deviceCode] : flows
        let known = asked.compactMap { Self.oauthFlows[$0] }
        guard !known.isEmpty else {
            throw PluginError(
                .unsupported, "none of the flows asked for is known to \(plugin)",
                hint: "use browser, device-code or paste")
        }
        return known
    }

    private static let oauthFlows: [PluginRequest.Flow: OAuth.Flow] = [
        .browser: .browser, .deviceCode: .deviceCode, .paste: .paste,
    ]

    /// The refresh token that the request is about.
    ///
    /// - Throws: `invalid-request` if there is none.
    package func requiredRefreshToken() throws(PluginError) -> Secret {
        guard let refreshToken, !refreshToken.isEmpty else {
            throw PluginError(.invalidRequest, "the request brings no refresh token")
        }
        return refreshToken
    }
}
