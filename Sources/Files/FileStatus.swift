internal import Addresses
internal import CLinux
package import Glibc

/// The type, owner and permissions of a file or folder.
package struct FileStatus: Sendable {
    private let status: stat
    /// Whether an access control list names users or groups besides its owner and group, in which case the group's permissions
    /// are a limit for all of these; only read if it matters.
    private var hasNamedUsers = false

    /// Reads the status, following links; nil if there is no such file.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.status = status
        if grants(S_IWGRP) { hasNamedUsers = lanyard_has_named_users(path, -1) != 0 }
    }

    /// Of an open file; nil if it isn't open.
    package init?(of descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.status = status
        if grants(S_IWGRP) { hasNamedUsers = lanyard_has_named_users(nil, descriptor) != 0 }
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
    /// The device and the number that identify the file, whatever path leads to it.
    package var device: UInt { UInt(status.st_dev) }
    package var inode: UInt { UInt(status.st_ino) }
    package var size: Int { Int(status.st_size) }
    /// The time of the last change of its contents, in seconds since 1970.
    package var modified: Int { status.st_mtim.tv_sec }
    /// When it was last modified, in nanoseconds since 1970.
    package var modifiedNanoseconds: UInt64 {
        UInt64(clamping: status.st_mtim.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: status.st_mtim.tv_nsec)
    }
    package var isOwn: Bool { status.st_uid == geteuid() }

    /// What goes before a command that only the owner may run: nothing for this user and root.
    package var sudo: [String] { isOwn || geteuid() == 0 ? [] : ["sudo"] }

    /// Whether it grants any of these permissions.
    package func grants(_ permissions: mode_t) -> Bool { status.st_mode & permissions != 0 }

    /// Whether it is this user's or root's, so nobody else can give others permissions.
    package var isOwnOrRoots: Bool { isOwn || owner == 0 || standsForRoots }

    /// Whether somebody besides root, its owner and this user may write to it.
    ///
    /// Many distributions give each user a group of the same name without other members; such a group counts as the
    /// owner. So does a group of root's files, such as Debian's `staff` of `/usr/local`, as long as it has no members.
    package var isWritableByOthers: Bool {
        if grants(S_IWOTH) { return true }
        guard grants(S_IWGRP) else { return false }
        return hasNamedUsers || !isGroupOfOneUser
    }

    private var isGroupOfOneUser: Bool {
        guard let entry = getgrgid(group) else { return false }
        let name = String(cString: entry.pointee.gr_name)
        var members: [String] = []
        var next = entry.pointee.gr_mem
        while let member = next?.pointee {
            members.append(String(cString: member))
            next = next?.successor()
        }
        let trusted = [0, owner, geteuid()]
        let names = trusted.compactMap { id in getpwuid(id).map { String(cString: $0.pointee.pw_name) } }
        guard members.allSatisfy(names.contains) else { return false }
        if owner != 0 {
            guard let user = getpwuid(owner) else { return false }
            return user.pointee.pw_gid == group && String(cString: user.pointee.pw_name) == name
        }
        // Members by their own entry; a directory that lists no users only has ordinary ones, whose groups aren't root's.
        setpwent()
        defer { endpwent() }
        while let user = getpwent() {
            if user.pointee.pw_gid == group, !trusted.contains(user.pointee.pw_uid) { return false }
        }
        return true
    }
}

// A user namespace (user_namespaces(7)): the container that a user runs without being root.
extension FileStatus {
    /// The user that files belong to whose owner doesn't exist here.
    private static let nobody: uid_t = {
        let text = try? OpenFile("/proc/sys/kernel/overflowuid").contents(atMost: 32)
        return text.flatMap { uid_t(String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) } ?? 65_534
    }()

    /// Whether the machine's root doesn't exist here, so that its files belong to nobody.
    ///
    /// Only a process with root's rights can map root to itself. Whoever made this namespace mapped themselves, or
    /// their subordinate users, who are theirs.
    private static let lacksRoot: Bool = {
        guard let ranges = UserNamespace.ranges, !ranges.isEmpty else { return false }
        return !ranges.contains { $0[0] == 0 && $0[1] == 0 }
    }()

    /// Whether the owner stands for root: nobody, of something that nobody else may write to, where root doesn't exist.
    private var standsForRoots: Bool {
        owner == Self.nobody && Self.lacksRoot && (!grants(S_IWGRP | S_IWOTH) || isFolder && grants(S_ISVTX))
    }
}

extension FileStatus {
    /// Returns the target of a symbolic link.
    ///
    /// - Parameters:
    ///   - path: The path of the link, which may be in `/proc`.
    ///   - folder: The descriptor of the folder for a relative path; by default the working directory.
    /// - Returns: The target; nil, with `errno` set, if it isn't a link or can't be read.
    package static func linkTarget(of path: String, in folder: Int32 = AT_FDCWD) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(folder, path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}

/// Checks that only root and the user can write to files; each, and each folder above it, is found trustworthy once
/// per value.
package struct FileTrust {
    package enum Verdict: Equatable {
        /// The path without symbolic links; nobody else could have written to it.
        case trusted(String)
        /// The file doesn't exist.
        case missing
        /// Somebody else could have written to this file or folder on the path.
        case writable(String)
    }

    /// The trusted files, with their paths without symbolic links: plugins share a program.
    private var files: [String: String] = [:]
    /// The folders that are trusted together with all folders above them.
    private var folders: Set<String> = []

    package init() {}

    /// Checks a file and every folder above it, after resolving symbolic links.
    ///
    /// A sticky folder of root's (`/tmp`) may be above it, because nobody else can replace the file there.
    package mutating func check(_ path: String) -> Verdict {
        if let resolved = files[path] { return .trusted(resolved) }
        // Most files that are checked don't exist, which one call shows.
        guard let status = FileStatus(of: path), let resolved = Self.realPath(path) else { return .missing }
        guard Self.isTrusted(status, mayBeSticky: false) else { return .writable(resolved) }
        var passed: [String] = []
        var current = resolved
        while current != "/" {
            current = Self.parent(of: current)
            if folders.contains(current) { break }
            guard let status = FileStatus(of: current) else { return .missing }
            guard Self.isTrusted(status, mayBeSticky: true) else { return .writable(current) }
            passed.append(current)
        }
        folders.formUnion(passed)
        files[path] = resolved
        return .trusted(resolved)
    }

    /// Returns the path without symbolic links; nil if it doesn't exist.
    package static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    /// Whether the path is an executable regular file.
    package static func isProgram(_ path: String) -> Bool {
        guard let status = FileStatus(of: path), status.isRegular else { return false }
        return access(path, X_OK) == 0
    }

    /// Returns the folder that contains a path.
    package static func parent(of path: String) -> String {
        guard let (parent, _) = path.cut(atLast: "/") else { return "." }
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func isTrusted(_ status: FileStatus, mayBeSticky: Bool) -> Bool {
        guard status.isOwnOrRoots else { return false }
        guard status.isWritableByOthers else { return true }
        return mayBeSticky && (status.owner == 0 || !status.isOwn) && status.grants(S_ISVTX) && status.isFolder
    }
}
