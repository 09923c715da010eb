internal import Addresses
internal import Glibc

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
    package mutating func judge(_ path: String) -> Verdict {
        if let resolved = files[path] { return .trusted(resolved) }
        // Most files that are checked don't exist, which one call shows.
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
