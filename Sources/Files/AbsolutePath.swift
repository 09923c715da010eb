extension [String: String] {
    /// The path in a variable of the environment; nil if it is unset or relative.
    ///
    /// The XDG Base Directory Specification has relative paths count for nothing.
    package func absolutePath(_ variable: String) -> String? {
        self[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
