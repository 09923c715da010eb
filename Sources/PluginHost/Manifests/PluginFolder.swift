import Addresses
import Files
import Glibc
import PluginWire
import Secrets

/// One folder that may hold a plugin.
struct PluginFolder {
    let folder: String
    let name: String
    private var file: String { folder + "/plugin.toml" }

    /// Loads the plugin; nil if the folder has no `plugin.toml`.
    ///
    /// - Throws: The reason why it can't be used, if its manifest can't be read either; otherwise the manifest has it,
    ///   and what the plugin claims.
    func load(_ places: PluginPlaces, _ trust: inout FileTrust) throws(PluginProblem) -> PluginManifest? {
        guard try isThere() else { return nil }
        let reader = ManifestReader(try text(of: file), file: file)
        do throws(PluginProblem) {
            return try load(reader, places, &trust)
        } catch {
            guard var claims = reader.claims(of: name) else { throw error }
            claims.origin = name
            claims.folder = folder
            claims.problem = error
            claims.problem?.plugin = name
            return claims
        }
    }

    private func load(
        _ reader: ManifestReader, _ places: PluginPlaces, _ trust: inout FileTrust
    ) throws(PluginProblem) -> PluginManifest {
        // Another user could have written even the text that says so, but who can't read it can't claim anything.
        guard let manifestFile = try trusted(file, &trust) else {
            throw PluginProblem(file: file, "cannot be read")
        }
        let (declared, executable) = try reader.read()
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
        // lanyard's own program, which most plugins share, is no script.
        guard !places.ships(manifest.executable, in: folder) else { return manifest }
        try requireInterpreter(of: manifest.executable, places)
        manifest.origin = name
        return manifest
    }

    /// Whether the folder holds a plugin; one that can't be looked into counts, and so does a link that leads nowhere.
    private func isThere() throws(PluginProblem) -> Bool {
        if access(file, F_OK) == 0 { return true }
        let problem = FileProblem.last
        guard problem.isMissing else { throw PluginProblem(file: file, "cannot be read: \(problem.reason)") }
        guard let link = [folder, file].first(where: { SymbolicLink.target(of: $0) != nil }),
            access(link, F_OK) != 0
        else { return false }
        throw PluginProblem(file: link, "is a link to a file that does not exist")
    }

    /// Refuses a script without an interpreter, which the kernel reports as a missing script (execve(2)).
    private func requireInterpreter(of program: String, _ places: PluginPlaces) throws(PluginProblem) {
        guard let file = try? OpenFile(program),
            let start = try? OpenFile.bytes(from: file.descriptor, atMost: 256), start.starts(with: "#!".utf8)
        else { return }
        let line = String(decoding: start.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let words = line.utf8.split { " \t".utf8.contains($0) }.map { String(Substring($0)) }
        guard let interpreter = words.first else { return }
        var missing = FileTrust.isProgram(interpreter) ? nil : interpreter
        if missing == nil, interpreter.hasSuffix("/env"), words.count > 1, let name = words.last, words[1] == name {
            let found = places.path.contains { FileTrust.isProgram($0 + "/" + name) }
            if !found, !name.hasBytes("=") { missing = name }
        }
        guard let missing else { return }
        throw PluginProblem(
            file: program, "its interpreter \(missing.displayable(limit: 200)) is not installed",
            hint: "install it, or correct the first line of the file")
    }

    private func program(
        _ executable: String, _ candidates: [String], _ trust: inout FileTrust
    ) throws(PluginProblem) -> String {
        var plain: String?
        for candidate in candidates {
            guard let path = try trusted(candidate, &trust), isInside(candidate, path, executable) else { continue }
            if FileTrust.isProgram(path) { return path }
            if plain == nil, FileStatus(of: path)?.isRegular == true { plain = path }
        }
        if let plain {
            let status = FileStatus(of: plain)
            let isMarked = status?.grants(S_IXUSR | S_IXGRP | S_IXOTH) == true
            throw PluginProblem(
                file: file,
                "its executable \(plain.displayable(limit: 4096)) is not executable"
                    + (isMarked ? " for you, or where it is stored" : ""),
                hint: "make it executable", command: isMarked ? [] : ["chmod", "+x", plain])
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
