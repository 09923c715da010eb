import Claims
public import PluginWire

/// What a plugin does only if its manifest says so: a word of `supports`.
///
/// The host asks no plugin for anything that it doesn't support: one that ignored it would seem to have done it.
public enum PluginSupport: String, Sendable, CaseIterable {
    /// Force a prompt (OpenID Connect's `prompt`).
    case prompt
    /// Ask for claims, as OpenID Connect does.
    case claims
    /// Add parameters to the authorization request.
    case queryParameters = "query-parameters"
    /// Ask for a token by resource indicators (RFC 8707).
    case resources
    /// Have sign-ins come back to a redirect URI that isn't its own choice.
    case redirectURI = "redirect-uri"
    /// Reset forgotten passwords by another policy of B2C.
    case resetPolicy = "reset-policy"
    /// Have the user consent to the scopes of other APIs at the same sign-in.
    case alsoConsent = "also-consent"
    /// Get tokens for a named audience, and in exchange for another issuer's (RFC 8693), for identities.
    case tokenExchange = "token-exchange"
    /// Have clients with secrets: it gets the stored ones.
    case clientSecrets = "client-secrets"
    /// The operations `register` and `unregister`.
    case register
    /// The operation `revoke`.
    case revoke
    /// No other use of its tokens than its own exchanges.
    case exchangesOnly = "exchanges-only"

    /// What only a sign-in page has, and no request for a device code (RFC 8628, 3.1).
    public static let ofPages: [PluginSupport] = [.prompt, .alsoConsent, .queryParameters]

    /// Whether a request asks for it.
    public func isAsked(by request: PluginRequest) -> Bool {
        switch self {
        case .prompt: request.signIn.prompt != nil
        case .claims: request.claims != nil
        case .queryParameters: !request.signIn.queryParameters.isEmpty
        case .resources: !request.resources.isEmpty
        case .redirectURI: request.operation == .authorize && request.redirectURI != nil
        case .resetPolicy: request.signIn.resetPolicy != nil
        case .alsoConsent: request.signIn.alsoConsent != nil
        case .tokenExchange: request.identity.map { $0.subject != nil || $0.audience != nil } ?? false
        // Without them, the host neither has such a secret nor runs such an operation.
        case .clientSecrets, .register, .revoke, .exchangesOnly: false
        }
    }

    /// What a plugin can't do that doesn't support it, and how to do without.
    public var refusal: (what: String, hint: String) {
        switch self {
        case .prompt: ("force a prompt", "leave out --prompt")
        case .claims:
            ("ask for claims", "leave out --claim, --claims; a server that demands any can't be used with this plugin")
        case .queryParameters:
            ("add parameters to its sign-in page", "leave out --query-parameter, and `query-parameters` in the rule")
        case .resources: ("ask for a token by its resource", "remove `resource-indicators` from the rule")
        case .redirectURI:
            ("use another redirect URI than its own", "leave out --redirect-port, and `redirect-port` in the rule")
        case .resetPolicy: ("reset passwords by a policy", "leave out --reset-policy, and `reset-policy` in the rule")
        case .alsoConsent: ("ask for consent to other APIs", "leave out --also-consent, and `also-consent` in the rule")
        case .tokenExchange:
            ("exchange tokens of other issuers", "remove `subject-token` and `audience` from the identity")
        case .clientSecrets, .register, .revoke, .exchangesOnly: ("do \(rawValue)", "")
        }
    }
}

extension PluginManifest {
    /// Checks that the plugin supports all that a request asks for.
    ///
    /// - Throws: `unsupported` if it doesn't.
    public func require(supportFor request: PluginRequest) throws(PluginError) {
        guard let missing = PluginSupport.allCases.first(where: { $0.isAsked(by: request) && !supports.contains($0) })
        else { return }
        let (what, hint) = missing.refusal
        throw PluginError(.unsupported, "the \(name) plugin can't \(what)", hint: hint)
    }
}
