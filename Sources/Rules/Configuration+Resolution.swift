public import Addresses
import Claims

extension Configuration {
    /// The rule for a request: of those that match, the closest fit; of equals, the last, so that a user's wins.
    public func rule(for request: CredentialRequest) -> Rule? {
        var best: (rule: Rule, fit: URLPattern.Fit)?
        for rule in rules {
            guard let fit = rule.pattern.fit(request) else { continue }
            if let best, fit < best.fit { continue }
            best = (rule, fit)
        }
        return best?.rule
    }

    /// What token a request comes to, or nil if no rule or manifest maps it and it asks for none.
    ///
    /// A token for a resource goes only to a host that a rule or a manifest maps to that resource; a request without a
    /// host is a script's own and may name any.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - bareScopes: the resource that scopes without one belong to at an authority, by its URL and kind; nil if they are
    ///     the authority's own.
    ///   - issuerScopes: the scopes that a manifest says are wanted at an authority, by its URL and kind; nil if none says so.
    ///   - exchanges: what tokens of an authority are turned into for a host, by the authority's URL and kind, the name that the
    ///     rule has for it, and the host; nil if the host takes the token itself.
    ///   - ambient: the identity that the variables of the process describe.
    ///   - wellKnown: the resource that a manifest knows at a host: its name for people, and the scopes of its tokens.
    /// - Returns: the token, or nil.
    /// - Throws: `ResolutionError` if a token is needed that can't be had.
    public func resolve(
        _ request: CredentialRequest, bareScopes: (String, String?) -> String? = { _, _ in nil },
        issuerScopes: (String, String?) -> [String]? = { _, _ in nil },
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
                if let scope = request.wish.scopes.first { throw .notMapped(host: host.text, scope: scope) }
                return nil
            }
            (resolved, identity) = mapped
            if let identity { resolved.take(identity) }
            guard !resolved.authority.isEmpty else { throw .noAuthority }
            try turn(&resolved, for: request, at: host, exchanges)
            if resolved.scopes.isEmpty {
                guard let scopes = issuerScopes(resolved.authority, resolved.kind) else {
                    throw .noScopes(authority: resolved.authority)
                }
                resolved.scopes = scopes
            }
            try confine(request.wish, to: resolved, host: host, bareScopes)
        } else {
            guard !request.wish.isEmpty else { return nil }
            guard !request.wish.scopes.isEmpty else { throw .incomplete }
            identity = try self.identity(for: request, nil, ambient)
            guard let authority = request.wish.authority ?? identity?.authority ?? authority else { throw .noAuthority }
            resolved = TokenRequest(
                origin: .consumer, authority: authority, authorityIsConfigured: false, clientID: "", scopes: [])
        }
        try take(request, of: identity, into: &resolved)
        return resolved
    }

    /// Who signs in without a person for a request; nil if a person does.
    ///
    /// The request's word wins, even if it names an account, then its rule's, then the default.
    private func identity(
        for request: CredentialRequest, _ rule: Rule?, _ ambient: () throws(ResolutionError) -> Identity
    ) throws(ResolutionError) -> Identity? {
        let wish = request.wish
        let named = wish.identity ?? (wish.account == nil ? rule?.identity ?? defaultIdentity : nil)
        guard let named else { return nil }
        let identity = try self.identity(named: named)
        return identity.source == .environment ? try ambient() : identity
    }

    /// The identity of a name; of several files' the last, so that a user's wins.
    public func identity(named name: String) throws(ResolutionError) -> Identity {
        let known = Identity.builtIn + identities
        guard let identity = known.last(where: { $0.name.isSame(as: name) }) else {
            throw .unknownIdentity(name, names: known.map(\.name))
        }
        return identity
    }

    /// Has the token turned into what the host takes, if it doesn't take the token.
    ///
    /// Over anything but https the name in the rule stands all the same: what the host takes is never the token itself.
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
            let mapped = TokenRequest(
                origin: .rule(rule.pattern.text),
                authority: rule.authority.isEmpty ? authority ?? "" : rule.authority, authorityIsConfigured: true,
                kind: rule.kind, clientID: rule.clientID ?? "", scopes: rule.scopes,
                resourceIndicators: rule.resourceIndicators, account: rule.account, signIn: rule.signIn)
            return (mapped, try identity(for: request, rule, ambient))
        }
        guard request.scheme == "https", host.withoutOwnPort(of: "https").port == nil else { return nil }
        // Without a client ID and an authority of the user's own, nothing says that this host is lanyard's to answer; the
        // plugins, which it takes time to find, aren't asked then.
        let isIdentified = (request.wish.identity ?? defaultIdentity) != nil
        let authority = request.wish.authority ?? authority
        guard isIdentified || authority.flatMap({ request.wish.clientID ?? clientID(at: $0) }) != nil,
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
        _ wish: CredentialRequest.TokenWish, to mapped: TokenRequest, host: RequestHost,
        _ bareScopes: (String, String?) -> String?
    ) throws(ResolutionError) {
        func resource(_ scope: String, at authority: String, _ kind: String?) -> String {
            scope.resourceOfScope ?? (bareScopes(authority, kind) ?? authority).lowercased()
        }
        // OpenID Connect's own scopes belong to no resource: who may have a refresh token may have nothing else for that.
        let own = mapped.scopes.filter { !$0.isOpenIDScope }
        let resources = Set(own.map { resource($0, at: mapped.authority, mapped.kind) })
        let authority = (wish.authority ?? mapped.authority).withoutTrailingSlashes
        let kind = authority == mapped.authority ? mapped.kind : nil
        for scope in wish.scopes
        where !scope.isOpenIDScope && !resources.contains(resource(scope, at: authority, kind)) {
            throw .notMapped(host: host.text, scope: scope)
        }
    }

    private func take(
        _ request: CredentialRequest, of identity: Identity?, into resolved: inout TokenRequest
    ) throws(ResolutionError) {
        let wish = request.wish
        guard wish.scopes.allSatisfy(\.isScopeToken) else { throw .badScope }
        if !wish.scopes.isEmpty {
            resolved.scopes = wish.scopes
            resolved.named.insert(.scopes)
        }
        if let authority = wish.authority, authority != resolved.authority {
            resolved.authority = authority
            resolved.named.insert(.authority)
            // A rule's kind is that of its own authority, and so are the resources that this one knows.
            resolved.kind = nil
            resolved.resourceIndicators = []
        }
        if let identity { resolved.take(identity) }
        resolved.authority = resolved.authority.withoutTrailingSlashes
        if let tenant = wish.tenant { try resolved.take(tenant: tenant) }
        resolved.authorityIsConfigured = names(authority: resolved.authority) || identity != nil
        if let id = wish.clientID, identity == nil {
            resolved.clientID = id
            resolved.named.insert(.clientID)
        }
        if resolved.clientID.isEmpty {
            guard let id = clientID(at: resolved.authority) else { throw .noClientID(authority: resolved.authority) }
            resolved.clientID = id
        }
        resolved.account = identity == nil ? wish.account ?? resolved.account ?? account : nil
        resolved.userHint = identity == nil ? request.username : nil
        resolved.host = request.host?.text
        resolved.path = request.path
        if let claims = wish.claims, !claims.isEmpty {
            do throws(ClaimsError) { resolved.claims = try ClaimsRequest(claims).text } catch {
                throw .badClaims(error)
            }
        }
        // Nobody signs in who could be shown anything.
        guard identity == nil else { return }
        // A parameter of the consumer's own wins over the rule's.
        do throws(SignInParameterError) { try resolved.signIn.take(wish.signIn) } catch { throw .badParameter(error) }
    }

    /// The token that a rule says is needed, whichever of its URLs is asked for; nil if there is no client ID for it.
    public func request(by rule: Rule) -> TokenRequest? {
        guard let id = clientID(of: rule) else { return nil }
        var request = TokenRequest(
            origin: .rule(rule.pattern.text), authority: rule.authority.withoutTrailingSlashes,
            authorityIsConfigured: true, kind: rule.kind, clientID: id, scopes: rule.scopes,
            resourceIndicators: rule.resourceIndicators, account: rule.account ?? account, signIn: rule.signIn)
        request.userHint = rule.pattern.request.username
        return request
    }

    /// Whether a rule, a `[[client]]`, `authority` or `known-authorities` names the authority's host.
    public func names(authority url: String) -> Bool {
        url.hostOfURL.map { configuredHosts.contains($0.text) } ?? false
    }
}

