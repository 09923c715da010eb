import Files
import OtherCaches
import Secrets
import SystemPackage
import Terminal

/// Another program's file, or stdin; it is only read.
struct SourceFile {
    let contents: [UInt8]
    /// Whether it is a regular file that other users can read.
    let isOpenToOthers: Bool

    /// Reads a file; `-` stands for stdin.
    init(_ path: String, input: FileDescriptor) throws(Failure) {
        let shown = path.displayable(limit: 500)
        do {
            let isInput = path == "-"
            let file = isInput ? input : try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            defer { if !isInput { try? file.close() } }
            isOpenToOthers = file.isFileOpenToOthers
            contents = try OpenFile.bytes(from: file.rawValue, atMost: OtherCache.mostBytes + 1)
        } catch {
            throw Failure("\(shown) can't be read: \((error as? FileProblem)?.reason ?? "\(error)")")
        }
        guard contents.count <= OtherCache.mostBytes else {
            throw Failure("\(shown) is longer than \(OtherCache.mostBytes >> 20) MiB")
        }
    }
}
