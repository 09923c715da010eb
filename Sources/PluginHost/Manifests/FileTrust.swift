import Addresses
import Glibc

/// Whether a file is nobody's but root's and the user's to write.
enum FileTrust {
    enum Verdict: Equatable {
        /// The path without symbolic links; nobody else could have written it.
        case trusted(String)
        /// There is no such file.
        case missing
        /// Somebody else could have written this file or folder on the way to it.
        case writable(String)
    }

    /// Judges a file and every folder above it, once symbolic links are resolved.
    ///
    /// A sticky folder of root's (`/tmp`) may be above it: nobody can put another file in its place there.
    static func judge(_ path: String) -> Verdict {
        guard let resolved = realPath(path) else { return .missing }
        var current = resolved
        var isFile = true
        while true {
            guard let info = status(current) else { return .missing }
            guard isTrusted(info, mayBeSticky: !isFile) else { return .writable(current) }
            guard current != "/" else { return .trusted(resolved) }
            current = parent(of: current)
            isFile = false
        }
    }

    /// The path without symbolic links, or nil where it doesn't exist.
    static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    /// Whether the path is a regular file that may be run.
    static func isProgram(_ path: String) -> Bool {
        guard let info = status(path), info.st_mode & S_IFMT == S_IFREG else { return false }
        return access(path, X_OK) == 0
    }

    static func parent(of path: String) -> String {
        guard let (parent, _) = path.cut(atLast: "/"), !parent.isEmpty else { return "/" }
        return String(parent)
    }

    private static func isTrusted(_ info: stat, mayBeSticky: Bool) -> Bool {
        guard info.st_uid == 0 || info.st_uid == geteuid() else { return false }
        guard info.st_mode & (S_IWGRP | S_IWOTH) != 0 else { return true }
        return mayBeSticky && info.st_uid == 0 && info.st_mode & S_ISVTX != 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    private static func status(_ path: String) -> stat? {
        var info = stat()
        return stat(path, &info) == 0 ? info : nil
    }
}
