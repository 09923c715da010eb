import Glibc
import OtherCaches
import Secrets
import SystemPackage

/// A file of another program's, or stdin; it is read and never changed.
struct SourceFile {
    let contents: [UInt8]
    /// Whether it is an ordinary file that others may read.
    let isOpenToOthers: Bool

    /// Reads a file, `-` for stdin.
    init(_ path: String, input: FileDescriptor) throws(Failure) {
        let shown = path.displayable(limit: 500)
        do {
            let isInput = path == "-"
            let file = isInput ? input : try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            defer { if !isInput { try? file.close() } }
            var status = stat()
            let isFile = fstat(file.rawValue, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            isOpenToOthers = isFile && status.st_mode & 0o077 != 0
            contents = try Self.read(file)
        } catch {
            throw Failure("\(shown) can't be read: \(error)")
        }
        guard contents.count <= OtherCache.mostBytes else {
            throw Failure("\(shown) is longer than \(OtherCache.mostBytes >> 20) MiB")
        }
    }

    /// Whether there is something at a path.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Reads to the end, or one byte more than is taken.
    private static func read(_ file: FileDescriptor) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= OtherCache.mostBytes {
            let count = try chunk.withUnsafeMutableBytes { try file.read(into: $0) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }
}