extension Identity {
    /// The authority that stands for all machines' own identities.
    public static let machineAuthority = MachineIdentity.authority

    /// The authority that its tokens are kept under.
    public var authority: String? {
        switch source {
        case .application(let application): application.authority
        case .machine: Self.machineAuthority
        case .environment: nil
        }
    }

    /// The client that its tokens are kept under; of a machine's own as MSAL names it, else the text that says which is meant.
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
    /// Is the identity's from now on: of its authority and client, and of no account.
    fileprivate mutating func take(_ identity: Identity) {
        self.identity = identity
        authority = identity.authority ?? authority
        kind = identity.application?.kind
        clientID = identity.clientID
        account = nil
        signIn = SignInParameters()
    }

    /// Goes to another tenant of the same authority: the only segment of its URL's path names the tenant.
    fileprivate mutating func take(tenant: String) throws(ResolutionError) {
        guard CredentialRequest.TokenWish.isTenant(tenant), let url = StrictURL(authority),
            url.path.pieces(between: "/").count == 1, let (place, _) = authority.cut(atLast: "/")
        else { throw .noTenants(authority: authority) }
        authority = "\(place)/\(tenant)"
        named.insert(.authority)
    }
}

extension String {
    /// An authority's URL as plugins are asked about it.
    public var withoutTrailingSlashes: String {
        var url = self[...]
        while url.utf8.last == UInt8(ascii: "/") { url = Substring(url.utf8.dropLast()) }
        return String(url)
    }

    /// The host of an https URL, without a port that is the scheme's own.
    var hostOfURL: RequestHost? {
        guard let url = StrictURL(self), url.scheme == "https", url.user == nil else { return nil }
        return url.host.withoutOwnPort(of: url.scheme)
    }

    /// Whether a scope is one of OpenID Connect's, which every application may ask for.
    package var isOpenIDScope: Bool { ["openid", "profile", "email", "offline_access"].contains(lowercased()) }

    /// The resource that a scope names: all before its last segment; nil if it is bare.
    public var resourceOfScope: String? {
        guard let (resource, _) = cut(atLast: "/"), !resource.isEmpty else { return nil }
        return resource.lowercased()
    }
}

extension Configuration {
    /// The hosts of every authority that the configuration names.
    public var configuredHosts: [String] {
        let named =
            rules.map(\.authority) + clients.map(\.issuer) + identities.compactMap { $0.application?.authority }
            + [authority].compactMap(\.self)
        let known = knownAuthorities.compactMap { RequestHost($0)?.withoutOwnPort(of: "https") }
        let hosts = (named.compactMap(\.hostOfURL) + known).map(\.text)
        return Set(hosts).sorted()
    }
}
