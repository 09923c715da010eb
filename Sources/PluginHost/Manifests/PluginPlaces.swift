import Addresses
import Files

/// The places where plugins are looked for.
struct PluginPlaces {
    /// Folders of plugin folders, the one with the highest precedence first.
    let folders: [String]
    /// The path of the running program, with symbolic links resolved; nil if it can't be determined.
    let executable: String?

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
        if let executable {
            let folder = FileTrust.parent(of: executable)
            folders.append(FileTrust.parent(of: folder) + "/lib/lanyard/plugins")
            if let checkout = Self.checkout(of: folder) { folders.append(checkout + "/plugins") }
        }
        self.folders = folders.filter { $0.hasPrefix("/") }
    }

    /// Returns the possible paths of a manifest's `executable`, best first; empty if its text isn't allowed.
    func candidates(for name: String, in folder: String) -> [String] {
        if name.hasPrefix("/") { return [name] }
        if name.hasBytes("/") {
            let parts = name.pieces(between: "/", omittingEmpty: false)
            return parts.contains { $0.isEmpty || $0.isSame(as: "..") } ? [] : [folder + "/" + name]
        }
        guard name != ".", name != ".." else { return [] }
        guard let executable else { return [folder + "/" + name] }
        let beside = FileTrust.parent(of: executable)
        return [folder, beside, FileTrust.parent(of: beside) + "/lib/lanyard"].map { $0 + "/" + name }
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
