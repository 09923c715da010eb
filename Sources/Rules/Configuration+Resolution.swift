public import Addresses
import Claims

extension Configuration {
    /// Returns the rule for a request: the one that matches most closely; of equals the last, so that a user's rule
    /// wins.
    public func rule(for request: CredentialRequest) -> Rule? {
        var best: (rule: Rule, fit: URLPattern.Fit)?
        for rule in rules {
            guard let fit = rule.pattern.fit(request, caseless: caseless) else { continue }
            if let best, fit < best.fit { continue }
            best = (rule, fit)
        }
        return best?.rule
    }

    /// Resolves a request to the token that it needs; nil if no rule or manifest maps it, and it doesn't ask for a
    /// token.
    ///
    /// A token for a resource is only sent to a host that a rule or a manifest maps to that resource. A request without
    /// a host comes from a script itself and may name any resource.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bareScopes: Returns the resource of scopes that don't name one, for an authority's URL and kind; nil if they
    ///     belong to the authority itself.
    ///   - usualScopes: Returns the scopes that a manifest specifies for an authority's URL and kind, or for a host whose
    ///     tokens come from there; nil if there are none.
    ///   - exchanges: Returns the exchange for the token's authority, the name in the rule and the host; nil if the
    ///     host accepts the token itself.
    ///   - ambient: Returns the identity that the process's variables describe.
    ///   - wellKnown: Returns the resource that a manifest knows at a host: its display name, and the scopes of its
    ///     tokens.
    /// - Returns: The token, or nil.
    /// - Throws: `ResolutionError` if a token is needed but can't be had.
    public func resolve(
        _ request: CredentialRequest, bareScopes: (String, String?) -> String? = { _, _ in nil },
        usualScopes: (String, String?, RequestHost) -> [String]? = { _, _, _ in nil },
        exchanges: (TokenRequest, String?, RequestHost) -> TokenExchange.Row? = { _, _, _ in nil },
        ambient: () throws(ResolutionError) -> Identity = { () throws(ResolutionError) in
            throw .noIdentityInEnvironment([], present: [])
        },
        wellKnown: (RequestHost) -> (name: String, scopes: [String])?
    ) throws(ResolutionError) -> TokenRequest? {
        var resolved: TokenRequest
        let identity: Identity?
        if let host = request.host {
            guard let mapped = try mapping(of: request, host: host, ambient, wellKnown: wellKnown) else {
                if let scope = request.explicit.scopes.first { throw .notMapped(host: host.text, scope: scope) }
                return nil
            }
            (resolved, identity) = mapped
            if let identity { resolved.apply(identity) }
            guard !resolved.authority.isEmpty else { throw .noAuthority }
            try turn(&resolved, for: request, at: host, exchanges)
            if resolved.scopes.isEmpty {
                guard let scopes = usualScopes(resolved.authority, resolved.kind, host) else {
                    throw .noScopes(authority: resolved.authority)
                }
                resolved.scopes = scopes
            }
            try confine(request.explicit, to: resolved, host: host, bareScopes)
        } else {
            guard !request.explicit.isEmpty else { return nil }
            guard !request.explicit.scopes.isEmpty else { throw .incomplete }
            identity = try self.identity(for: request, nil, ambient)
            guard let authority = request.explicit.authority ?? identity?.authority ?? authority else {
                throw .noAuthority
            }
            resolved = TokenRequest(
                origin: .tool, authority: authority, authorityIsConfigured: false, clientID: "", scopes: [])
        }
        try apply(request, of: identity, into: &resolved)
        return resolved
    }

    /// Returns the identity that signs in without a user; nil if a user signs in.
    ///
    /// The request takes precedence, even if it names an account, then its rule, then the default.
    private func identity(
        for request: CredentialRequest, _ rule: Rule?, _ ambient: () throws(ResolutionError) -> Identity
    ) throws(ResolutionError) -> Identity? {
        let explicit = request.explicit
        let named = explicit.identity ?? (explicit.account == nil ? rule?.identity ?? defaultIdentity : nil)
        guard let named else { return nil }
        let identity = try self.identity(named: named)
        return identity.source == .environment ? try ambient() : identity
    }

    /// Returns the identity with this name; of several files' the last, so that a user's wins.
    public func identity(named name: String) throws(ResolutionError) -> Identity {
        let known = Identity.builtIn + identities
        guard let identity = known.last(where: { $0.name.isSame(as: name) }) else {
            throw .unknownIdentity(name, names: known.map(\.name))
        }
        return identity
    }

