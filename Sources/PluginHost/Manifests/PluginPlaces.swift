import Addresses
import Files

/// The places where plugins are looked for.
struct PluginPlaces {
    /// Folders of plugin folders, the one with the highest precedence first.
    let folders: [String]
    /// The path of the running program, with symbolic links resolved; nil if it can't be determined.
    let executable: String?
    /// The folders that programs are looked for in, as env(1) does.
    let path: [String]
    /// Those of `folders` that lanyard's own plugins are in.
    private let own: [String]
    /// The program of lanyard's own plugins.
    private static let program = "lanyard-authority"

    /// - Parameters:
    ///   - environment: The variables; `LANYARD_PLUGIN_PATH`, `XDG_DATA_HOME` and `HOME` matter, but relative paths in
    ///     them don't.
    ///   - executable: The running program.
    init(environment: [String: String], executable: String?) {
        self.executable = executable
        var folders = (environment["LANYARD_PLUGIN_PATH"] ?? "").pieces(between: ":").map { String($0) }
        if let data = environment.absolutePath("XDG_DATA_HOME") {
            folders.append(data + "/lanyard/plugins")
        } else if let home = environment.absolutePath("HOME") {
            folders.append(home + "/.local/share/lanyard/plugins")
        }
        own =
            executable.map { executable in
                let folder = FileTrust.parent(of: executable)
                let prefix = FileTrust.parent(of: folder) + "/lib/lanyard/plugins"
                return [prefix] + [Self.checkout(of: folder)].compactMap(\.self).map { $0 + "/plugins" }
            } ?? []
        self.folders = (folders + own).filter { $0.hasPrefix("/") }
        path = (environment["PATH"] ?? "/usr/bin:/bin").pieces(between: ":").map { String($0) }
    }

    /// Whether a plugin ships with lanyard: its folder is beside lanyard's own, and it runs lanyard's own program.
    func ships(_ program: String, in folder: String) -> Bool {
        own.contains(FileTrust.parent(of: folder)) && program.hasSuffix("/" + Self.program)
            && programFolders.contains(FileTrust.parent(of: program))
    }

    /// The folders of the programs that are installed with lanyard.
    private var programFolders: [String] {
        guard let executable else { return [] }
        let beside = FileTrust.parent(of: executable)
        return [beside, FileTrust.parent(of: beside) + "/lib/lanyard"]
    }

    /// Returns the possible paths of a manifest's `executable`, best first; empty if its text isn't allowed.
    func candidates(for name: String, in folder: String) -> [String] {
        if name.hasPrefix("/") { return [name] }
        if name.hasBytes("/") {
            let parts = name.pieces(between: "/", omittingEmpty: false)
            return parts.contains { $0.isEmpty || $0.isSame(as: "..") } ? [] : [folder + "/" + name]
        }
        guard name != ".", name != ".." else { return [] }
        return ([folder] + programFolders).map { $0 + "/" + name }
    }

    /// Returns the checkout whose build folder contains the folder.
    private static func checkout(of folder: String) -> String? {
        var current = folder
        while current != "/" {
            let parent = FileTrust.parent(of: current)
            if current.dropFirst(parent == "/" ? 1 : parent.count + 1).hasPrefix(".build") { return parent }
            current = parent
        }
        return nil
    }
}
