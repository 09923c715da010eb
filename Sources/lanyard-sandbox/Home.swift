import Files
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
        guard let full = FileTrust.realPath(path) else { throw SandboxError("cannot find the directory \(path)") }
        guard chmod(full, 0o700) == 0 else { throw SandboxError("the directory \(full) isn't yours") }
        self.path = full
    }

    var caFile: String { path + "/ca.pem" }
    var logFile: String { path + "/requests.log" }
    var usersFile: String { path + "/users.toml" }
    var configuration: String { path + "/config.toml" }
    /// The secret of the forge's OAuth app.
    var forgeSecret: String { path + "/forge.secret" }
    /// The certificate and key of the application.
    var applicationCertificate: String { path + "/application.pem" }
    /// What machines have at `/var/opt/azcmagent/tokens` that the agent of Azure Arc connects.
    var arcKeys: String { path + "/azcmagent/tokens" }
    var gitConfiguration: String { path + "/gitconfig" }
    var description: String { path + "/sandbox.json" }
    var repositories: String { path + "/repositories" }

    /// Writes a file of this directory in one step, so that nobody reads half of it.
    func write(_ text: String, to file: String) throws(SandboxError) {
        do throws(FileProblem) {
            let name = String(file.utf8.dropFirst(path.utf8.count + 1)) ?? ""
            try Folder(path).write(Array(text.utf8), to: name, isDurable: false)
        } catch {
            throw SandboxError("cannot write \(file): \(error.reason)")
        }
    }
}
