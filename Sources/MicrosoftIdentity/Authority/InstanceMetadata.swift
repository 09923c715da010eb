/// The hosts that form one environment: one of Microsoft's clouds, or a single host of its own.
package struct InstanceMetadata: Sendable, Equatable, Decodable {
    /// The host for requests; tokens are stored under it.
    package let preferredNetwork: String
    /// The host that MSAL for Objective-C and .NET store tokens under.
    package let preferredCache: String
    /// Every host of the environment, as `host` or `host:port`.
    package let aliases: [String]

    private enum CodingKeys: String, CodingKey {
        case preferredNetwork = "preferred_network"
        case preferredCache = "preferred_cache"
        case aliases
    }

    /// Returns an environment with a single host.
    package static func single(_ environment: String) -> InstanceMetadata {
        InstanceMetadata(preferredNetwork: environment, preferredCache: environment, aliases: [environment])
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
            preferredNetwork: "login.microsoftonline.com", preferredCache: "login.windows.net",
            aliases: [
                "login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net",
            ]),
        InstanceMetadata(
            preferredNetwork: "login.partner.microsoftonline.cn", preferredCache: "login.partner.microsoftonline.cn",
            aliases: ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"]),
        InstanceMetadata(
            preferredNetwork: "login.microsoftonline.us", preferredCache: "login.microsoftonline.us",
            aliases: ["login.microsoftonline.us", "login.usgovcloudapi.net"]),
        .single("login.microsoftonline.de"),
        .single("login-us.microsoftonline.com"),
        .single("login.sovcloud-identity.fr"),
        .single("login.sovcloud-identity.de"),
        .single("login.sovcloud-identity.sg"),
    ]
}
