import Addresses

/// The identities that plugins find on the machine by themselves: those of its platform, and those of a cloud's own settings.
public enum MachineIdentity {
    /// The plugin that gets their tokens unless an identity names another.
    public static let plugin = "managed-identity"

    /// The host of all placeholder authorities.
    public static let host = "localhost"

    /// Returns a placeholder authority, because these identities have none.
    ///
    /// MSAL stores the tokens of the platform's identities under its host and path. Those of another plugin have a path of their own.
    public static func authority(of plugin: String = plugin) -> String {
        "https://\(host)/managed_identity" + (plugin.isSame(as: Self.plugin) ? "" : ".\(plugin)")
    }

    /// Returns the plugin whose identities a placeholder authority stands for; nil for any other URL.
    public static func plugin(ofAuthority url: String) -> String? {
        if url.isSame(as: authority()) { return plugin }
        let start = "\(authority())."
        return url.utf8.starts(with: start.utf8) ? String(url.utf8.dropFirst(start.utf8.count)) : nil
    }
}

/// Checks for the parts of an identity that the configuration, the plugin protocol and the commands share.
extension String {

    /// Whether it is the name of a variable, as in POSIX: at most 128 letters, digits and underscores, not beginning
    /// with a digit.
    public var isVariableName: Bool {
        guard let first = utf8.first, !first.isDigit, utf8.count <= 128 else { return false }
        return utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
    }

    /// Whether it is the name of a plugin: at most 64 lower-case letters, digits and `-`.
    public var isPluginName: Bool {
        (1...64).contains(utf8.count) && utf8.allSatisfy(\.isLowerCaseNameByte)
    }

    /// Whether it selects one of a machine's identities: `system`, or `client-id:`, `object-id:` or `resource-id:` and
    /// the ID in visible ASCII; at most 1024 bytes.
    public var isManagedIdentity: Bool {
        guard !isSame(as: "system") else { return true }
        guard let (kind, id) = cut(at: ":"), !id.isEmpty, utf8.count <= 1024 else { return false }
        return ["client-id", "object-id", "resource-id"].contains { kind.isSame(as: $0) }
            && id.utf8.allSatisfy(\.isVisibleASCII)
    }
}
