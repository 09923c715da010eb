import Addresses
import Files
import Glibc
import Secrets

/// What is installed beside the program.
struct InstalledFiles: Sendable {
    private let folder: String

    init(_ context: CommandContext) {
        folder = "/" + context.executable.pieces(between: "/").dropLast().joined(separator: "/")
    }

    /// The JSON schema of the configuration, as a URL; nil if it is not installed.
    var schema: String? {
        let places = ["\(folder)/../share/lanyard/config.schema.json", "\(folder)/../../../share/config.schema.json"]
        return places.lazy.compactMap(FileTrust.realPath).first.map { "file://" + $0 }
    }

    /// `git-credential-lanyard` beside the program; nil if it is not there.
    var credentialHelper: String? { program("git-credential-lanyard") }

    /// A program that tools run: beside this one, or in a folder of its own if others have one of that name; nil if it is not there.
    func program(_ name: String) -> String? {
        folder(of: name).map { "\($0)/\(name)" }
    }

    /// The folder that has such a program.
    func folder(of program: String) -> String? {
        ["\(folder)", "\(folder)/../lib/lanyard/bin"].first { access("\($0)/\(program)", X_OK) == 0 }
            .flatMap(FileTrust.realPath)
    }
}

extension CommandContext {
    /// Where a program of that name is found on `PATH`; nil if it isn't.
    func program(_ name: String) -> String? {
        if name.hasBytes("/") { return access(name, X_OK) == 0 ? name : nil }
        let folders = (variable("PATH") ?? "").pieces(between: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Whether a path leads to something.
    func isFile(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// A path as people write it: the home directory as `~`.
    func short(_ path: String) -> String {
        guard let home = variable("HOME"), home.count > 1, path.hasPrefix(home + "/") else { return path.displayable() }
        return "~\(path.dropFirst(home.count))".displayable()
    }
}
