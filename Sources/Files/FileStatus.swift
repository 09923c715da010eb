package import Glibc

/// The type, owner and permissions of a file or folder.
package struct FileStatus: Sendable {
    private let status: stat

    /// Reads the status, following links; nil if there is no such file.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.status = status
    }

    /// Of an open file; nil if it isn't open.
    package init?(of descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.status = status
    }

    init(_ status: stat) { self.status = status }

    package var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
    /// Whether it is a device such as `/dev/null`, which is used as an empty file.
    package var isCharacterDevice: Bool { status.st_mode & S_IFMT == S_IFCHR }
    package var owner: uid_t { status.st_uid }
    package var group: gid_t { status.st_gid }
    /// The permissions, including the sticky bit and the like.
    package var permissions: mode_t { status.st_mode & 0o7777 }
    package var size: Int { Int(status.st_size) }
    /// The time of the last change of its contents, in seconds since 1970.
    package var modified: Int { status.st_mtim.tv_sec }
    package var isOwn: Bool { status.st_uid == geteuid() }

    /// Whether it grants any of these permissions.
    package func grants(_ permissions: mode_t) -> Bool { status.st_mode & permissions != 0 }

    /// Whether its group may write to it and has more members than its owner.
    ///
    /// Many distributions give each user a group of the same name without other members; such a group counts as the
    /// owner.
    package var isWritableByGroup: Bool {
        guard grants(S_IWGRP) else { return false }
        guard let user = getpwuid(owner), let entry = getgrgid(group) else { return true }
        let isPrivate =
            user.pointee.pw_gid == group && strcmp(user.pointee.pw_name, entry.pointee.gr_name) == 0
            && entry.pointee.gr_mem.pointee == nil
        return !isPrivate
    }
}
