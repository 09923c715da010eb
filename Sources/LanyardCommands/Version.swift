import ConsumerProtocols
import PluginWire

/// The version of this program, which is also the newest heading of CHANGELOG.md and the version of the plugins'
/// manifests.
public enum Version {
    /// The version, according to SemVer.
    public static let current = "0.1.0"

    /// The output of `--version`: the program first, then a line for each interface that another program must match.
    ///
    /// It has no commit and no date, so that the same sources make the same bytes, whoever builds them. It doesn't show
    /// libsecret, which is only loaded when a keyring is needed; `doctor` checks that.
    static let description = """
        lanyard \(current)
        credential protocol: \(GitConsumer.formatVersion) (\(GitConsumer.understood.joined(separator: ", ")))
        plugin protocol: \(PluginProtocol.version)
        """
}
