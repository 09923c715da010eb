import Addresses
import HTTP
import JSON
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
            if authority.port == nil, Authority.isB2CHost(authority.host) { return .single(authority.host) }
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
        guard let document = answer.json, document["tenant_discovery_endpoint"]?.string != nil else { throw unreadable }
        let entries = (document["metadata"]?.elements ?? []).map(InstanceMetadata.init)
        guard !entries.contains(nil) else { throw unreadable }
        let entry = entries.lazy.compactMap(\.self).first { $0.aliases.contains(authority.environment) }
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
}

/// The hosts that form one environment: one of Microsoft's clouds, or a single host of its own.
package struct InstanceMetadata: Sendable, Equatable {
    /// The host for requests; tokens are stored under it.
    package let preferredNetwork: String
    /// The host that MSAL for Objective-C and .NET store tokens under.
    package let preferredCache: String
    /// Every host of the environment, as `host` or `host:port`.
    package let aliases: [String]

    private init(_ network: String, cache: String? = nil, aliases: [String]) {
        (preferredNetwork, preferredCache, self.aliases) = (network, cache ?? network, aliases)
    }

    /// Parses what instance discovery says of an environment; nil if it is something else.
    init?(_ entry: JSONValue) {
        guard let network = entry["preferred_network"]?.string, let cache = entry["preferred_cache"]?.string,
            let aliases = entry["aliases"]?.texts
        else { return nil }
        self.init(network, cache: cache, aliases: aliases)
    }

    /// Returns an environment with a single host.
    package static func single(_ environment: String) -> InstanceMetadata {
        InstanceMetadata(environment, aliases: [environment])
    }

    /// Returns the built-in environment of a host; nil if there is none.
    package static func known(_ host: String) -> InstanceMetadata? {
        clouds.first { $0.aliases.contains(host) }
    }

    /// Whether the host is one of Microsoft's that needs no instance discovery.
    package static func isTrusted(_ host: String) -> Bool {
        known(host) != nil
    }

    private static let clouds: [InstanceMetadata] = [
        InstanceMetadata(
            "login.microsoftonline.com", cache: "login.windows.net",
            aliases: [
                "login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net",
            ]),
        InstanceMetadata(
            "login.partner.microsoftonline.cn",
            aliases: ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"]),
        InstanceMetadata(
            "login.microsoftonline.us",
            aliases: ["login.microsoftonline.us", "login.usgovcloudapi.net"]),
        .single("login.microsoftonline.de"),
        .single("login-us.microsoftonline.com"),
        .single("login.sovcloud-identity.fr"),
        .single("login.sovcloud-identity.de"),
        .single("login.sovcloud-identity.sg"),
    ]
}
