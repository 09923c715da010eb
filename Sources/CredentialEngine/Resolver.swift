import Addresses
import Claims
public import Model
public import PluginHost
public import Rules
import TokenAcquisition

/// Works out what requests want, from the rules and the plugins' manifests.
public struct Resolver: Sendable {
    let configuration: Configuration
    let plugins: InstalledPlugins
    /// The variables of the process, which may describe an identity.
    let environment: [String: String]

    /// Creates a resolver; only an identity that the variables describe needs `environment`.
    public init(_ configuration: Configuration, _ plugins: InstalledPlugins, environment: [String: String] = [:]) {
        self.configuration = configuration
        self.plugins = plugins
        self.environment = environment
    }

    /// Resolves a request to the token that it needs, as its server's challenges say; nil if no rule or manifest maps it,
    /// and it doesn't ask for a token.
    ///
    /// A token for a resource is only sent to a host that a rule or a manifest maps to that resource. A request without
    /// a host comes from a script itself and may name any resource.
    ///
    /// - Throws: `ResolutionError` if a token is needed but can't be had.
    public func resolve(_ request: CredentialRequest) throws(ResolutionError) -> TokenRequest? {
        try mapping(of: request).map { mapped throws(ResolutionError) in try settled(mapped, for: request) }
    }

    /// Resolves a request by the rules and manifests; looks for plugins only if the rules alone don't tell.
    func mapping(of request: CredentialRequest) throws(ResolutionError) -> TokenRequest? {
        var mapping = Mapping(resolver: self, request: request)
        return try mapping.token()
    }

    /// Returns the token of a mapping with the ID of its client, which may be given by name.
    ///
    /// A UUID is never a name, so it is returned without loading plugins unless a policy restricts the well-known
    /// clients.
    ///
    /// - Throws: The errors of `Configuration.clientID(_:at:)`, or one for a parameter that only the plugin may set.
    func withClient(_ mapped: TokenRequest) throws(ResolutionError) -> TokenRequest {
        guard mapped.source == nil else { return mapped }
        let isSettled = mapped.identity != nil || mapped.clientID.isUUID && configuration.wellKnownClients == nil
        guard !isSettled || !mapped.signIn.queryParameters.isEmpty, let match = plugins.registry.match(mapped) else {
            return mapped
        }
        var token = mapped
        if !isSettled { token.clientID = try configuration.clientID(mapped.clientID, at: match) }
        if let name = match.plugin.reserved(in: mapped.signIn) { throw .badParameter(.reserved(name)) }
        return token
    }

    /// Returns the token of a mapping as its plugin and the request's server have it.
    func settled(_ mapped: TokenRequest, for request: CredentialRequest) throws(ResolutionError) -> TokenRequest {
        guard mapped.source == nil else { return mapped }
        var token = try withClient(mapped)
        if token.userHint != nil { token.checkUserHint(at: plugins.registry.match(token)?.issuer) }
        try apply(ClaimsChallenge(request.wwwAuthenticate), to: &token, for: request)
        // What a server refuses at a path, it refuses there however the path is written.
        if let host = request.host, configuration.caseless.holds(for: host) { token.path = token.path?.lowercased() }
        return token
    }

    /// Applies what a mapped host's server says about the token that it needs (`wwwauth[]`).
    ///
    /// The server isn't trusted, so its influence is limited. It can ask for claims, unless the tool sent its own. If the
    /// authority is the default one for well-known hosts and leaves the realm open, it can name the realm. It can't map a
    /// host, name a resource or add an authority.
    private func apply(
        _ challenge: ClaimsChallenge, to token: inout TokenRequest, for request: CredentialRequest
    ) throws(ResolutionError) {
        guard let host = request.host, token.origin != .tool, !request.wwwAuthenticate.isEmpty else { return }
        if let wanted = challenge.claims, request.explicit.claims?.isEmpty ?? true {
            do throws(ParameterError) { token.claims = try ClaimsRequest(wanted).text } catch {
                throw .badChallenge(host: host.text, error)
            }
        }
        guard case .wellKnownHost = token.origin, request.explicit.authority == nil, let named = challenge.authority,
            let wide = plugins.registry.match(token),
            let narrow = plugins.registry.narrowing(wide, to: named, isConfigured: token.authorityIsConfigured)
        else { return }
        token.authority = narrow
    }
}

