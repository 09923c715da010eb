extension [String: String] {
    /// The path in a variable of the environment; nil if it is unset or relative.
    ///
    /// The XDG Base Directory Specification has relative paths count for nothing.
    package func absolutePath(_ variable: String) -> String? {
        self[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The user's folder of what programs can make again; nil if the environment has no place for it.
    package var cacheHome: String? { absolutePath("XDG_CACHE_HOME") ?? absolutePath("HOME").map { $0 + "/.cache" } }

    /// The folder of what lanyard remembers for the user from one login to the next; nil if the environment has no place
    /// for it.
    package var stateFolder: String? {
        (absolutePath("XDG_STATE_HOME") ?? absolutePath("HOME").map { "\($0)/.local/state" }).map { "\($0)/lanyard" }
    }
}
