import Glibc

/// A symbolic link, by its path.
package enum SymbolicLink {
    /// What is written in a link.
    ///
    /// - Parameters:
    ///   - path: where it is, also in `/proc`.
    ///   - folder: the descriptor of the folder that a relative path begins at; the working directory unless given.
    /// - Returns: nil, with `errno`, if it is no link or can't be read.
    package static func target(of path: String, in folder: Int32 = AT_FDCWD) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(folder, path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
