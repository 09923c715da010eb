import Addresses
import Files
import PluginWire
import Secrets

/// One folder that may hold a plugin.
struct PluginFolder {
    let folder: String
    let name: String
    private var file: String { folder + "/plugin.toml" }

    /// Loads the plugin; nil if the folder has no `plugin.toml`.
    func load(_ places: PluginPlaces, _ trust: inout FileTrust) throws(PluginProblem) -> PluginManifest? {
        guard let manifestFile = try trusted(file, &trust) else { return nil }
        let (declared, executable) = try ManifestReader(try text(of: manifestFile), file: file).read()
        var manifest = declared
        guard manifest.name == name else {
            throw PluginProblem(
                file: file, "the name \(manifest.name) differs from its folder's, \(name.displayable(limit: 64))",
                hint: "rename the folder or the plugin")
        }
        guard manifest.protocols.contains(PluginProtocol.version) else {
            throw PluginProblem(
                file: file,
                "the plugin speaks \(manifest.protocols.joined(separator: ", ")), not \(PluginProtocol.version)",
                hint: "install a version of the plugin, or of lanyard, that fits the other")
        }
        manifest.folder = FileTrust.parent(of: manifestFile)
        manifest.executable = try program(
            executable, places.candidates(for: executable, in: manifest.folder), &trust)
        return manifest
    }

    private func program(
        _ executable: String, _ candidates: [String], _ trust: inout FileTrust
    ) throws(PluginProblem) -> String {
        for candidate in candidates {
            guard let path = try trusted(candidate, &trust), FileTrust.isProgram(path) else { continue }
            guard isInside(candidate, path, executable) else { continue }
            return path
        }
        throw PluginProblem(
            file: file, "its executable \(executable.displayable(limit: 200)) does not exist",
            hint: candidates.isEmpty
                ? "name a program, a path below the plugin's folder, or an absolute path"
                : "looked for \(candidates.map { $0.displayable(limit: 200) }.joined(separator: ", "))")
    }

    /// Whether a relative path with a slash stays in the plugin's folder, even after resolving symbolic links.
    private func isInside(_ candidate: String, _ path: String, _ executable: String) -> Bool {
        guard !executable.hasPrefix("/"), executable.hasBytes("/"), let root = FileTrust.realPath(folder) else {
            return true
        }
        return path.hasPrefix(root + "/")
    }

    private func trusted(_ path: String, _ trust: inout FileTrust) throws(PluginProblem) -> String? {
        switch trust.judge(path) {
        case .trusted(let resolved): return resolved
        case .missing: return nil
        case .writable(let culprit):
            throw PluginProblem(
                file: path, "\(culprit.displayable()) could have been written by another user",
                hint: "make it yours or root's, and let no one else write to it")
        }
    }

    private func text(of path: String) throws(PluginProblem) -> String {
        do throws(FileProblem) {
            let bytes = try OpenFile(path).contents(atMost: ManifestReader.longestFile)
            if let text = String(validating: bytes, as: UTF8.self) { return text }
        } catch {
            throw PluginProblem(file: file, error == .tooLong ? "is too long" : "cannot be read")
        }
        throw PluginProblem(file: file, "is not UTF-8")
    }
}
