import Glibc
import SettingsFile
import SystemPackage

extension Configuration {
    /// Refuses what is no file, and what somebody else could have written: `browser` is a command.
    ///
    /// The owner of the system's file is root's affair; in a container it may show as nobody.
    static func requireTrust(in file: FileDescriptor, _ path: String, isSystem: Bool) throws(SettingsError) {
        var status = stat()
        let isKnown = fstat(file.rawValue, &status) == 0
        // /dev/null stands for an empty file.
        if isKnown, status.st_mode & S_IFMT == S_IFCHR { return }
        guard isKnown, status.st_mode & S_IFMT == S_IFREG else {
            throw SettingsError(file: path, line: nil, message: "is not a regular file")
        }
        if !isSystem { try requireOwner(status.st_uid, path) }
        let isOpenToGroup = !isSystem && status.st_mode & S_IWGRP != 0 && !isPrivate(status.st_gid, of: status.st_uid)
        guard status.st_mode & S_IWOTH == 0, !isOpenToGroup else {
            throw SettingsError(
                file: path, line: nil, message: "others may write to it, and could have commands run as you",
                command: ["chmod", "go-w", path])
        }
    }

    private static func requireOwner(_ owner: uid_t, _ path: String) throws(SettingsError) {
        let user = geteuid()
        if owner == user || owner == 0 { return }
        throw SettingsError(
            file: path, line: nil, message: "belongs to another user, who could have commands run as you",
            hint: user == 0
                ? "as root, go by root's own file: sudo -H"
                : "copy it to a file of your own, and name that with LANYARD_CONFIG")
    }

    /// Whether a group is a user's own, named after them and without other members, as many distributions make it.
    private static func isPrivate(_ group: gid_t, of user: uid_t) -> Bool {
        guard let user = getpwuid(user), let entry = getgrgid(group) else { return false }
        return user.pointee.pw_gid == group && strcmp(user.pointee.pw_name, entry.pointee.gr_name) == 0
            && entry.pointee.gr_mem.pointee == nil
    }
}
