import Addresses
import Claims
import FoundationEssentials
public import Keyring
public import Model
public import PluginHost
import PluginWire
import Rules
import Secrets

/// Makes the requests to plugins.
struct PluginRequests: Serviced {
    let services: AcquisitionServices

    /// Sets the fields that shape the sign-in page.
    ///
    /// If the tenant doesn't know the account that is signed in, the user has to choose another, unless the account was
    /// named.
    func shape(
        _ ask: inout PluginRequest, for request: TokenRequest, account: AccountRecord?, because error: PluginError?
    ) {
        let isUnknownAccount = request.expectedAccount == nil && error?.isAboutAccount == true
        ask.signIn = request.signIn
        // A device code's page lets the user choose anyway.
        let prompt = isUnknownAccount && ask.flows != [.deviceCode] ? "select_account" : nil
        ask.signIn.prompt = request.signIn.prompt ?? prompt
        ask.signIn.loginHint =
            request.signIn.loginHint ?? (isUnknownAccount ? nil : account?.username) ?? request.expectedAccount
    }

    /// Sets the flows and the redirect URI, as far as the client leaves them open.
    ///
    /// - Throws: as `AuthorityMatch.flows(for:among:hasSecret:)`.
    func route(
        _ ask: inout PluginRequest, for request: TokenRequest, _ authority: AuthorityMatch,
        _ flows: [PluginRequest.Flow]
    ) throws(AcquisitionError) {
        ask.redirectURI = authority.redirect(for: request)
        ask.flows = try authority.flows(for: request, among: flows, hasSecret: ask.clientSecret != nil)
    }

    /// Returns the request to redeem a refresh token; some authorities want to know where its sign-in came back to.
    func renewal(
        by refreshToken: RefreshTokenRecord, for request: TokenRequest, _ authority: AuthorityMatch,
        clientSecret: Secret?
    ) throws(AcquisitionError) -> PluginRequest {
        var ask = try make(.renew, for: request, authority, clientSecret: clientSecret)
        ask.redirectURI = authority.redirect(for: request)
        ask.account = refreshToken.homeAccountID
        ask.refreshToken = refreshToken.secret
        return ask
    }

    /// Sets the names that the user sees during the sign-in.
    func name(_ ask: inout PluginRequest, purpose: String?) {
        ask.clientName = registry.client(withID: ask.clientID)?.name
        ask.purpose = purpose ?? registry.resource(forScopes: ask.scopes)?.name
    }

    /// Creates the request that renewal, sign-in and probe have in common.
    ///
    /// - Throws: `.noClientSecret` if nothing works there without one.
    func make(
        _ operation: PluginRequest.Operation, for request: TokenRequest, _ authority: AuthorityMatch,
        clientSecret: Secret?
    ) throws(AcquisitionError) -> PluginRequest {
        if clientSecret == nil, authority.issuer?.needsSecret == true { throw .noClientSecret }
        var ask = make(operation, at: request.authority, authority)
        ask.clientSecret = clientSecret
        ask.apply(request)
        return ask
    }

    /// Returns the scopes that the rules for the same authority and client need besides, where renewals add none: without
    /// them, a sign-in for one of these URLs would take the others' away.
    func scopesOfOtherRules(for request: TokenRequest, _ authority: AuthorityMatch) -> [String] {
        guard let usual = authority.issuer?.scopes, request.resourceIndicators.isEmpty else { return [] }
        let configuration = services.configuration
        let rules = configuration.rules.filter { rule in
            let client = configuration.clientID(of: rule).map { authority.client($0)?.id ?? $0 }
            return rule.source == nil && rule.identity == nil && rule.resourceIndicators.isEmpty
                && registry.match(authority: rule.authority, kind: rule.kind, isConfigured: true)?.key == authority.key
                && client?.clientKey == request.clientID.clientKey
        }
        return rules.flatMap { $0.scopes.isEmpty ? usual : $0.scopes }.uniqued.filter { !request.scopes.contains($0) }
    }

    /// Creates a request to a broker's plugin, which isn't the authority's own and so gets no client's secret.
    func forBroker(
        _ operation: PluginRequest.Operation, for request: TokenRequest, _ authority: AuthorityMatch
    ) -> PluginRequest {
        var ask = make(operation, at: request.authority, authority)
        ask.apply(request)
        return ask
    }

    /// Creates the request that all operations of a client have in common, with its stored secret, if there is one.
    func make(
        _ operation: PluginRequest.Operation, of clientID: String, at authority: String, _ match: AuthorityMatch
    ) throws(AcquisitionError) -> PluginRequest {
        var ask = make(operation, at: authority, match)
        ask.clientID = clientID
        ask.clientSecret = try clientSecret(of: clientID, at: match)
        return ask
    }

    /// Creates the request that all operations have in common.
    func make(
        _ operation: PluginRequest.Operation, at authority: String, _ match: AuthorityMatch
    ) -> PluginRequest {
        var ask = PluginRequest(operation)
        // Plugins answer for its host, which is in lower case wherever it is compared.
        ask.authority = AuthorityURL(authority)?.description ?? authority
        ask.kind = match.issuer?.kind
        ask.network.caFiles = services.configuration.caFile.map { [$0] } ?? []
        ask.knownHosts = services.configuration.configuredHosts
        ask.issuerHosts = services.configuration.issuerHosts(at: authority)
        ask.correlationID = UUID().uuidString.lowercased()
        return ask
    }