    /// Adds the exchange of the token, if the host doesn't accept the token itself.
    ///
    /// The exchange in a rule also applies to URLs other than https: the host never accepts the token itself.
    private func turn(
        _ resolved: inout TokenRequest, for request: CredentialRequest, at host: RequestHost,
        _ exchanges: (TokenRequest, String?, RequestHost) -> TokenExchange.Row?
    ) throws(ResolutionError) {
        let named = rule(for: request)?.exchange
        let audience = request.scheme == "https" ? host.withoutOwnPort(of: "https") : host
        guard let row = exchanges(resolved, named, audience) else {
            guard let named else { return }
            throw .unknownExchange(named, authority: resolved.authority)
        }
        resolved.exchange = TokenExchange(
            row.name, for: audience.text, path: row.isPerPath ? request.path ?? "" : nil)
        if resolved.scopes.isEmpty { resolved.scopes = row.scopes }
    }

    private func mapping(
        of request: CredentialRequest, host: RequestHost, _ ambient: () throws(ResolutionError) -> Identity,
        wellKnown: (RequestHost) -> (name: String, scopes: [String])?
    ) throws(ResolutionError) -> (TokenRequest, Identity?)? {
        if let rule = rule(for: request) {
            if let key = rule.unknownKey { throw .unreadableRule(rule, key: key) }
            // `rule add` adds no such rule, but anyone can write one.
            guard request.isTokenPlace else {
                throw .unencrypted(scheme: request.scheme ?? "", url: request.url)
            }
            var mapped = TokenRequest(
                origin: .rule(rule.pattern.text),
                authority: rule.authority.isEmpty ? authority ?? "" : rule.authority, authorityIsConfigured: true,
                kind: rule.kind, clientID: rule.clientID ?? "", scopes: rule.scopes,
                resourceIndicators: rule.resourceIndicators, account: rule.account, signIn: rule.signIn)
            let identity = try identity(for: request, rule, ambient)
            if (identity == nil ? rule.account : rule.identity) != nil { mapped.namedBy = .rule }
            return (mapped, identity)
        }
        guard request.scheme == "https", host.withoutOwnPort(of: "https").port == nil else { return nil }
        // Without a client ID and an authority of the user's, nothing suggests that this host is lanyard's to answer,
        // so the plugins, which take time to find, aren't asked.
        let isIdentified = (request.explicit.identity ?? defaultIdentity) != nil
        let authority = request.explicit.authority ?? authority
        guard isIdentified || authority.flatMap({ request.explicit.clientID ?? clientID(at: $0) }) != nil,
            let known = wellKnown(host)
        else { return nil }
        let identity = try identity(for: request, nil, ambient)
        guard let authority = identity?.authority ?? authority else { return nil }
        let mapped = TokenRequest(
            origin: .wellKnownHost(known.name), authority: authority, authorityIsConfigured: false, clientID: "",
            scopes: known.scopes)
        return (mapped, identity)
    }

    private func confine(
        _ explicit: CredentialRequest.ExplicitToken, to mapped: TokenRequest, host: RequestHost,
        _ bareScopes: (String, String?) -> String?
    ) throws(ResolutionError) {
        func resource(_ scope: String, at authority: String, _ kind: String?) -> String {
            scope.resourceOfScope ?? (bareScopes(authority, kind) ?? authority).lowercased()
        }
        // OpenID Connect's scopes belong to no resource: a mapping with offline_access must not permit other scopes.
        let own = mapped.scopes.filter { !$0.isOpenIDScope }
        let resources = Set(own.map { resource($0, at: mapped.authority, mapped.kind) })
        let authority = (explicit.authority ?? mapped.authority).withoutTrailingSlashes
        let kind = authority == mapped.authority ? mapped.kind : nil
        for scope in explicit.scopes
        where !scope.isOpenIDScope && !resources.contains(resource(scope, at: authority, kind)) {
            throw .notMapped(host: host.text, scope: scope)
        }
    }

    private func apply(
        _ request: CredentialRequest, of identity: Identity?, into resolved: inout TokenRequest
    ) throws(ResolutionError) {
        let explicit = request.explicit
        guard explicit.scopes.allSatisfy(\.isScopeToken) else { throw .badScope }
        if !explicit.scopes.isEmpty {
            resolved.scopes = explicit.scopes
            resolved.named.insert(.scopes)
        }
        if let authority = explicit.authority, authority != resolved.authority {
            resolved.authority = authority
            resolved.named.insert(.authority)
            // A rule's kind belongs to its own authority, and so do the resources that this one knows.
            resolved.kind = nil
            resolved.resourceIndicators = []
        }
        if let identity { resolved.apply(identity) }
        resolved.authority = resolved.authority.withoutTrailingSlashes
        if let tenant = explicit.tenant { try resolved.apply(tenant: tenant) }
        resolved.authorityIsConfigured = names(authority: resolved.authority) || identity != nil
        if let id = explicit.clientID, identity == nil {
            resolved.clientID = id
            resolved.named.insert(.clientID)
        }
        if resolved.clientID.isEmpty {
            guard let id = clientID(at: resolved.authority) else { throw .noClientID(authority: resolved.authority) }
            resolved.clientID = id
        }
        resolved.account = identity == nil ? explicit.account ?? resolved.account ?? account : nil
        if (identity == nil ? explicit.account : explicit.identity) != nil {
            resolved.namedBy = .request
        } else if resolved.namedBy == nil, identity != nil || resolved.account != nil {
            resolved.namedBy = .configuration
        }
        resolved.userHint = identity == nil ? request.username : nil
        resolved.host = request.host?.text
        resolved.path = request.path
        if let claims = explicit.claims, !claims.isEmpty {
            do throws(ParameterError) { resolved.claims = try ClaimsRequest(claims).text } catch {
                throw .badClaims(error)
            }
        }
        // Nobody signs in, so there is nobody to show anything to.
        guard identity == nil else { return }
        // The tool's parameters take precedence over the rule's.
        do throws(ParameterError) { try resolved.signIn.apply(explicit.signIn) } catch {
            throw .badParameter(error)
        }
    }

