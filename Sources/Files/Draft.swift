package import Glibc

/// A file that is being written for this user alone; it takes its name once it is whole, and goes if it never does.
package struct Draft: ~Copyable {
    private let folder: Folder
    private let file: OpenFile
    private let name: String
    private var isPlaced = false

    private static let prefix = ".lanyard-draft."
    /// Seconds after which whoever began a draft won't end it.
    private static let patience = 60

    /// Begins a file in a folder.
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

    /// Adds to what is in it.
    package func write(_ bytes: [UInt8]) throws(FileProblem) { try file.write(bytes) }

    /// Waits until the disk has it.
    package func flush() throws(FileProblem) { try asking { Int(fsync(file.descriptor)) } }

    /// Gives it to the owner and the group of something else; false if that isn't allowed.
    @discardableResult
    package func give(toOwnerOf other: FileStatus) -> Bool { fchown(file.descriptor, other.owner, other.group) == 0 }

    /// Sets its permissions, whatever the umask says; a file system without permissions has its own.
    package func setPermissions(_ permissions: mode_t) { fchmod(file.descriptor, permissions) }

    /// Puts it in place of whatever has the name.
    package consuming func place(as final: String) throws(FileProblem) {
        try folder.rename(name, to: final)
        isPlaced = true
    }

    /// Removes what processes that were killed began in a folder.
    package static func removeStale(in folder: borrowing Folder) {
        for name in folder.names(atMost: 4096) where name.hasPrefix(prefix) {
            guard let status = folder.status(of: name), status.isRegular, status.isOwn,
                abs(time(nil) - status.modified) >= patience
            else { continue }
            folder.remove(name)
        }
    }
}