/// The mapping of one request.
private struct Mapping {
    let resolver: Resolver
    let request: CredentialRequest
    var authority: (url: String, kind: String?, match: AuthorityMatch?)?

    private var configuration: Configuration { resolver.configuration }
    private var registry: PluginRegistry { resolver.plugins.registry }

    /// The plugin that serves an authority, which is looked for once.
    private mutating func match(_ url: String, _ kind: String?, isConfigured: Bool) -> AuthorityMatch? {
        if let authority, authority.url == url, authority.kind == kind { return authority.match }
        let match =
            Identity.isMachine(authority: url)
            ? registry.machine(authority: url)
            : registry.match(
                authority: url, kind: kind, isConfigured: isConfigured || configuration.names(authority: url))
        authority = (url, kind, match)
        return match
    }

    /// The plugin that finds identities on this machine, if it is the authority; nil for the platform's own service.
    private func finder(at authority: String) -> AuthorityMatch? {
        registry.machine(authority: authority).flatMap { $0.ownScopes == nil ? nil : $0 }
    }

    mutating func token() throws(ResolutionError) -> TokenRequest? {
        guard let host = request.host else { return try ownToken() }
        guard let (mapped, identity) = try mapped(at: host) else {
            if let scope = request.explicit.scopes.first { throw .notMapped(host: host.text, scope: scope) }
            return nil
        }
        var token = mapped
        if let source = token.source {
            guard request.explicit.isEmpty else { throw .hasSource(source, host: host.text) }
            (token.host, token.path, token.userHint) = (host.text, request.path, request.username)
            return token
        }
        if let identity { apply(identity, settingOf: &token) }
        guard !token.authority.isEmpty else { throw .noAuthority }
        try addExchange(to: &token, at: host)
        if token.scopes.isEmpty { token.scopes = try usualScopes(of: token, at: host) }
        try confine(to: token, host: host)
        try apply(identity, to: &token)
        if let error = resolver.misuse(of: token) { throw error }
        narrow(&token, at: host)
        return token
    }

    /// Names the repository that an application's token is for, at a code host that gives it one for each.
    ///
    /// Such a token opens nothing else. A rule's `resource-indicators` name something wider instead.
    private mutating func narrow(_ token: inout TokenRequest, at host: RequestHost) {
        guard token.identity?.application != nil, token.resourceIndicators.isEmpty,
            token.authority.isSame(as: "https://\(host.withoutOwnPort(of: "https").text)"),
            match(token.authority, token.kind, isConfigured: true)?.issuer?.repositoryScopes != nil,
            let path = request.path?.pieces(between: "/"), path.count > 1
        else { return }
        let name = path[1].hasSuffix(".git") ? path[1].dropLast(4) : path[1]
        token.resourceIndicators = ["\(token.authority)/\(path[0])/\(name)"]
    }

    /// The token of a script's own request.
    private mutating func ownToken() throws(ResolutionError) -> TokenRequest? {
        guard !request.explicit.isEmpty else { return nil }
        let identity = try identity(of: nil)
        // Issuers other than Microsoft's know what an application may do that names no scope (RFC 6749, 3.3).
        let application = identity?.application
        let mayBeOpen = application.map { match($0.authority, $0.kind, isConfigured: true)?.plugin.bareScopes == nil }
        guard !request.explicit.scopes.isEmpty || mayBeOpen == true else { throw .incomplete }
        guard let authority = request.explicit.authority ?? identity?.authority ?? configuration.authority else {
            throw .noAuthority
        }
        var token = TokenRequest(authority, isConfigured: false, clientID: "", scopes: [])
        try apply(identity, to: &token)
        return token
    }

