public import Claims

/// The reason why a request that needs a token can't be resolved.
public enum ResolutionError: Error, Sendable, Equatable {
    /// The request names either scopes or an authority, but not both, and no rule supplies the other.
    case incomplete
    /// The rule has a key that isn't known here.
    case unreadableRule(Rule, key: String)
    /// The request names scopes, and neither it nor the configuration has an authority.
    case noAuthority
    /// The host isn't mapped to the resource of the scopes that the tool named.
    case notMapped(host: String, scope: String)
    /// Neither the request nor the configuration has a client ID.
    case noClientID(authority: String)
    /// The host's rule has a source, and the request describes a token.
    case hasSource(String, host: String)
    /// The rule has no scopes, and no manifest specifies any for its authority, or has its kind.
    case noScopes(authority: String, kind: String?)
    /// The rule names an exchange that the authority's plugin doesn't support.
    case unknownExchange(String, authority: String)
    /// The rule has a parameter that its exchange doesn't take; with those that it takes.
    case unknownExchangeParameter(String, exchange: String, known: [String])
    /// The plugin's tokens are only for exchanges, and there is none for the host; with the plugin's exchanges.
    case onlyForExchanges(plugin: String, host: String?, exchanges: [String])
    /// The client is neither an ID nor a name at the authority; with the available names, and the nearest one.
    case unknownClient(String, names: [String], nearest: String?, authority: String)
    /// The system's policy forbids a well-known client; with its name.
    case forbiddenClient(String)
    /// The rule's URL is neither https nor of this machine; with the request's scheme and place.
    case unencrypted(scheme: String, url: String)
    /// The request names a tenant, and this authority's URL has no place for one.
    case noTenants(authority: String)
    /// A scope is invalid.
    case badScope
    /// An ID token is wanted for a host that no rule names.
    case idTokenWithoutRule(host: String)
    /// An ID token is wanted of an authority that has none.
    case noIDTokens(authority: String)
    /// An ID token is wanted of an identity; with its name.
    case idTokenOfIdentity(String)
    /// The claims that the tool sent can't be requested.
    case badClaims(ParameterError)
    /// A parameter of the sign-in is invalid.
    case badParameter(ParameterError)
    /// There is no table for the identity with this name, and none is built in; with the available names.
    case unknownIdentity(String, names: [String])
    /// The variables describe no identity that a plugin knows; with the sets of variables that would, and those of them
    /// that are set.
    case noIdentityInEnvironment([[String]], present: [String])
    /// A variable that describes an identity is invalid; with its name and what it must be.
    case invalidVariable(String, mustBe: String)
    /// A plugin's manifest refuses the identity that the variables describe, in the manifest's words.
    case refusedIdentity(String)
    /// The claims that the host's server asked for can't be requested.
    case badChallenge(host: String, ParameterError)
}

extension ResolutionError {
    /// The authority whose plugin knows no better; nil if it is about none.
    public var authority: String? {
        switch self {
        case .noClientID(let authority), .noScopes(let authority, _), .noTenants(let authority): authority
        case .unknownExchange(_, let authority), .noIDTokens(let authority), .unknownClient(_, _, _, let authority):
            authority
        default: nil
        }
    }
}
