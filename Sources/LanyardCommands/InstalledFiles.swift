import Addresses
import Files
import Glibc
import Secrets

/// The files that are installed beside the program.
struct InstalledFiles: Sendable {
    private let folder: String

    init(_ context: CommandContext) {
        folder = "/" + context.executable.pieces(between: "/").dropLast().joined(separator: "/")
    }

    /// The URL of the configuration's JSON schema; nil if it isn't installed.
    var schema: String? {
        let places = ["\(folder)/../share/lanyard/config.schema.json", "\(folder)/../../../share/config.schema.json"]
        return places.lazy.compactMap(FileTrust.realPath).first.map { "file://" + $0 }
    }

    /// The path of `git-credential-lanyard`; nil if it isn't installed.
    var credentialHelper: String? { program("git-credential-lanyard") }

    /// Returns the path of a program that tools run, beside this one or, if its name is also another program's, in a
    /// folder of its own; nil if it isn't installed.
    func program(_ name: String) -> String? {
        folder(of: name).map { "\($0)/\(name)" }
    }

    /// Returns the folder of a program; nil if it isn't installed.
    func folder(of program: String) -> String? {
        ["\(folder)", "\(folder)/../lib/lanyard/bin"].first { access("\($0)/\(program)", X_OK) == 0 }
            .flatMap(FileTrust.realPath)
    }
}

extension CommandContext {
    /// Returns the path of a program on `PATH`; nil if there is none.
    func program(_ name: String) -> String? {
        if name.hasBytes("/") { return access(name, X_OK) == 0 ? name : nil }
        let folders = (variable("PATH") ?? "").pieces(between: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Whether a path exists.
    func isFile(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns a path for people, with `~` for the home folder.
    func short(_ path: String) -> String {
        guard let home = variable("HOME"), home.count > 1, path.hasPrefix(home + "/") else { return path.displayable() }
        return "~\(path.dropFirst(home.count))".displayable()
    }
}
