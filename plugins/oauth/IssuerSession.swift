import Addresses
import Claims
import OAuth
import PluginKit
import PluginOAuth
import PluginWire
import Secrets

/// The state of one request: an issuer with known endpoints.
struct IssuerSession: Sendable {
    var request: PluginRequest
    /// The authority's URL.
    let address: StrictURL
    let traits: IssuerTraits
    var metadata: IssuerMetadata
    let transport: Transport
    /// The metadata of the issuer and other services; from this request if `isRecalled` is false.
    var memo = MetadataMemo(nil)
    /// Whether the issuer has refused `offline_access`, as an older server may.
    var isWithoutOfflineAccess = false
    /// Whether the issuer wasn't asked because its metadata is cached.
    var isRecalled = false

    /// Gathers everything that must be known before involving the user.
    ///
    /// - Parameters:
    ///   - request: The host's request.
    ///   - transport: The transport to the issuer.
    ///   - recalling: Whether cached metadata is acceptable.
    /// - Returns: A session whose endpoints are safe to send codes and tokens to.
    /// - Throws: the errors of `IssuerMetadata.discover`; `invalid-request` for an incomplete request.
    static func open(
        _ request: PluginRequest, over transport: Transport, recalling: Bool = false
    ) async throws(PluginError) -> IssuerSession {
        guard let address = StrictURL(https: request.authority), address.segments.allSatisfy(\.isPathName) else {
            throw PluginError(
                .invalidRequest,
                "the authority \(request.authority.displayable(limit: 200)) is not a plain https URL")
        }
        guard !request.clientID.isEmpty || request.operation == .register else {
            throw PluginError(
                .invalidRequest, "there is no client ID for \(address.hostText)",
                hint: "register an application there and put its id into the rule as client-id")
        }
        let traits = IssuerTraits(kind: request.kind, authority: address)
        var memo = MetadataMemo(request.memo)
        let recalled = recalling ? recalled(memo, request, traits, at: address) : nil
        do throws(OAuthError) {
            let metadata = if let recalled { recalled } else { try await metadata(request, traits, over: transport) }
            if recalled == nil, let said = metadata.said {
                memo.keep(said.metadata, isOpenID: said.isOpenID, by: request.authority)
            }
            return IssuerSession(
                request: request, address: address, traits: traits, metadata: metadata, transport: transport,
                memo: memo, isRecalled: recalled != nil)
        } catch {
            throw error.pluginError(of: request)
        }
    }

    /// Returns the cached metadata after validating it again; nil if there is none, or if it leads to a host that nobody
    /// named.
    ///
    /// An issuer may have endpoints on other hosts, but only its own document may say so, not the cache.
    private static func recalled(
        _ memo: MetadataMemo, _ request: PluginRequest, _ traits: IssuerTraits, at address: StrictURL
    ) -> IssuerMetadata? {
        guard let said = memo.said(by: request.authority),
            var found = try? IssuerMetadata(
                said.metadata, isOpenID: said.isOpenID, of: request.authority, accepting: traits.accepts)
        else { return nil }
        found.endpoints = found.endpoints.overlaid(traits.endpoints)
        let used = [found.endpoints.token, found.endpoints.userinfo].compactMap(\.self)
        let places = request.issuerPlaces(traits)
        guard used.allSatisfy(places.contain), (try? found.check(at: places)) != nil else {
            return nil
        }
        return found
    }

    /// Returns the metadata from the known endpoints; if they don't suffice, from the issuer.
    private static func metadata(
        _ request: PluginRequest, _ traits: IssuerTraits, over transport: Transport
    ) async throws(OAuthError) -> IssuerMetadata {
        let known = configured(request, traits)
        // Only the issuer itself says whether it registers applications, whatever is known about its kind.
        if let known, request.operation != .register { return known }
        do throws(OAuthError) {
            var found = try await IssuerMetadata.discover(request.authority, over: transport, accepting: traits.accepts)
            found.endpoints = found.endpoints.overlaid(traits.endpoints)
            try found.check(at: request.issuerPlaces(traits))
            return found
        } catch {
            guard let known, error.kind == .notFound else { throw error }
            return known
        }
    }

    /// Returns the metadata from the known endpoints; nil if they don't suffice.
    private static func configured(_ request: PluginRequest, _ traits: IssuerTraits) -> IssuerMetadata? {
        let configured = traits.endpoints
        guard let token = configured.token,
            configured.authorization != nil || configured.deviceAuthorization != nil
        else { return nil }
        return IssuerMetadata(
            request.authority, endpoints: Endpoints(authorization: nil, token: token).overlaid(configured),
            isOpenID: traits.givesIDTokens, scopes: traits.givesIDTokens ? ["profile"] : [],
            authenticationMethods: [traits.takesSecretInForm ? "client_secret_post" : "client_secret_basic"])
    }

