import Addresses
import Claims
public import Model

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

    /// Returns the identity with this name; of several files' the last, so that a user's wins.
    public func identity(named name: String) throws(ResolutionError) -> Identity {
        let known = Identity.builtIn + identities
        guard let identity = known.last(where: { $0.name.isSame(as: name) }) else {
            throw .unknownIdentity(name, names: known.map(\.name))
        }
        return identity
    }

    /// Returns the token that a rule maps its URLs to, without a client ID if nothing names one; nil if it gives nothing.
    public func request(by rule: Rule) -> TokenRequest? {
        guard rule.unknownKey == nil else { return nil }
        var request = TokenRequest(
            rule.authority.withoutTrailingSlashes, isConfigured: true, clientID: clientID(of: rule) ?? "",
            scopes: rule.scopes, origin: .rule(rule.pattern.text))
        request.kind = rule.kind
        request.resourceIndicators = rule.resourceIndicators
        request.account = rule.account ?? account
        request.signIn = rule.signIn
        request.userHint = rule.pattern.request.username
        return request
    }

    /// Whether a rule, a `[[client]]`, `authority` or `known-authorities` names the authority's host.
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
    /// Whether an authority only stands for identities that a plugin finds on this machine.
    public static func isMachine(authority: String) -> Bool { MachineIdentity.plugin(ofAuthority: authority) != nil }

    /// The authority that its tokens are stored under.
    public var authority: String? {
        switch source {
        case .application(let application): application.authority
        case .machine(_, let plugin): MachineIdentity.authority(of: plugin)
        case .environment: nil
        }
    }

    /// The client that its tokens are stored under; for a machine's identity MSAL's name or else the text that selects
    /// it.
    public var clientID: String {
        switch source {
        case .application(let application): application.clientID
        case .machine("system", MachineIdentity.plugin): "SYSTEM_ASSIGNED_MANAGED_IDENTITY"
        case .machine(let id, _): id
        case .environment: ""
        }
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
