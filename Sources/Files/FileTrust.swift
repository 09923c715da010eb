internal import Addresses
internal import Glibc

/// Whether files are nobody's but root's and the user's to write; a value judges each folder above them once.
package struct FileTrust {
    package enum Verdict: Equatable {
        /// The path without symbolic links; nobody else could have written it.
        case trusted(String)
        /// There is no such file.
        case missing
        /// Somebody else could have written this file or folder on the way to it.
        case writable(String)
    }

    /// The folders that can be trusted, with all that are above them.
    private var folders: Set<String> = []

    package init() {}

    /// Judges a file and every folder above it, once symbolic links are resolved.
    ///
    /// A sticky folder of root's (`/tmp`) may be above it: nobody can put another file in its place there.
    package mutating func judge(_ path: String) -> Verdict {
        // Most that are asked about are not there, which one call tells.
        guard let status = FileStatus(of: path), let resolved = Self.realPath(path) else { return .missing }
        guard Self.isTrusted(status, mayBeSticky: false) else { return .writable(resolved) }
        var judged: [String] = []
        var current = resolved
        while current != "/" {
            current = Self.parent(of: current)
            if folders.contains(current) { break }
            guard let status = FileStatus(of: current) else { return .missing }
            guard Self.isTrusted(status, mayBeSticky: true) else { return .writable(current) }
            judged.append(current)
        }
        folders.formUnion(judged)
        return .trusted(resolved)
    }

    /// The path without symbolic links, or nil if it doesn't exist.
    package static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    /// Whether the path is a regular file that may be run.
    package static func isProgram(_ path: String) -> Bool {
        guard let status = FileStatus(of: path), status.isRegular else { return false }
        return access(path, X_OK) == 0
    }

    /// The folder that a path is in.
    package static func parent(of path: String) -> String {
        guard let (parent, _) = path.cut(atLast: "/") else { return "." }
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func isTrusted(_ status: FileStatus, mayBeSticky: Bool) -> Bool {
        guard status.owner == 0 || status.isOwn else { return false }
        guard status.grants(S_IWGRP | S_IWOTH) else { return true }
        return mayBeSticky && status.owner == 0 && status.grants(S_ISVTX) && status.isFolder
    }
}
