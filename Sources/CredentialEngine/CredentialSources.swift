import Addresses
public import PluginHost
public import Rules
public import TokenAcquisition
public import TokenStore

/// Where credentials come from, once the settings have been read: the rules, the keyring, the plugins and the person.
public struct CredentialSources: Sendable {
    /// The rules and settings.
    public let configuration: Configuration
    /// The plugins; they are looked for when they are first needed, which a stored password never does.
    public let plugins: InstalledPlugins
    /// The passwords in the keyring.
    public let passwords: PasswordStore
    /// What gets tokens.
    public let acquirer: TokenAcquirer
    /// Who finds the person.
    public let attendant: any Attendant
    /// The variables of the process.
    public let environment: [String: String]

    /// Puts them together.
    public init(
        configuration: Configuration, plugins: InstalledPlugins, passwords: PasswordStore, acquirer: TokenAcquirer,
        attendant: any Attendant, environment: [String: String] = [:]
    ) {
        self.configuration = configuration
        self.plugins = plugins
        self.passwords = passwords
        self.acquirer = acquirer
        self.attendant = attendant
        self.environment = environment
    }

    /// The token that a request comes to, or nil if it comes to none.
    public func resolve(_ request: CredentialRequest) throws(Refusal) -> TokenRequest? {
        guard var wanted = try mapping(of: request) else { return nil }
        guard wanted.userHint != nil else { return wanted }
        wanted.judgeUserHint(at: plugins.registry.match(wanted)?.issuer)
        return wanted
    }

    /// Whether a request comes to a token; looks for plugins only if the rules alone don't tell.
    func mapsToToken(_ request: CredentialRequest) throws(Refusal) -> Bool { try mapping(of: request) != nil }

    /// The token that a request comes to, before anybody knows what the user name in its URL means.
    private func mapping(of request: CredentialRequest) throws(Refusal) -> TokenRequest? {
        do throws(ResolutionError) {
            var wanted = try configuration.resolve(
                request,
                bareScopes: { authority, kind in
                    let isConfigured = configuration.names(authority: authority)
                    return plugins.registry.match(authority: authority, kind: kind, isConfigured: isConfigured)?
                        .plugin.bareScopes
                },
                issuerScopes: { authority, kind in
                    plugins.registry.match(authority: authority, kind: kind, isConfigured: true)?.issuer?.scopes
                },
                exchanges: { token, name, host in exchange(of: token, named: name, for: host) },
                ambient: { () throws(ResolutionError) in try plugins.registry.ambientIdentity(in: environment) },
                wellKnown: { host in
                    plugins.registry.resource(forHost: host.name).map { (name: $0.name, scopes: $0.scopes) }
                })
            if let named = wanted, named.identity == nil {
                wanted?.clientID = try configuration.clientID(of: named, in: plugins)
            }
            return wanted
        } catch {
            throw .unresolved(error)
        }
    }

    /// What a token is turned into for a host, by the name that a rule has for it; nil if the host takes the token itself.
    private func exchange(of token: TokenRequest, named name: String?, for host: RequestHost) -> TokenExchange.Row? {
        let registry = plugins.registry
        // Most hosts take the token itself, and matching its authority takes longer than that look.
        guard name != nil || registry.exchanges(forHost: host.text) else { return nil }
        var token = token
        token.authorityIsConfigured =
            token.authorityIsConfigured || token.identity != nil || configuration.names(authority: token.authority)
        return registry.match(token)
            .flatMap { registry.exchanger(named: name, forHost: host.text, at: $0) }?
            .exchange(named: name, forHost: host.text).map { ($0.name, $0.scopes, $0.isPerPath) }
    }

    /// The token that a request comes to once its server has been heard, or nil if it comes to none.
    func resolveHeedingServer(_ request: CredentialRequest) throws(Refusal) -> TokenRequest? {
        guard var wanted = try resolve(request) else { return nil }
        do throws(ResolutionError) {
            try wanted.heedServer(of: request) { [wanted] named in
                plugins.registry.match(wanted).flatMap {
                    plugins.registry.narrowing($0, to: named, isConfigured: wanted.authorityIsConfigured)
                }
            }
        } catch {
            throw .unresolved(error)
        }
        return wanted
    }

    /// What will be done for a request; throws if the keyring can't be used.
    func decide(_ request: TokenRequest, place: String?) throws(Refusal) -> Decision {
        let decision = acquirer.decide(request)
        if let error = decision.storeError { throw .noToken(.store(error), request, place: place) }
        return decision
    }

    /// Gets a token, asking the person if the attendant finds one.
    ///
    /// `place` is what the token is for, if it is for a URL. A keyring that is locked is tried once more after the person
    /// has unlocked it. Nobody is asked if the request is unattended.
    public func token(
        for request: TokenRequest, place: String?, by decision: Decision? = nil, isUnattended: Bool = false
    ) async throws(Refusal) -> AcquiredToken {
        let attendant = isUnattended ? nil : attendant
        do throws(Refusal) {
            return try await acquire(request, place, by: decision, attendant)
        } catch {
            guard error.isLockedKeyring, let attendant, await attendant.hasKeyringUnlocked(for: place) else {
                throw error
            }
            return try await acquire(request, place, by: nil, attendant)
        }
    }

    private func acquire(
        _ request: TokenRequest, _ place: String?, by decision: Decision?, _ attendant: (any Attendant)?
    ) async throws(Refusal) -> AcquiredToken {
        do throws(AcquisitionError) {
            let mayAsk = attendant?.mayAsk(for: place) ?? false
            return try await acquirer.token(for: request, by: decision, mayAsk: mayAsk) {
                await attendant?.person(for: place)
            }
        } catch {
            throw .noToken(error, request, place: place)
        }
    }
}

extension TokenRequest {
    /// Takes note whether the user name is an account's where the token comes from.
    public mutating func judgeUserHint(at issuer: PluginIssuer?) {
        userHintIsAccount = userHint.map { issuer?.hasAccounts(named: $0) ?? false } ?? false
    }
}

/// Who finds the person for the engine, which knows neither terminals nor windows.
public protocol Attendant: Sendable {
    /// Whether somebody may be there to be asked on behalf of this URL, as far as that shows at once.
    func mayAsk(for url: String?) -> Bool
    /// The person, who hears nothing of it yet; nil if nobody can be asked on behalf of this URL.
    func person(for url: String?) async -> TokenAcquirer.Person?
    /// Whether the person may be asked to unlock the keyring.
    var mayAskToUnlock: Bool { get }
    /// Has the person unlock the keyring; whether they have.
    func hasKeyringUnlocked(for url: String?) async -> Bool
}
