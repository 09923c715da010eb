internal import Addresses
internal import Crypto
internal import Glibc

/// The name of an answer: a digest of everything that decides the answer.
public struct AnswerCacheKey: Sendable, Equatable {
    let digest: [UInt8]

    /// The name of the answer's file; it reveals nothing about the request.
    var file: String { digest.hexadecimal + Self.suffix }

    static let suffix = ".sealed"
    /// The length of a file's name.
    static let fileLength = 64 + suffix.utf8.count

    /// Creates the name of the answer that these fields, in this order, and the present state of these files decide.
    ///
    /// A file's state is its device, inode, size and times to the nanosecond. Besides the modification time, which can
    /// be set back, the time of its last status change counts. A missing file is a state, too.
    public init(fields: [String?], files: [String]) {
        var hash = SHA256()
        for field in fields { hash.update(field) }
        hash.update(nil)
        for file in files {
            hash.update(file)
            hash.update(Self.stamp(of: file))
        }
        digest = Array(hash.finalize())
    }

    private static func stamp(of file: String) -> String? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        let (content, change) = (status.st_mtim, status.st_ctim)
        return """
            \(status.st_dev) \(status.st_ino) \(status.st_size) \(content.tv_sec) \(content.tv_nsec) \
            \(change.tv_sec) \(change.tv_nsec)
            """
    }
}

extension SHA256 {
    /// Adds a field with its length, so that no two lists of fields look alike.
    fileprivate mutating func update(_ field: String?) {
        guard let field else { return update(data: [0]) }
        let bytes = [UInt8](field.utf8)
        update(data: [1] + UInt64(bytes.count).bigEndianBytes)
        update(data: bytes)
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}