    /// The OAuth client of the request.
    var client: OAuthClient {
        var client = OAuthClient(
            request.clientID, at: address.hostText, endpoints: metadata.endpoints, scope: scope,
            redirectURI: redirectURI, transport: transport)
        client.grantParameters = request.resources.map { ("resource", $0) }
        if traits.renewsWithRedirect { client.renewalParameters = [("redirect_uri", redirectURI)] }
        client.issuer = OAuthClient.Issuer(metadata.issuer, isAlwaysNamed: metadata.namesIssuer)
        client.issuer?.aliases = traits.otherNames
        client.authentication = authentication
        client.hosts = issuerPlaces
        client.provesIssuer = metadata.provesIssuer
        client.sendsNonce = metadata.isOpenID
        client.deviceCodeNames = traits.deviceCodeNames
        return client
    }

    /// The hosts of the authority, and of what the configuration names for it and is known of its kind.
    var issuerPlaces: IssuerHosts { request.issuerPlaces(traits) }

    var redirectURI: String { request.redirectURI ?? "http://127.0.0.1" }

    private var authentication: ClientAuthentication {
        guard let secret = request.clientSecret, !secret.isEmpty else { return .none }
        let methods = metadata.authenticationMethods
        // Not every issuer decodes the encoded values in a header.
        let isPlain = [request.clientID, secret.reveal()].allSatisfy { FormEncoding.encode(value: $0) == $0 }
        let isInForm = methods.contains("client_secret_post") && !(isPlain && methods.contains("client_secret_basic"))
        return isInForm ? .post(secret) : .basic(secret)
    }

    /// The `scope` value of requests: the requested scopes and, as far as the issuer supports them, those for an ID
    /// token and a refresh token.
    var scope: String {
        let known = ["profile", "offline_access"].filter(metadata.scopes.contains)
        let others = traits.takesOfflineAccess && !isWithoutOfflineAccess ? ["offline_access"] : []
        let own = metadata.isOpenID ? ["openid"] + known : others
        return (own + request.scopes.filter { !own.contains($0) }).joined(separator: " ")
    }

    /// Returns the session with fresh metadata.
    func anew() async throws(PluginError) -> IssuerSession { try await Self.open(request, over: transport) }

    /// Redeems a refresh token.
    ///
    /// - Throws: `interaction-required` if the tokens are another account's.
    func renew(with refreshToken: Secret) async throws(PluginError) -> PluginResult {
        // Claims are for the sign-in page (OpenID Connect Core 1.0, 5.5), and a renewal repeats those of the sign-in.
        guard request.claims == nil else {
            throw PluginError(.interactionRequired, "\(address.hostText) takes requests for claims at a sign-in only")
        }
        let result = try await renew(by: refreshToken)
        guard let account = request.account, let owner = result.account, account.lowercased() != owner.homeAccountID
        else { return result }
        throw PluginError(
            .interactionRequired, "\(address.hostText) answered for a different account than requested")
    }

    /// Returns the checks that succeeded; configured metadata needed no request, so the issuer's servers are asked.
    func probe() async throws(PluginError) -> PluginProbe {
        if metadata.isConfigured {
            _ = try await plainly { () async throws(OAuthError) in try await transport.get(request.authority) }
        }
        return try await probe(request.authority, clockLead: metadata.clockLead)
    }

    /// Signs a user in, once more without `offline_access` if it may be that which the issuer refuses.
    func signIn(_ flows: [Flow], by user: any Conversation) async throws(PluginError) -> PluginResult {
        do throws(PluginError) { return try await signIn(flows, user) } catch {
            guard traits.takesOfflineAccess, error.error == "invalid_scope" else { throw error }
            var again = self
            again.isWithoutOfflineAccess = true
            return try await again.signIn(flows, user)
        }
    }

    /// Checks that a server still has the app that its kind registers by itself.
    ///
    /// A Gitea that doesn't know an app says so on its page only, and never sends the browser back. So it is asked to
    /// redeem a code that it can't know: it looks for the app first.
    func checkDefaultApp() async throws(PluginError) {
        guard traits.registersApps, let name = request.clientName else { return }
        do throws(OAuthError) {
            _ = try await client.redeem(.code(Secret("unknown"), redirectURI: redirectURI, verifier: "unknown"))
        } catch {
            guard case .refused(let response, _) = error.kind else { throw pluginError(error) }
            guard response.error == "invalid_client" else { return }
            var unknown = PluginError(
                .invalidRequest,
                "\(address.hostText) does not know the app \(name): its administrator has turned it off")
            unknown.error = response.error
            unknown.reasons = [.clientRefused]
            throw unknown
        }
    }

    /// Revokes a refresh token, if the issuer supports that.
    func revoke(_ refreshToken: Secret) async throws(PluginError) {
        guard let endpoint = metadata.endpoints.revocation else { return }
        try await plainly { () async throws(OAuthError) in
            try await client.revoke(refreshToken, at: endpoint)
        }
    }

