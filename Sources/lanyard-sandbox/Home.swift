import FoundationEssentials
import Glibc

/// The directory that holds everything a sandbox makes; only its owner can look inside.
struct Home: Sendable {
    let path: String

    /// Makes the directory, with access for its owner alone.
    init(at path: String) throws(SandboxError) {
        // Whatever this process or git creates from here on is the owner's only.
        umask(0o077)
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SandboxError("cannot make the directory \(path): \(error)")
        }
        guard let full = Self.canonical(path) else { throw SandboxError("cannot find the directory \(path)") }
        guard chmod(full, 0o700) == 0 else { throw SandboxError("the directory \(full) isn't yours") }
        self.path = full
    }

    private static func canonical(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    var caFile: String { path + "/ca.pem" }
    var logFile: String { path + "/requests.log" }
    var usersFile: String { path + "/users.toml" }
    var configuration: String { path + "/config.toml" }
    var description: String { path + "/sandbox.json" }
    var repositories: String { path + "/repositories" }

    /// Writes a file in one step, so that nobody reads half of it.
    func write(_ text: String, to file: String) throws(SandboxError) {
        let temporary = "\(file).\(newSecret(bytes: 6))"
        do {
            try Data(text.utf8).write(to: URL(filePath: temporary))
        } catch {
            throw SandboxError("cannot write \(file): \(error)")
        }
        guard chmod(temporary, 0o600) == 0, rename(temporary, file) == 0 else {
            throw SandboxError("cannot write \(file): error \(errno)")
        }
    }
}
