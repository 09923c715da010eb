import ConsumerProtocols
import PluginWire

/// The version of this program; the newest heading of CHANGELOG.md and the plugins' manifests say the same.
public enum Version {
    /// SemVer.
    public static let current = "0.1.0"

    /// What `--version` prints: the program first, then a line for each thing that another program must fit.
    ///
    /// No commit and no date: the same sources make the same bytes, whoever builds them. No libsecret: it is loaded when
    /// a keyring is needed, and `doctor` looks at that.
    static let description = """
        lanyard \(current)
        credential protocol: \(GitConsumer.formatVersion) (\(GitConsumer.understood.joined(separator: ", ")))
        plugin protocol: \(PluginProtocol.version)
        """
}