    /// Returns the URL of the page that ends the browser's session (OpenID Connect RP-Initiated Logout 1.0, 2).
    ///
    /// It gets the ID token, so it must be at a named host or where tokens come from.
    /// There is no `post_logout_redirect_uri`, because nothing here waits for it; the issuer's page says that the
    /// session has ended.
    func endSessionPage() throws(PluginError) -> String {
        guard let endpoint = metadata.endpoints.endSession else {
            throw PluginError(.unsupported, "\(address.hostText) has no page to end a session at")
        }
        guard issuerPlaces.contain(endpoint) || IssuerHosts.areSame(endpoint, metadata.endpoints.token) else {
            throw pluginError(.foreign(endpoint, "a sign-out page", named: metadata.issuer))
        }
        var fields: [FormEncoding.Field] = []
        if let token = request.idTokenHint { fields.append(("id_token_hint", token.reveal())) }
        fields.append(("client_id", request.clientID))
        if request.idTokenHint == nil, let hint = request.signIn.loginHint { fields.append(("logout_hint", hint)) }
        return FormEncoding.append(fields, to: endpoint)
    }

    /// Converts an error to one of the plugin protocol.
    func pluginError(_ error: OAuthError) -> PluginError {
        error.pluginError(of: request)
    }

    /// Registers an application, if the issuer supports dynamic registration.
    ///
    /// - Throws: `declined-scopes` if the application may not request the required scopes; in that case its
    ///   registration is deleted again. `invalid-request` if its page to sign in at is at a host that nobody named,
    ///   where the client ID could be one of another issuer's.
    func register() async throws(PluginError) -> PluginRegistration {
        guard let endpoint = metadata.registration else {
            throw PluginError(
                .unsupported, "\(address.hostText) registers no applications by itself",
                hint: "register one on its pages, and give its client ID")
        }
        if !metadata.isConfigured, let page = metadata.endpoints.authorization, !issuerPlaces.contain(page) {
            throw pluginError(.foreign(page, "a sign-in page", named: metadata.issuer))
        }
        let wanted = ClientRegistration(
            name: request.clientName ?? "lanyard", redirectURI: redirectURI, scope: scope,
            usesDeviceCodes: metadata.endpoints.deviceAuthorization != nil)
        let client = try await plainly { () async throws(OAuthError) in
            try await wanted.send(to: endpoint, of: address.hostText, over: transport)
        }
        if let error = client.obstacle.map(pluginError) ?? refusal(ofScopes: client) {
            throw await takingBack(client, after: error)
        }
        var registration = PluginRegistration(clientID: client.id, clientSecret: client.secret)
        registration.secretExpiresAt = client.secretExpiresAt
        registration.management = client.management.map { .init(uri: $0.uri, token: $0.token) }
        return registration
    }

    private func refusal(ofScopes client: RegisteredClient) -> PluginError? {
        let missing = request.scopes.filter { !ScopeText.isOpenID($0) && client.scopes?.contains($0) == false }
        guard !missing.isEmpty else { return nil }
        var error = PluginError(
            .declinedScopes, "\(address.hostText) registers no applications for \(missing.joined(separator: ", "))",
            hint: "register one on its pages, and give its client ID")
        error.declinedScopes = missing
        return error
    }

    /// Returns the error after deleting an unusable registration, with what remains of it if the issuer doesn't delete
    /// it.
    private func takingBack(_ client: RegisteredClient, after error: PluginError) async -> PluginError {
        do throws(OAuthError) {
            try await client.management?.delete(of: address.hostText, over: transport)
            if client.management != nil { return error }
        } catch {}
        var error = error
        error.message += "; it keeps the application \(client.id), which is of no use"
        return error
    }
}

extension IssuerMetadata {
    /// Whether its tokens are accepted only with an ID token, which names the issuer.
    var provesIssuer: Bool { isOpenID && !isConfigured }
}

extension IssuerSession: OAuthSession {
    /// Returns prompt, hints, claims, resources and other additional parameters.
    ///
    /// - Throws: as `PluginRequest.signInFields`.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        let claims = request.claims.map { [("claims", $0)] } ?? []
        return try traits.parameters
            + request.signInFields(
                prompts: traits.prompts, at: address.hostText, claims + request.resources.map { ("resource", $0) }
            ) { [(traits.hintName, $0)] }
    }

    /// Returns the validated tokens as a result of the plugin protocol.
    func accept(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> PluginResult {
        try await result(response, nonce: nonce)
    }

    /// Whether another flow may succeed: an issuer may deny device codes to this client or for these scopes, but allow
    /// a sign-in in the browser.
    func shouldTryNextFlow(after error: OAuthError) -> Bool {
        switch error.kind {
        case .notFound: true
        case .refused(let response, .device): Self.withoutDeviceCodes.contains(response.error)
        default: false
        }
    }

    private static let withoutDeviceCodes: Set = ["device_flow_disabled", "unauthorized_client", "invalid_scope"]

    /// Returns the page for a successful sign-in: the account, and the resource or authority.
    func page(with result: PluginResult) -> LoopbackPage {
        var page = LoopbackPage.success
        page.facts = request.facts(account: result.account?.username, authority: request.authority)
        return page
    }

    /// Returns the page for an error: the user's cancellation, or any other failure.
    func page(after error: OAuthError) -> LoopbackPage {
        var page = LoopbackPage(after: error)
        page.facts = request.facts(account: request.signIn.loginHint, authority: request.authority)
        return page
    }
}
