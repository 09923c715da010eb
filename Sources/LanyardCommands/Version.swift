/// The version of this program; the newest heading of CHANGELOG.md says the same.
public enum Version {
    /// SemVer.
    public static let current = "0.1.0"
}
