import Files
import Glibc
import SettingsFile

extension Configuration {
    /// Refuses a path that isn't a file, and a file that other users could have written, because `browser` is a
    /// command.
    ///
    /// The owner of the system's file doesn't matter; in a container it may appear as nobody.
    static func requireTrust(in status: FileStatus, _ path: String, isSystem: Bool) throws(SettingsError) {
        // /dev/null is used as an empty file.
        if status.isCharacterDevice { return }
        guard status.isRegular else {
            throw SettingsError(file: path, line: nil, message: "is not a regular file")
        }
        if !isSystem { try requireOwner(status, path) }
        guard isSystem ? !status.grants(S_IWOTH) : !status.isWritableByOthers else {
            throw SettingsError(
                file: path, line: nil, message: "other users can write to it, and could have commands run as you",
                command: ["chmod", "go-w", path])
        }
    }

    private static func requireOwner(_ status: FileStatus, _ path: String) throws(SettingsError) {
        if status.isOwnOrRoots { return }
        throw SettingsError(
            file: path, line: nil, message: "belongs to another user, who could have commands run as you",
            hint: geteuid() == 0
                ? "to use root's own file: sudo -H"
                : "copy it to a file of your own, and name that with LANYARD_CONFIG")
    }
}