    /// Returns the token that a rule maps its URLs to; nil if there is no client ID for it, or it gives nothing.
    public func request(by rule: Rule) -> TokenRequest? {
        guard rule.unknownKey == nil, let id = clientID(of: rule) else { return nil }
        var request = TokenRequest(
            origin: .rule(rule.pattern.text), authority: rule.authority.withoutTrailingSlashes,
            authorityIsConfigured: true, kind: rule.kind, clientID: id, scopes: rule.scopes,
            resourceIndicators: rule.resourceIndicators, account: rule.account ?? account, signIn: rule.signIn)
        request.userHint = rule.pattern.request.username
        return request
    }

    /// Whether a rule, an `[[app]]`, `authority` or `known-authorities` names the authority's host.
    public func names(authority url: String) -> Bool {
        url.hostOfURL.map { configuredHosts.contains($0.text) } ?? false
    }

    /// Returns the hosts that rules name as those of an authority's pages and endpoints.
    public func issuerHosts(at authority: String) -> [String] {
        let wanted = authority.withoutTrailingSlashes.lowercased()
        return Set(rules.filter { $0.authority.withoutTrailingSlashes.lowercased() == wanted }.flatMap(\.issuerHosts))
            .sorted()
    }

    /// The hosts of all authorities in the configuration.
    public var configuredHosts: [String] {
        let named =
            rules.map(\.authority) + apps.map(\.authority) + identities.compactMap { $0.application?.authority }
            + [authority].compactMap(\.self)
        let known = knownAuthorities.compactMap { RequestHost($0)?.withoutOwnPort(of: "https") }
        let hosts = (named.compactMap(\.hostOfURL) + known).map(\.text)
        return Set(hosts).sorted()
    }
}

extension Identity {
    /// The authority that stands for all machines' own identities.
    public static let machineAuthority = MachineIdentity.authority

    /// The authority that its tokens are stored under.
    public var authority: String? {
        switch source {
        case .application(let application): application.authority
        case .machine: Self.machineAuthority
        case .environment: nil
        }
    }

    /// The client that its tokens are stored under; for a machine's identity MSAL's name or else the text that selects
    /// it.
    public var clientID: String {
        switch source {
        case .application(let application): application.clientID
        case .machine("system"): "SYSTEM_ASSIGNED_MANAGED_IDENTITY"
        case .machine(let id): id
        case .environment: ""
        }
    }
}

extension TokenRequest {
    /// Sets the identity, with its authority and client, and removes the account.
    fileprivate mutating func apply(_ identity: Identity) {
        self.identity = identity
        authority = identity.authority ?? authority
        kind = identity.application?.kind
        clientID = identity.clientID
        account = nil
        signIn = SignInParameters()
    }

    /// Switches to another tenant of the same authority, whose URL must have the tenant as the only segment of its
    /// path.
    fileprivate mutating func apply(tenant: String) throws(ResolutionError) {
        guard CredentialRequest.ExplicitToken.isTenant(tenant), let url = StrictURL(authority),
            url.segments.count == 1, let (place, _) = authority.cut(atLast: "/")
        else { throw .noTenants(authority: authority) }
        authority = "\(place)/\(tenant)"
        named.insert(.authority)
    }
}

extension String {
    /// The host of an https URL, without the scheme's default port.
    var hostOfURL: RequestHost? {
        StrictURL(https: self)?.host.withoutOwnPort(of: "https")
    }

    /// Whether a scope is one of OpenID Connect's, which every application may request.
    package var isOpenIDScope: Bool { ["openid", "profile", "email", "offline_access"].contains(lowercased()) }

    /// The resource in a scope: everything before its last segment; nil if there is none.
    public var resourceOfScope: String? {
        guard let (resource, _) = cut(atLast: "/"), !resource.isEmpty else { return nil }
        return resource.lowercased()
    }
}
