import Addresses
import Claims
import PluginHost
import PluginWire
import Rules
import TokenStore

extension TokenAcquirer {
    /// Sets what shapes the page that the person gets.
    ///
    /// If the tenant doesn't know the account that is signed in, the person is to choose another, unless it is the one that
    /// was named.
    func shape(
        _ ask: inout PluginRequest, for request: TokenRequest, account: AccountRecord?, because error: PluginError?
    ) {
        let isStranger = request.expectedAccount == nil && error?.isAboutAccount == true
        ask.signIn = request.signIn
        ask.signIn.prompt = request.signIn.prompt ?? (isStranger ? "select_account" : nil)
        ask.signIn.loginHint =
            request.signIn.loginHint ?? (isStranger ? nil : account?.username) ?? request.expectedAccount
    }

    /// Sets the ways to sign in and where the browser comes back to, as far as the client leaves that open.
    ///
    /// - Throws: `.plugin` if the client may use none of the flows that can work here.
    func route(
        _ ask: inout PluginRequest, for request: TokenRequest, _ authority: MatchedAuthority,
        _ flows: [PluginRequest.Flow]
    ) throws(AcquisitionError) {
        let client = authority.match.client(request.clientID)
        let known = authority.match.issuer?.usable(flows) ?? flows
        ask.flows = client?.usable(known) ?? known
        ask.redirectURI =
            client.redirect(port: request.signIn.redirectPort) ?? authority.match.issuer?.registration.redirectURI
        guard ask.flows.isEmpty, !flows.isEmpty else { return }
        let name = authority.match.plugin.name
        let obstacle =
            if let client, !known.isEmpty {
                ("the client \(client.name) can't sign in here", "it may be used with \(Self.list(client.flows)) only")
            } else {
                (
                    "\(authority.match.authority.host) has none of the ways to sign in that can be used here",
                    "it has \(Self.list(authority.match.issuer?.flows ?? []))"
                )
            }
        throw .plugin(PluginError(.unsupported, obstacle.0, hint: obstacle.1), name: name)
    }

    private static func list(_ flows: [PluginRequest.Flow]) -> String {
        flows.map(\.rawValue).joined(separator: ", ")
    }

    /// Sets what people are told of the sign-in.
    func name(_ ask: inout PluginRequest, purpose: String?) {
        ask.clientName = registry.client(withID: ask.clientID)?.name
        ask.purpose = purpose ?? registry.resource(forScopes: ask.scopes)?.name
    }

    /// Sets what renewal and sign-in have in common.
    func fill(_ ask: inout PluginRequest, from request: TokenRequest, _ authority: MatchedAuthority) {
        ask.authority = request.authority
        ask.fill(from: authority.match)
        ask.clientID = request.clientID
        ask.scopes = request.scopes
        ask.claims = request.claims
        ask.capabilities = [.claimsChallenge]
        ask.caFile = caFile
        ask.knownHosts = knownHosts
        ask.correlationID = CorrelationID.make()
    }
}

extension PluginRequest {
    /// Sets what the manifest says of the issuer, which the plugin need not find out.
    mutating func fill(from match: AuthorityMatch) {
        guard let issuer = match.issuer else { return }
        kind = issuer.kind
        endpoints = issuer.endpoints(at: match.authority)
    }
}

extension PluginClient? {
    /// Where the browser is to come back to; nil for the plugin's own choice.
    ///
    /// A port can be chosen only if the client's redirect leads to this machine and has none.
    fileprivate func redirect(port: Int?) -> String? {
        guard let registered = self?.redirectURI else { return port.map { "http://localhost:\($0)" } }
        guard let port, let url = StrictURL(registered), url.scheme == "http", url.host.port == nil else {
            return registered
        }
        return "http://\(url.host.urlText):\(port)\(url.tail)"
    }
}
