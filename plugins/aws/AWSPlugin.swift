import Addresses
import FoundationEssentials
import OAuth
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets

/// The plugin for AWS: sign-ins at IAM Identity Center, and the exchanges that make keys, registries' and repositories'
/// passwords of tokens, whoever issued these.
package struct AWSPlugin: AuthorityPlugin {
    private let connector: AuthorityConnector

    /// The name, version, protocol versions, flows and exchanges.
    package var description: PluginDescription {
        PluginDescription(
            name: "aws", version: Version.current, protocols: [PluginProtocol.version],
            flows: [.browser, .deviceCode, .paste], identities: [.managed],
            exchanges: AWSExchange.allCases.map(\.rawValue))
    }

    /// Creates the plugin; the environment has the proxy and certificate variables.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        connector = AuthorityConnector(environment: environment)
    }

    /// Signs a user in with the first of the request's flows that is possible here, as the client that the host keeps or a new
    /// one.
    package func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult {
        let flows = try request.oauthFlows(of: description.name)
        return try await connector.connected(request) { transport throws(PluginError) in
            try await IdentityCenter(request, over: transport).registered(for: flows) {
                center throws(PluginError) in try await center.signIn(flows, user)
            }
        }
    }

    /// Redeems a refresh token, as the client that it came to.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        let kept = try request.requiredRefreshToken()
        return try await connector.connected(request) { transport throws(PluginError) in
            let (center, refreshToken) = try IdentityCenter(request, over: transport).recalled(from: kept)
            return try await center.renew(by: refreshToken)
        }
    }

    /// Finds the keys that this machine has without a user.
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        guard request.identity?.kind == .managed, request.identity?.managedID == "system" else {
            throw PluginError(
                .unsupported, "aws serves no identity but the machine's own", hint: "leave managed out of the identity")
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            try await MachineKeys(request, over: transport).found().keys.token(for: request)
        }
    }

    /// Refuses: the browser's own session is ended on the start page.
    package func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {
        throw PluginError(.unsupported, "a session at IAM Identity Center is ended on the start page")
    }

    /// Ends the sign-in at the portal, which takes only an access token: a last one is redeemed for that.
    package func revoke(_ request: PluginRequest) async throws(PluginError) {
        let result = try await renew(request)
        try await connector.connected(request) { transport throws(PluginError) in
            let region = try IdentityCenter(request, over: transport).region
            try await Portal(region: region, token: result.accessToken, transport: transport, request: request)
                .logOut()
        }
    }

    /// Exchanges a token of Identity Center, or of another issuer, for keys or for a registry's password.
    package func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        let name = request.exchange ?? ""
        guard let exchange = AWSExchange(rawValue: name) else {
            throw PluginError(.unsupported, "aws has no exchange \(name.displayable(limit: 64))")
        }
        return try await connector.connected(request) { transport throws(PluginError) in
            try await exchange.credential(for: request, over: transport)
        }
    }

    /// Finds out whether the region's endpoint answers a client; one that is registered for this, AWS forgets by itself.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        try await connector.connected(request) { transport throws(PluginError) in
            if request.identity != nil {
                var probe = PluginProbe([.authority])
                probe.summary = try await MachineKeys(request, over: transport).found().words
                return probe
            }
            return try await IdentityCenter(request, over: transport).registered(for: [.deviceCode]) {
                center throws(PluginError) in try await center.probe(center.oidc, clockLead: nil)
            }
        }
    }
}