    /// Returns the stored secret of a client; nil if there is none, or if the plugin's clients never have one.
    func clientSecret(of clientID: String, at match: AuthorityMatch) throws(AcquisitionError) -> Secret? {
        guard let clientSecrets = services.clientSecrets else { return nil }
        return try storing { () throws(KeyringError) in try clientSecrets.secret(of: clientID, at: match)?.secret }
    }
}

extension PluginRequest {
    /// Takes what a token is wanted for.
    fileprivate mutating func apply(_ request: TokenRequest) {
        clientID = request.clientID
        scopes = request.scopes
        resources = request.resourceIndicators
        claims = request.claims
        capabilities = [.claimsChallenge]
    }
}

extension AuthorityMatch {
    /// Whether the scopes of tokens are those of the sign-in, as at hosts whose manifest names scopes: renewals add none.
    var scopesAreOfSignIn: Bool { issuer?.scopes != nil }

    /// Of these ways to sign in those that the plugin and the issuer have, the client may use and the request can be made by.
    ///
    /// - Throws: `.noUsableFlow` or `.needsPage` if there are none of them; `.noClientSecret` if the client only lacks its
    ///   secret; `.plugin` if the plugin doesn't support what is asked for.
    func flows(
        for request: TokenRequest, among flows: [PluginRequest.Flow], hasSecret: Bool
    ) throws(AcquisitionError) -> [PluginRequest.Flow] {
        var ask = PluginRequest(.authorize)
        ask.apply(request)
        ask.signIn = request.signIn
        ask.redirectURI = redirect(for: request)
        do throws(PluginError) { try plugin.require(supportFor: ask) } catch { throw .plugin(error, name: plugin.name) }
        let usable = try usable(flows, by: request.clientID, hasSecret: hasSecret)
        guard let needed = PluginSupport.ofPages.first(where: { $0.isAsked(by: ask) }) else { return usable }
        let pages = usable.filter { $0 != .deviceCode }
        if pages.isEmpty, !usable.isEmpty { throw .needsPage(needed) }
        return pages
    }

    private func usable(
        _ flows: [PluginRequest.Flow], by clientID: String, hasSecret: Bool
    ) throws(AcquisitionError) -> [PluginRequest.Flow] {
        let client = client(clientID)
        let own = plugin.flows.isEmpty ? flows : flows.filter(plugin.flows.contains)
        let known = issuer?.usable(own, hasSecret: hasSecret) ?? own
        let usable = client?.usable(known) ?? known
        guard usable.isEmpty, !flows.isEmpty else { return usable }
        if known.isEmpty, issuer?.usable(own, hasSecret: true).isEmpty == false { throw .noClientSecret }
        guard let client, !known.isEmpty else {
            throw .noUsableFlow(among: issuer?.flows ?? plugin.flows, client: nil, host: authority.host)
        }
        throw .noUsableFlow(among: client.flows, client: client.name, host: authority.host)
    }

    /// Returns where the browser comes back to; nil for the plugin's own choice.
    func redirect(for request: TokenRequest) -> String? {
        plugin.redirect(of: client(request.clientID), port: request.signIn.redirectPort)
            ?? issuer?.registration.redirectURI
    }

    /// Where its tokens are found in the store.
    var key: AuthorityKey { AuthorityKey(self) }
}

extension [PluginRequest.Flow] {
    /// Those that the authority's own plugin has; the rest is a broker's.
    var pages: Self { filter { $0 != .broker } }
}

extension ClientSecretStore {
    /// Returns the stored secret of a client at an authority; nil if there is none, or if the plugin's clients never
    /// have one.
    public func secret(of clientID: String, at match: AuthorityMatch) throws(KeyringError) -> ClientSecret? {
        guard match.plugin.supports.contains(.clientSecrets) else { return nil }
        return try secret(of: Owner(clientID, at: AuthorityKey(match)))
    }
}

extension ClientSecretStore.Owner {
    /// Creates the key of a client at an authority.
    public init(_ clientID: String, at place: AuthorityKey) {
        self.init(environment: place.environment, realm: place.realm, clientID: clientID)
    }
}

extension PluginManifest {
    /// Returns the redirect URI for a client; nil for the plugin's own choice.
    ///
    /// A port can be chosen only if the client's redirect URI leads to this machine and has no port.
    func redirect(of client: PluginClient?, port: Int?) -> String? {
        guard let registered = client?.redirectURI ?? port.map({ _ in redirectURI ?? "http://localhost" }) else {
            return nil
        }
        return RedirectURI(registered)?.text(listeningAt: port) ?? registered
    }
}

extension PluginRegistry {
    /// Returns the plugin and the authority for a request; nil if no plugin serves the authority.
    public func match(_ request: TokenRequest) -> AuthorityMatch? {
        if Identity.isMachine(authority: request.authority) { return machine(authority: request.authority) }
        return match(
            authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
    }
}
