internal import Glibc

/// An open file or folder; it is closed with the value.
package struct OpenFile: ~Copyable, Sendable {
    /// The descriptor, for calls that this type hasn't.
    package let descriptor: CInt

    /// Opens a file to read, through links too; a pipe that nobody writes to is not waited for.
    package init(_ path: String) throws(FileProblem) {
        try self.init(path, O_RDONLY | O_NONBLOCK)
    }

    /// Opens a path, seen from an open folder unless it is absolute; no program started from here gets the file.
    init(_ path: String, at folder: CInt = AT_FDCWD, _ flags: CInt, permissions: mode_t = 0) throws(FileProblem) {
        descriptor = CInt(
            try asking { () -> Int in Int(openat(folder, path, flags | O_CLOEXEC, permissions)) })
    }

    deinit { close(descriptor) }

    /// What it is and whose.
    package func status() throws(FileProblem) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last }
        return FileStatus(status)
    }

    /// All that is in it, whatever it is, from where it was read last.
    package func contents(atMost limit: Int) throws(FileProblem) -> [UInt8] {
        let bytes = try Self.bytes(from: descriptor, atMost: limit + 1)
        guard bytes.count <= limit else { throw .tooLong }
        return bytes
    }

    /// Reads from an open file to its end, or so many bytes.
    package static func bytes(from descriptor: CInt, atMost limit: Int) throws(FileProblem) -> [UInt8] {
        var problem: FileProblem?
        // Uninitialised on purpose: zeroing the buffer takes longer than reading the file.
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while problem == nil, count < limit, let start = buffer.baseAddress {
                let more = read(descriptor, start + count, limit - count)
                if more == 0 { break }
                if more > 0 { count += more } else if errno != EINTR { problem = .last }
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Writes everything.
    func write(_ bytes: [UInt8]) throws(FileProblem) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try asking { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
    }
}
