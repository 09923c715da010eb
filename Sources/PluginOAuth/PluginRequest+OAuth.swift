import Addresses
package import Claims
package import OAuth
import PluginKit
package import PluginWire
package import Secrets

extension PluginRequest {
    /// Returns the flows that the request allows, in OAuth's terms.
    ///
    /// - Parameter plugin: The plugin's name.
    /// - Returns: The known flows, best first.
    /// - Throws: `unsupported` if none is left.
    package func oauthFlows(of plugin: String) throws(PluginError) -> [OAuth.Flow] {
        let asked = flows.isEmpty ? [.browser, .deviceCode] : flows
        let known = asked.compactMap { OAuth.Flow(rawValue: $0.rawValue) }
        guard !known.isEmpty else {
            throw PluginError(
                .unsupported, "none of the flows asked for is known to \(plugin)",
                hint: "use browser, device-code or paste")
        }
        return known
    }

    /// What shapes the sign-in, as an authorization request has it: prompt and hints, the authority's other fields, and further
    /// parameters; `hint` makes the fields for who is likely to sign in.
    ///
    /// - Throws: `invalidRequest` if the prompt is none of the authority's.
    package func signInFields(
        prompts: [SignInPrompt] = SignInPrompt.allCases, at host: String, _ others: [FormEncoding.Field],
        hint: (String) -> [FormEncoding.Field]
    ) throws(OAuthError) -> [FormEncoding.Field] {
        var fields: [FormEncoding.Field] = []
        if let prompt = signIn.prompt {
            guard prompts.contains(where: { $0.rawValue.isSame(as: prompt) }) else {
                throw OAuthError(
                    .invalidRequest, "prompt \(prompt.displayable(limit: 40)) is not known to \(host)",
                    hint: "use one of \(prompts.map(\.rawValue).joined(separator: ", "))")
            }
            fields.append(("prompt", prompt))
        }
        if let user = signIn.loginHint { fields += hint(user) }
        if let domain = signIn.domainHint { fields.append(("domain_hint", domain)) }
        return fields + others + signIn.queryParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns the refresh token of the request.
    ///
    /// - Throws: `invalid-request` if there is none.
    package func requiredRefreshToken() throws(PluginError) -> Secret {
        guard let refreshToken, !refreshToken.isEmpty else {
            throw PluginError(.invalidRequest, "the request brings no refresh token")
        }
        return refreshToken
    }

    /// Returns the facts on the page that ends a sign-in: who signed in, to what, with which application and where.
    package func facts(account: String?, authority: String) -> [LoopbackPage.Fact] {
        let client = clientName.map { "\($0) (\(clientID))" } ?? clientID
        return [
            .init("Account", account), .init("For", purpose ?? scopes.joined(separator: " ")),
            .init("Application", client), .init("Authority", authority),
        ].compactMap(\.self)
    }
}
