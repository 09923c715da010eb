/// The hosts that are one environment: a cloud of Microsoft's, or a single host of its own.
package struct InstanceMetadata: Sendable, Equatable {
    /// The host that requests go to, and that tokens are kept under.
    package let preferredNetwork: String
    /// The host that MSAL for Objective-C and .NET keep tokens under.
    package let preferredCache: String
    /// Every host of the environment, as `host` or `host:port`.
    package let aliases: [String]

    /// Makes an environment.
    package init(preferredNetwork: String, preferredCache: String, aliases: [String]) {
        self.preferredNetwork = preferredNetwork
        self.preferredCache = preferredCache
        self.aliases = aliases
    }

    /// The environment that has this one host.
    package static func single(_ environment: String) -> InstanceMetadata {
        InstanceMetadata(preferredNetwork: environment, preferredCache: environment, aliases: [environment])
    }

    /// The environment of a host that is built in, or nil.
    package static func known(_ host: String) -> InstanceMetadata? {
        clouds.first { $0.aliases.contains(host) }
    }

    /// Whether the host is one of Microsoft's that need no instance discovery.
    package static func isTrusted(_ host: String) -> Bool {
        known(host) != nil
    }

    /// Whether an endpoint at this host (`host` or `host:port`) may be sent this environment's tokens.
    func contains(_ environment: String) -> Bool {
        aliases.contains(environment)
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
