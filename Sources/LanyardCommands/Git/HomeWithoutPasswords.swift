import Addresses
import Files
import Glibc
import Secrets
import Terminal

/// A home folder for one run of git in which curl finds no passwords: links to everything in the user's but `.netrc`.
///
/// git's settings stay as they are, including those with a path below `~`. No setting of git's keeps curl from reading
/// that file.
struct HomeWithoutPasswords: ~Copyable {
    let path: String
    private let folder: Folder
    private static let most = 10_000

    /// Makes the folder, which is removed at the end of the value's life.
    ///
    /// - Throws: `Failure` if there is no place for it.
    static func make(_ context: CommandContext) throws(Failure) -> HomeWithoutPasswords {
        var template = Array("\(context.environment.absolutePath("TMPDIR") ?? "/tmp")/lanyard-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure(.last) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let home = HomeWithoutPasswords(path: path, folder: try opened(path))
        guard let own = context.environment.absolutePath("HOME"), let folder = try? Folder(own) else { return home }
        for name in folder.names(atMost: most) where name != ".netrc" {
            try? home.folder.link(name, to: "\(own)/\(name)")
        }
        return home
    }

    private static func opened(_ path: String) throws(Failure) -> Folder {
        do throws(FileProblem) { return try Folder(path) } catch { throw failure(error) }
    }

    deinit {
        for name in folder.names(atMost: Self.most + 1) { folder.remove(name) }
        rmdir(path)
    }

    /// Writes a file, and returns its path.
    func write(_ text: String, to name: String) throws(Failure) -> String {
        do throws(FileProblem) {
            folder.remove(name)
            try folder.write(Array(text.utf8), to: name, isDurable: false)
        } catch {
            throw Self.failure(error)
        }
        return "\(path)/\(name)"
    }

    private static func failure(_ problem: FileProblem) -> Failure {
        Failure("no temporary folder can be made: \(problem.reason.lowercased())", hints: ["set TMPDIR"])
    }
}
