internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// A directory for one test, with a home and the XDG directories in it; removed when the test ends.
package struct ScratchDirectory: Sendable {
    /// The parent of the directories: in memory if there is room and programs may run there, because disks are slow.
    package static let place: String = {
        let memory = "/dev/shm"
        // ST_NOEXEC, as defined in statvfs(3).
        let noExec: UInt = 8
        var status = statvfs()
        let isUsable =
            statvfs(memory, &status) == 0 && status.f_flag & noExec == 0
            && status.f_bavail * status.f_frsize >= 1 << 30 && access(memory, W_OK | X_OK) == 0
        return isUsable ? memory : "/tmp"
    }()

    /// Where the system has this user's runtime folder, which lanyard prefers to `XDG_RUNTIME_DIR`; nil if it has none,
    /// as for root in a container.
    package static let systemsRuntimeFolder: String? = {
        let path = "/run/user/\(geteuid())"
        var status = stat()
        return stat(path, &status) == 0 && status.st_uid == geteuid() ? path : nil
    }()

    /// The directory.
    package let path: String

    /// Runs the body with a new directory.
    package static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (ScratchDirectory) async throws -> sending Result
    ) async throws -> sending Result {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        return try await body(directory)
    }

    private init() throws {
        var template = Array("\(Self.place)/lanyard-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for name in ["home", "data", "run", "cache", "config"] { mkdir(path + "/" + name, 0o700) }
    }

    /// An environment without anything of the user's own.
    package var environment: [String: String] {
        [
            "PATH": Programs.folder, "HOME": path + "/home", "LANG": "C.UTF-8",
            "XDG_DATA_HOME": path + "/data", "XDG_RUNTIME_DIR": path + "/run", "XDG_CACHE_HOME": path + "/cache",
            "XDG_CONFIG_HOME": path + "/config", "GIT_CONFIG_NOSYSTEM": "1",
        ]
    }

    /// Writes a file to the directory and returns its path.
    package func write(_ text: String, to name: String) throws -> String {
        let file = try FileDescriptor.open(
            FilePath(path + "/" + name), .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
        _ = try file.closeAfter { try file.writeAll(text.utf8) }
        return path + "/" + name
    }

    /// Removes the tree without following links.
    private func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