    /// Returns the identity that signs in without a user; nil if a user signs in.
    ///
    /// The request takes precedence, even if it names an account, then its rule, then the default.
    private func identity(of rule: Rule?) throws(ResolutionError) -> Identity? {
        let explicit = request.explicit
        let usual = explicit.account == nil ? rule?.identity ?? configuration.defaultIdentity : nil
        guard let named = explicit.identity ?? usual else { return nil }
        let identity = try configuration.identity(named: named)
        return identity.source == .environment ? try registry.ambientIdentity(in: resolver.environment) : identity
    }

    private func mapped(at host: RequestHost) throws(ResolutionError) -> (TokenRequest, Identity?)? {
        if let rule = configuration.rule(for: request) {
            if let key = rule.unknownKey { throw .unreadableRule(rule, key: key) }
            // `rule add` adds no such rule, but anyone can write one.
            guard request.isTokenPlace else { throw .unencrypted(scheme: request.scheme ?? "", url: request.url) }
            return try mapped(by: rule)
        }
        if let (rule, issuer) = configuration.rule(ofOtherHost: request, registry) {
            var (token, identity) = try mapped(by: rule)
            if identity?.application == nil {
                token.scopes =
                    (token.scopes.isEmpty ? issuer.scopes ?? [] : token.scopes) + issuer.moreScopes(atHost: host.name)
            } else if token.scopes.isEmpty {
                // An application is refused a token altogether if it may do less than it asks for.
                token.scopes = issuer.moreScopes(atHost: host.name)
            }
            return (token, identity)
        }
        guard request.scheme == "https", host.withoutOwnPort(of: "https").port == nil else { return nil }
        // Without a client ID and an authority of the user's, nothing suggests that this host is lanyard's to answer,
        // so the plugins, which take time to find, aren't asked.
        let isIdentified = (request.explicit.identity ?? configuration.defaultIdentity) != nil
        let authority = request.explicit.authority ?? configuration.authority
        let clientID = authority.flatMap { request.explicit.clientID ?? configuration.clientID(at: $0) }
        guard isIdentified || clientID != nil else { return nil }
        let (known, finder) = (registry.resource(forHost: host.name), registry.finder(forHost: host.name))
        guard known != nil || finder != nil else { return nil }
        let identity = try identity(of: nil)
        guard let authority = identity?.authority ?? authority else { return nil }
        var token = TokenRequest(authority, isConfigured: false, clientID: "", scopes: known?.scopes ?? [])
        // What one cloud's plugin finds opens nothing of another's.
        if let own = self.finder(at: authority) {
            guard let finder, own.plugin == finder else { return nil }
            token.origin = .wellKnownHost(finder.name)
            token.scopes = []
        } else {
            guard let known else { return nil }
            token.origin = .wellKnownHost(known.name)
        }
        return (token, identity)
    }

    private func mapped(by rule: Rule) throws(ResolutionError) -> (TokenRequest, Identity?) {
        var token = TokenRequest(
            rule.authority.isEmpty && rule.source == nil ? configuration.authority ?? "" : rule.authority,
            isConfigured: true, clientID: rule.clientID ?? "", scopes: rule.scopes)
        token.origin = .rule(rule.pattern.text)
        token.source = rule.source
        guard rule.source == nil else { return (token, nil) }
        token.token = rule.token
        token.kind = rule.kind
        token.resourceIndicators = rule.resourceIndicators
        token.account = rule.account
        token.signIn = rule.signIn
        let identity = try identity(of: rule)
        if (identity == nil ? rule.account : rule.identity) != nil { token.namedBy = .rule }
        return (token, identity)
    }

