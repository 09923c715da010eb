import Addresses
import Claims
import OAuth
import PluginWire
import Secrets

extension AuthoritySession: AuthorityRules {
    /// Hints, claims and further parameters.
    ///
    /// - Throws: `invalidRequest` if `prompt` is not one of OpenID Connect's.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        var fields: [FormEncoding.Field] = []
        if let prompt = request.signIn.prompt {
            guard AuthorizationParameters.prompts.contains(prompt) else {
                throw OAuthError(
                    .invalidRequest, "prompt \"\(prompt.displayable(limit: 40))\" is not known",
                    hint: "use one of \(AuthorizationParameters.prompts.joined(separator: ", "))")
            }
            fields.append(("prompt", prompt))
        }
        if let hint = request.signIn.loginHint { fields += [("login_hint", hint), ("X-AnchorMailbox", "UPN:\(hint)")] }
        if let hint = request.signIn.domainHint { fields.append(("domain_hint", hint)) }
        if let claims { fields.append(("claims", claims)) }
        return fields + request.signIn.queryParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The account's data centre.
    func headers(redeeming response: AuthorizationResponse) -> [(String, String)] {
        AnchorMailbox.header(response: response).map { [(AnchorMailbox.name, $0)] } ?? []
    }

    /// Checked tokens in the plugin protocol's terms.
    func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> PluginResult {
        try result(response, nonce: nonce)
    }

    /// Policies that look at the device can't be satisfied with a code, but may be in a browser.
    func mayDoBetterElsewhere(after error: OAuthError) -> Bool {
        !Self.needsBrowser.isDisjoint(with: pluginError(error).errorCodes)
    }

    /// What looks at the device, or forbids codes.
    static let needsBrowser: Set = [
        "AADSTS53000", "AADSTS53001", "AADSTS53003", "AADSTS530032", "AADSTS50097",
    ]
}
