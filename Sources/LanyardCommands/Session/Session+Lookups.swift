import Addresses
import CredentialEngine
import PluginHost
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition
import TokenStore

// Lookups that need the configuration, the plugins or the keyring.

extension Session {
    /// Returns all accounts and where each is used, or only those of one authority; at a terminal, it offers to unlock
    /// the keyring.
    func accounts(at named: NamedPlace? = nil, for url: String? = nil) async throws(Failure) -> KnownAccounts {
        let stored = try await storedRecords(for: url ?? named?.url)
        return KnownAccounts(acquirer.accounts(among: stored), at: named)
    }

    /// The plugins of brokers that tokens may come from, each with requests of rules and of the top-level authority.
    var brokerUses: [(plugin: PluginManifest, requests: [TokenRequest])] {
        var own = CredentialRequest()
        own.wish.authority = configuration.authority
        own.wish.scopes = ["openid"]
        let rules = configuration.rules.filter { $0.identity == nil }.map(\.pattern.request)
        let uses = (rules + (configuration.authority == nil ? [] : [own])).compactMap {
            asked -> (PluginManifest, TokenRequest)? in
            guard let request = try? resolve(asked), let match = registry.match(request),
                let plugin = registry.broker(for: match)
            else { return nil }
            return (plugin, request)
        }
        return uses.map(\.0).uniqued.map { plugin in (plugin, uses.filter { $0.0 == plugin }.map(\.1)) }
    }

    /// Whether a URL's token can be given without the user.
    func isSignedIn(for pattern: URLPattern) -> Bool {
        guard let wanted = try? resolve(pattern.request) else { return false }
        return switch acquirer.decide(wanted).step {
        case .answer, .exchange, .renew, .authenticate: true
        case .askPerson, .refuse: false
        }
    }

    /// Returns the remembered answer of `get`.
    ///
    /// Unless the request is exactly a tool's, it may be remembered with or without the path, which depends on git's
    /// configuration.
    func remembered(for request: CredentialRequest, isExact: Bool = false) -> Credential? {
        guard configuration.answerCache else { return nil }
        return (isExact ? [request.path] : [request.path, nil]).compactMap { [context] path in
            var asked = request
            asked.path = path
            return CachedCredential(asked, in: context.surroundings)?.credential
        }.first
    }

    /// Returns the place of an authority's records.
    func place(of authority: String) throws(Failure) -> AuthorityPlace {
        let known = AuthorityURL(authority).map { configuration.configuredHosts.contains($0.host) } ?? false
        guard let match = registry.match(authority: authority, isConfigured: known) else {
            throw Failure(
                unknownAuthority: authority, in: registry,
                hints: [Hint("see which are stored", run: "lanyard cache list")])
        }
        return AuthorityPlace(match)
    }

    /// Returns the scopes of the well-known resource with a name, in any case; nil if there is none.
    func scopes(named resource: String) -> [String]? {
        registry.plugins.flatMap(\.resources).first { $0.name.lowercased() == resource.lowercased() }?.scopes
    }

    /// Returns the scopes of a resource, by its well-known name or its identifier.
    func scopes(ofResource text: String) throws(Failure) -> [String] {
        if let known = scopes(named: text) { return known }
        let scope = CredentialRequest.TokenWish.scope(ofResource: text)
        guard scope.isScopeToken else {
            let near = registry.plugins.flatMap(\.resources).map(\.name).nearest(to: text)
            throw Failure(
                "there is no resource \(text.displayable(limit: 100))",
                hints: [
                    near.map { Hint("did you mean \($0)?") }
                        ?? "an identifier has no spaces, quotes or control characters"
                ],
                status: .usage)
        }
        return [scope]
    }

    /// Returns the identity with a name, which may be the one that the environment describes.
    func identity(named name: String) throws(Failure) -> Identity {
        do throws(ResolutionError) { return try configuration.identity(named: name) } catch {
            throw Failure(error, in: context)
        }
    }

    /// Returns the authority of an application, with the plugin that serves it.
    func match(_ identity: Identity) throws(Failure) -> AuthorityMatch {
        let authority = identity.authority ?? ""
        let match = registry.match(authority: authority, kind: identity.application?.kind, isConfigured: true)
        guard let match else { throw Failure(unknownAuthority: authority, in: registry) }
        return match
    }

    /// Returns the default resource of an identity's authority.
    func ownResource(of name: String) throws(Failure) -> String {
        let identity = try identity(named: name)
        let own = identity.application == nil ? nil : try match(identity).plugin.bareScopes
        // Machines ask their platform; what the variables describe is only known with the token.
        guard let resource = own ?? registry.plugins.lazy.compactMap(\.bareScopes).first else {
            throw Failure(
                "no plugin says which API \(name.displayable(limit: 64)) could get a token for",
                hints: [Hint("name it", write: "--resource RESOURCE")], status: .usage)
        }
        return resource
    }

    /// Whether users may be sent to an authority's host without confirmation: a manifest or the configuration names it,
    /// or it is this machine.
    func trusts(authorityHost host: String) -> Bool {
        registry.names(host: host) || configuration.configuredHosts.contains(host)
            || RequestHost(host)?.isThisMachine == true
    }
}
