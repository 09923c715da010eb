internal import Glibc

/// An open file or folder, which is closed with the value.
package struct OpenFile: ~Copyable, Sendable {
    /// The descriptor, for calls that this type doesn't offer.
    package let descriptor: CInt

    /// Opens a file for reading, following links; doesn't wait for the writer of a pipe.
    package init(_ path: String) throws(FileProblem) {
        try self.init(path, O_RDONLY | O_NONBLOCK)
    }

    /// Opens a path, relative to an open folder unless it is absolute; programs started from here don't inherit the
    /// file.
    init(_ path: String, at folder: CInt = AT_FDCWD, _ flags: CInt, permissions: mode_t = 0) throws(FileProblem) {
        descriptor = CInt(
            try asking { () -> Int in Int(openat(folder, path, flags | O_CLOEXEC, permissions)) })
    }

    deinit { close(descriptor) }

    /// Returns the file's status.
    package func status() throws(FileProblem) -> FileStatus {
        guard let status = FileStatus(of: descriptor) else { throw .last }
        return status
    }

    /// Reads the rest of its contents, whatever kind of file it is.
    package func contents(atMost limit: Int) throws(FileProblem) -> [UInt8] {
        let bytes = try Self.bytes(from: descriptor, atMost: limit + 1)
        guard bytes.count <= limit else { throw .tooLong }
        return bytes
    }

    /// Reads from an open file to its end, but at most this many bytes.
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

    /// Writes all of the bytes.
    func write(_ bytes: [UInt8]) throws(FileProblem) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try asking { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
            rest = rest.dropFirst(count)
        }
    }
}
