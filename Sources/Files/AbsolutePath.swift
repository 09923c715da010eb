internal import Glibc

extension [String: String] {
    /// Returns the path in an environment variable; nil if it is unset or relative.
    ///
    /// The XDG Base Directory Specification requires relative paths to be ignored.
    package func absolutePath(_ variable: String) -> String? {
        self[variable].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
    }

    /// The user's cache folder; nil if the environment doesn't specify one.
    package var cacheHome: String? { home("XDG_CACHE_HOME", else: ".cache") }

    /// The user's folder of programs' settings; nil if the environment has no place for it.
    package var configHome: String? { home("XDG_CONFIG_HOME", else: ".config") }

    /// The folder for lanyard's persistent state; nil if the environment doesn't specify one.
    package var stateFolder: String? { home("XDG_STATE_HOME", else: ".local/state").map { "\($0)/lanyard" } }

    /// The folder of what programs keep until logout; nil if there is none, or it isn't this user's.
    package var ownRuntimeFolder: String? { absolutePath("XDG_RUNTIME_DIR").flatMap { Folder.isOwn($0) ? $0 : nil } }

    /// The folder that all processes of this user share until logout, whatever their variables say; nil if there is none.
    ///
    /// A job of cron's, `su` and a shell in a container lack the variable, but use the same keyring.
    package var sharedRuntimeFolder: String? { Self.systemsRuntimeFolder ?? ownRuntimeFolder }

    /// The folders for locks, best first: the same one for all processes of this user, unless it can't be used.
    package var lockFolders: [String] {
        [Self.systemsRuntimeFolder, absolutePath("HOME").map { "\($0)/.cache" }, cacheHome, ownRuntimeFolder]
            .compactMap { $0.map { "\($0)/lanyard" } }
    }

    /// Where systemd has the user's runtime folder; nil if there is none, or it isn't this user's.
    private static var systemsRuntimeFolder: String? {
        let path = "/run/user/\(geteuid())"
        return Folder.isOwn(path) ? path : nil
    }

    private func home(_ variable: String, else below: String) -> String? {
        absolutePath(variable) ?? absolutePath("HOME").map { "\($0)/\(below)" }
    }
}

extension String {
    /// The working folder; nil if it no longer exists.
    package static var workingFolder: String? {
        guard let folder = getcwd(nil, 0) else { return nil }
        defer { free(folder) }
        return String(cString: folder)
    }

    /// The absolute form of a path that a user typed or a program printed.
    package var absolutePath: String {
        guard !hasPrefix("/"), !isEmpty, let folder = Self.workingFolder else { return self }
        return "\(folder)/\(self)"
    }
}
