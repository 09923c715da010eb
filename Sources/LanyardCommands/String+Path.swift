import Glibc

extension String {
    /// The working folder; nil if it no longer exists.
    static var workingFolder: String? {
        guard let folder = getcwd(nil, 0) else { return nil }
        defer { free(folder) }
        return String(cString: folder)
    }

    /// The absolute form of a path that a user typed or a program printed.
    var absolutePath: String {
        guard !hasPrefix("/"), !isEmpty, let folder = Self.workingFolder else { return self }
        return "\(folder)/\(self)"
    }
}