    /// Adds the exchange of the token, if the host doesn't accept the token itself.
    ///
    /// The exchange in a rule also applies to URLs other than https: the host never accepts the token itself.
    private mutating func addExchange(to token: inout TokenRequest, at host: RequestHost) throws(ResolutionError) {
        let rule = configuration.rule(for: request)
        let named = rule?.exchange
        let audience = request.scheme == "https" ? host.withoutOwnPort(of: "https") : host
        // Most hosts accept the token itself, and matching its authority takes longer than this check.
        guard named != nil || registry.exchanges(forHost: audience.text) else { return }
        let isConfigured = token.authorityIsConfigured || token.identity != nil
        guard let match = match(token.authority, token.kind, isConfigured: isConfigured),
            let row = registry.exchange(named: named, forHost: audience.text, at: match)
        else {
            guard let named else { return }
            throw .unknownExchange(named, authority: token.authority)
        }
        token.exchange = TokenExchange(row.name, for: audience.text, path: row.isPerPath ? request.path ?? "" : nil)
        token.exchange?.parameters = rule?.exchangeParameters ?? [:]
        if let unknown = rule?.exchangeParameters.keys.sorted().first(where: { !row.parameters.contains($0) }) {
            throw .unknownExchangeParameter(unknown, exchange: row.name, known: row.parameters)
        }
        if token.scopes.isEmpty { token.scopes = row.scopes }
    }

    /// Returns the scopes that a manifest specifies for the authority, or for a host whose tokens come from there.
    private mutating func usualScopes(
        of token: TokenRequest, at host: RequestHost
    ) throws(ResolutionError) -> [String] {
        if token.token == .id { return ["openid"] }
        let match = match(token.authority, token.kind, isConfigured: true)
        // Its plugin isn't there, which is said when it is asked.
        if match == nil, Identity.isMachine(authority: token.authority) { return ["default"] }
        if token.identity?.application != nil, let scopes = match?.issuer?.repositoryScopes { return scopes }
        // A well-known host's scopes mean nothing to an issuer of another kind.
        let known = match?.isSeparate == false ? host.withoutOwnPort(of: "https").text : ""
        let own = match?.issuer.flatMap { registry.scopes(of: $0, forHost: host.name) }
        guard let scopes = match?.ownScopes ?? own ?? registry.resource(forHost: known)?.scopes else {
            throw .noScopes(authority: token.authority, kind: token.kind)
        }
        return scopes
    }

    /// Refuses scopes of a resource that the host isn't mapped to.
    private mutating func confine(to mapped: TokenRequest, host: RequestHost) throws(ResolutionError) {
        // OpenID Connect's scopes belong to no resource: a mapping with offline_access must not permit other scopes.
        let wanted = request.explicit.scopes.filter { !$0.isOpenIDScope }
        guard !wanted.isEmpty else { return }
        let authority = (request.explicit.authority ?? mapped.authority).withoutTrailingSlashes
        let kind = authority == mapped.authority ? mapped.kind : nil
        var resources: Set<String> = []
        for scope in mapped.scopes where !scope.isOpenIDScope {
            resources.insert(resource(of: scope, at: mapped.authority, mapped.kind))
        }
        for scope in wanted where !resources.contains(resource(of: scope, at: authority, kind)) {
            throw .notMapped(host: host.text, scope: scope)
        }
    }

    /// Refuses an ID token, which says who the user is, for a host that the user didn't name.
    ///
    /// To a plugin that finds identities on this machine, the ID token of one is a token for an audience: the rule's, or else the host.
    /// The scope `openid` asks for it.
    private mutating func confineIDToken(_ token: inout TokenRequest) throws(ResolutionError) {
        if token.token == .id && token.identity == nil || request.explicit.claims?.isEmpty == false,
            match(token.authority, token.kind, isConfigured: true)?.issuer?.givesIDTokens == false
        {
            throw .noIDTokens(authority: token.authority)
        }
        guard token.token == .id else { return }
        if let identity = token.identity {
            guard finder(at: token.authority)?.plugin.supports.contains(.resources) == true else {
                throw .idTokenOfIdentity(identity.name)
            }
            token.token = .access
            if !token.scopes.contains("openid") { token.scopes.insert("openid", at: 0) }
            if let host = request.host, token.scopes == ["openid"], token.resourceIndicators.isEmpty {
                token.resourceIndicators = ["https://\(host.withoutOwnPort(of: "https").text)"]
            }
            return
        }
        guard let host = request.host else { return }
        guard case .rule = token.origin else { throw .idTokenWithoutRule(host: host.text) }
    }

