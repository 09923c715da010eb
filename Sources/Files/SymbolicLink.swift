import Glibc

/// Reads symbolic links.
package enum SymbolicLink {
    /// Returns the target of a link.
    ///
    /// - Parameters:
    ///   - path: The path of the link, which may be in `/proc`.
    ///   - folder: The descriptor of the folder for a relative path; by default the working directory.
    /// - Returns: The target; nil, with `errno` set, if it isn't a link or can't be read.
    package static func target(of path: String, in folder: Int32 = AT_FDCWD) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(folder, path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
