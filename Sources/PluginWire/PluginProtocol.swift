/// The version and common values of the protocol between host and plugins (docs/plugin-protocol.md).
public enum PluginProtocol {
    /// The only version that this library supports, as manifests name it.
    public static let version = "v1"

    /// The name of that version's state machine, which is the last argument of a plugin's command line.
    public static let stateMachine = "lanyard-plugin-\(version)"

    /// The realm of an authority that is only a host, if any path would be a realm there.
    public static let realmOfHost = "default"

    /// Returns the realm of an authority whose path, or the rest of it, is a realm (`{path}` in a manifest).
    public static func realm(ofPath segments: [String]) -> String {
        let path = segments.joined(separator: "/")
        return path.isEmpty ? realmOfHost : path
    }

    /// The highest number of bytes that either side may send in one conversation.
    package static let longestConversation = 4 << 20
}
