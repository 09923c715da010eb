/// The version of the protocol between host and plugins (docs/plugin-protocol.md).
public enum PluginProtocol {
    /// The one version that this library speaks, as manifests name it.
    public static let version = "v1"

    /// The name of the state machine of that version; it is the last argument of a plugin's command line.
    public static let stateMachine = "lanyard-plugin-\(version)"

    /// The most bytes either side may send in one conversation.
    package static let longestConversation = 4 << 20
}
