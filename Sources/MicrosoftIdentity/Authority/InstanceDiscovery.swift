import Addresses
import HTTP
import OAuth

/// Decides whether to trust an authority's host, and which hosts belong to its environment.
enum InstanceDiscovery {
    /// The host that is asked about unknown hosts.
    static let trustedHost = "login.microsoftonline.com"

    /// Returns an authority's environment.
    ///
    /// Microsoft's own clouds are built in. A B2C tenant's own host and hosts in the configuration are environments of
    /// their own. Only for other hosts, Microsoft's instance discovery is asked. Unlike in MSAL .NET and Go, a host is
    /// rejected if discovery fails: the user's code and refresh token would be sent there.
    ///
    /// - Throws: `invalidRequest` if Microsoft doesn't know the host.
    static func resolve(
        _ authority: Authority, knownHosts: [String], over transport: Transport
    ) async throws(OAuthError) -> InstanceMetadata {
        if let metadata = InstanceMetadata.known(authority.environment) { return metadata }
        if isNamed(authority, by: knownHosts) { return .single(authority.environment) }
        if authority.kind == .b2c {
            if authority.port == nil, B2CHost.contains(authority.host) { return .single(authority.host) }
            throw unknown(authority)
        }
        return try await ask(authority, over: transport)
    }

    /// Whether the configuration names the authority's host; a host without a port matches every port.
    static func isNamed(_ authority: Authority, by knownHosts: [String]) -> Bool {
        knownHosts.contains { [authority.environment, authority.host].contains($0.lowercased()) }
    }

    private static func ask(
        _ authority: Authority, over transport: Transport
    ) async throws(OAuthError) -> InstanceMetadata {
        let answer = try await transport.get(url(for: authority))
        if answer.status != 200 {
            guard let refusal = ErrorResponse(answer) else { throw unreadable }
            throw refusal.error == "invalid_instance"
                ? unknown(authority) : OAuthError(refusal, at: .configuration)
        }
        guard let document = answer.json(Document.self), document.tenant_discovery_endpoint != nil else {
            throw unreadable
        }
        let entry = (document.metadata ?? []).first { $0.aliases.contains(authority.environment) }
        guard let entry, entry.aliases.contains(entry.preferredNetwork),
            entry.aliases.allSatisfy({ StrictURL(https: "https://\($0)")?.hostText == $0 })
        else { return .single(authority.environment) }
        return entry
    }

    static func url(for authority: Authority) -> String {
        let asked = ConventionalEndpoints(base: authority.url).authorization ?? ""
        return FormEncoding.append(
            [("api-version", "1.1"), ("authorization_endpoint", asked)],
            to: "https://\(trustedHost)/common/discovery/instance")
    }

    private static var unreadable: OAuthError {
        .unreadable(from: trustedHost, not: "instance discovery metadata")
    }

    private static func unknown(_ authority: Authority) -> OAuthError {
        OAuthError(
            .invalidRequest, "\(authority.environment) is not known as an authority",
            hint: "name it in a rule of the configuration if you trust it with your sign-in")
    }

    private struct Document: Decodable {
        var tenant_discovery_endpoint: String?
        var metadata: [InstanceMetadata]?
    }
}
