import Files
import Glibc
import Terminal

/// The directory of everything that a sandbox creates; what it makes there is accessible to its owner only.
struct Home: Sendable {
    let path: String

    /// Creates the directory, accessible to its owner only; one that is there keeps its permissions.
    init(at path: String) throws(CommandError) {
        // All files that this process or git creates from here on are accessible to the owner only.
        umask(0o077)
        let other = Hint("name one of your own", run: "lanyard sandbox serve --directory DIR")
        Folder.make(path)
        do throws(FileError) {
            _ = try Folder(path)
            guard Folder.isOwn(path) else { throw .foreign }
            guard FileStatus(of: path)?.isWritableByOthers == false else { throw .exposed }
        } catch {
            let reason = FileStatus(of: path) == nil ? "it can't be made there" : error.reason
            throw CommandError("cannot use the directory \(path): \(reason)", hints: [other])
        }
        guard let full = FileTrust.realPath(path) else {
            throw CommandError("cannot use the directory \(path): it is gone", hints: [other])
        }
        self.path = full
    }

    var caFile: String { path + "/ca.pem" }
    var logFile: String { path + "/requests.log" }
    var usersFile: String { path + "/users.toml" }
    var configuration: String { path + "/config.toml" }
    /// The file with the client secret of the forge's OAuth app.
    var forgeSecret: String { path + "/forge.secret" }
    /// The file with the application's certificate and key.
    var applicationCertificate: String { path + "/application.pem" }
    /// The folder that stands for `/var/opt/azcmagent/tokens` on machines with the agent of Azure Arc.
    var arcKeys: String { path + "/azcmagent/tokens" }
    /// The folder of the files of credentials for Google Cloud.
    var google: String { path + "/google" }
    var gitConfiguration: String { path + "/gitconfig" }
    /// The file with the variables of a shell that uses the sandbox.
    var variables: String { path + "/env.sh" }
    var description: String { path + "/sandbox.json" }
    var repositories: String { path + "/repositories" }

    /// Writes a file in this directory atomically.
    func write(_ text: String, to file: String) throws(CommandError) {
        do throws(FileError) {
            let name = String(file.utf8.dropFirst(path.utf8.count + 1)) ?? ""
            try Folder(path).write(Array(text.utf8), to: name, isDurable: false)
        } catch {
            throw CommandError("cannot write \(file): \(error.reason)")
        }
    }
}
