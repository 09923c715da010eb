package import Glibc

/// An unfinished file that only this user can access; it gets its name once it is complete, and is removed otherwise.
package struct Draft: ~Copyable {
    private let folder: Folder
    private let file: OpenFile
    private let name: String
    private var isPlaced = false

    private static let prefix = ".lanyard-draft."
    /// Seconds after which an unfinished draft counts as abandoned.
    private static let patience = 60

    /// Creates a draft in a folder.
    package init(in folder: borrowing Folder) throws(FileProblem) {
        let name = "\(Self.prefix)\(getpid()).\(UInt64.random(in: .min ... .max))"
        let copy = try folder.again()
        let file = try copy.newFile(name)
        self.folder = copy
        self.file = file
        self.name = name
    }

    deinit {
        if !isPlaced { folder.remove(name) }
    }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(FileProblem) { try file.write(bytes) }

    /// Waits until the contents are on disk.
    package func flush() throws(FileProblem) { try asking { Int(fsync(file.descriptor)) } }

    /// Gives it the owner and group of another file; false if that isn't allowed.
    @discardableResult
    package func give(toOwnerOf other: FileStatus) -> Bool { fchown(file.descriptor, other.owner, other.group) == 0 }

    /// Sets its permissions regardless of the umask; on a file system without permissions, this has no effect.
    package func setPermissions(_ permissions: mode_t) { fchmod(file.descriptor, permissions) }

    /// Gives it its name, replacing any file with that name.
    package consuming func place(as final: String) throws(FileProblem) {
        try folder.rename(name, to: final)
        isPlaced = true
    }

    /// Removes the drafts of processes that were killed from a folder.
    package static func removeStale(in folder: borrowing Folder) {
        for name in folder.names(atMost: 4096) where name.hasPrefix(prefix) {
            guard let status = folder.status(of: name), status.isRegular, status.isOwn,
                abs(time(nil) - status.modified) >= patience
            else { continue }
            folder.remove(name)
        }
    }
}