    private mutating func resource(of scope: String, at authority: String, _ kind: String?) -> String {
        if let resource = scope.resourceOfScope { return resource }
        return (match(authority, kind, isConfigured: false)?.plugin.bareScopes ?? authority).lowercased()
    }

    /// Sets the identity, with its authority and client.
    ///
    /// What a plugin finds on this machine is another identity if one of its variables changes, with tokens of its own. The
    /// platform of a machine has one of each name, whatever the variables say, as for MSAL.
    private func apply(_ identity: Identity, settingOf token: inout TokenRequest) {
        token.apply(identity)
        guard let match = finder(at: token.authority) else { return }
        token.clientID += "-\(DecisiveVariables(Set(match.plugin.variables), in: resolver.environment).digest)"
    }

    /// Applies what the request names explicitly.
    private mutating func apply(_ identity: Identity?, to token: inout TokenRequest) throws(ResolutionError) {
        let explicit = request.explicit
        guard explicit.scopes.allSatisfy(\.isScopeToken) else { throw .badScope }
        if !explicit.scopes.isEmpty {
            token.scopes = explicit.scopes
            token.named.insert(.scopes)
        }
        if let authority = explicit.authority, authority != token.authority {
            token.authority = authority
            token.named.insert(.authority)
            // A rule's kind belongs to its own authority, and so do the resources that this one knows.
            token.kind = nil
            token.resourceIndicators = []
        }
        if let identity { apply(identity, settingOf: &token) }
        if let kind = explicit.token {
            // An access token's scopes say nothing about an ID token of what is found on this machine.
            if kind == .id, token.token != kind, token.identity != nil, explicit.scopes.isEmpty { token.scopes = [] }
            token.token = kind
            if kind == .id, token.identity == nil, explicit.scopes.isEmpty, !token.scopes.contains("openid"),
                match(token.authority, token.kind, isConfigured: true)?.plugin.bareScopes == nil
            {
                token.scopes.append("openid")
            }
        }
        try confineIDToken(&token)
        token.authority = token.authority.withoutTrailingSlashes
        if let tenant = explicit.tenant { try token.apply(tenant: tenant) }
        token.authorityIsConfigured = configuration.names(authority: token.authority) || identity != nil
        if let id = explicit.clientID, identity == nil {
            token.clientID = id
            token.named.insert(.clientID)
        }
        if token.clientID.isEmpty {
            guard
                let id = configuration.clientID(at: token.authority)
                    ?? match(token.authority, token.kind, isConfigured: true)?.plugin.clientID
            else { throw .noClientID(authority: token.authority) }
            token.clientID = id
        }
        token.account = identity == nil ? explicit.account ?? token.account ?? configuration.account : nil
        if (identity == nil ? explicit.account : explicit.identity) != nil {
            token.namedBy = .request
        } else if token.namedBy == nil, identity != nil || token.account != nil {
            token.namedBy = .configuration
        }
        token.userHint = identity == nil ? request.username : nil
        token.host = request.host?.text
        token.path = request.path
        if let claims = explicit.claims, !claims.isEmpty {
            do throws(ParameterError) { token.claims = try ClaimsRequest(claims).text } catch {
                throw .badClaims(error)
            }
        }
        // Nobody signs in, so there is nobody to show anything to.
        guard identity == nil else { return }
        // The tool's parameters take precedence over the rule's.
        do throws(ParameterError) { try token.signIn.apply(explicit.signIn) } catch { throw .badParameter(error) }
    }
}
