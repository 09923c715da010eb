/// The version of the protocol between host and plugins (docs/plugin-protocol.md).
public enum PluginProtocol {
    /// The one version that this library speaks, as manifests name it.
    public static let version = "v1"

    /// The name of the state machine of that version; it is the last argument of a plugin's command line.
    public static let stateMachine = "lanyard-plugin-\(version)"

    /// The realm of an authority that is no more than a host, if any path would be a realm there.
    public static let realmOfHost = "default"

    /// The realm of an authority whose whole path, or what is left of it, is a realm (`{path}` in a manifest).
    public static func realm(ofPath segments: some Sequence<String>) -> String {
        let path = segments.joined(separator: "/").lowercased()
        return path.isEmpty ? realmOfHost : path
    }

    /// The most bytes either side may send in one conversation.
    package static let longestConversation = 4 << 20
}
