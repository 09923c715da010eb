import Addresses
import Files
import Glibc
import PluginWire
import Secrets
import SettingsFile
import Synchronization
import Terminal

/// One folder that may hold a plugin.
struct PluginFolder {
    let folder: String
    let name: String
    private var file: String { folder + "/plugin.toml" }

    /// Loads the plugin; nil if the folder has no `plugin.toml`.
    ///
    /// - Throws: The reason why it can't be used, if its manifest can't be read either; otherwise the manifest has it,
    ///   and what the plugin claims.
    func load(_ places: PluginFolders, _ trust: inout FileTrust) throws(SettingsError) -> PluginManifest? {
        guard try isThere() else { return nil }
        let reader = ManifestReader(try text(of: file), file: file)
        do throws(SettingsError) {
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
        _ reader: ManifestReader, _ places: PluginFolders, _ trust: inout FileTrust
    ) throws(SettingsError) -> PluginManifest {
        // Another user could have written even the text that says so, but who can't read it can't claim anything.
        guard let manifestFile = try trusted(file, &trust) else {
            throw SettingsError(file: file, message: "cannot be read")
        }
        let (declared, executable) = try reader.read()
        var manifest = declared
        guard manifest.name == name else {
            throw SettingsError(
                file: file, line: reader.line(of: "name"),
                message: "the name \(manifest.name) differs from its folder's, \(name)",
                hint: "rename the folder or the plugin")
        }
        guard manifest.protocols.contains(PluginProtocol.version) else {
            throw SettingsError(
                file: file, line: reader.line(of: "protocols"),
                message:
                    "the plugin speaks \(manifest.protocols.joined(separator: ", ")), not \(PluginProtocol.version)",
                hint: manifest.protocols.contains {
                    ["v1", "1", PluginProtocol.stateMachine].contains($0.lowercased())
                }
                    ? "write protocols = [\"\(PluginProtocol.version)\"]"
                    : "install a version of the plugin, or of lanyard, that fits the other")
        }
        manifest.folder = FileTrust.parent(of: manifestFile)
        manifest.executable = try program(
            executable, at: reader.line(of: "executable"), places.candidates(for: executable, in: manifest.folder),
            &trust)
        // lanyard's own program, which most plugins share, is no script.
        guard !places.ships(manifest.executable, in: folder) else { return manifest }
        try requireInterpreter(of: manifest.executable, places)
        manifest.origin = name
        return manifest
    }

    /// Whether the folder holds a plugin; one that can't be looked into counts, and so does a link that leads nowhere.
    private func isThere() throws(SettingsError) -> Bool {
        if access(file, F_OK) == 0 { return true }
        let problem = FileError.last
        guard problem.isMissing else { throw SettingsError(file: file, message: "cannot be read: \(problem.reason)") }
        guard let link = [folder, file].first(where: { FileStatus.linkTarget(of: $0) != nil }),
            access(link, F_OK) != 0
        else {
            let names = (try? Folder(folder).names(atMost: 64)) ?? []
            guard let near = names.first(where: { $0.lowercased() == "plugin.toml" }) else { return false }
            throw SettingsError(file: folder + "/" + near, message: "is not called plugin.toml", hint: "rename it")
        }
        throw SettingsError(file: link, message: "is a link to a file that does not exist")
    }

    /// Refuses a script without an interpreter, which the kernel reports as a missing script (execve(2)), or runs as no
    /// program at all.
    private func requireInterpreter(of program: String, _ places: PluginFolders) throws(SettingsError) {
        guard let file = try? OpenFile(program), let start = try? OpenFile.bytes(from: file.descriptor, atMost: 256)
        else { return }
        guard start.starts(with: "#!".utf8) else {
            guard !start.starts(with: "\u{FEFF}#!".utf8) else {
                throw SettingsError(
                    file: program, line: 1, message: "begins with a byte order mark", hint: "save it without one")
            }
            // A program for the machine has other bytes, too.
            let isText = start.allSatisfy { $0 >= 0x20 && $0 != 0x7F || "\t\n\r".utf8.contains($0) }
            guard isText, !start.isEmpty else { return }
            throw SettingsError(
                file: program, line: 1, message: "is a script that doesn't name its interpreter",
                hint: "begin it with a line such as #!/usr/bin/env python3")
        }
        let line = String(decoding: start.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.utf8.last != 0x0D else {
            throw SettingsError(
                file: program, message: "its first line ends in a carriage return", hint: "save it with Unix line ends")
        }
        let words = line.utf8.split { " \t".utf8.contains($0) }.map { String(Substring($0)) }
        guard let interpreter = words.first else { return }
        guard interpreter.hasPrefix("/") else {
            throw SettingsError(
                file: program, line: 1, message: "its interpreter \(interpreter) is no absolute path",
                hint: "begin it with a line such as #!/usr/bin/env \(interpreter)")
        }
        var missing = FileTrust.isProgram(interpreter) ? nil : interpreter
        if missing == nil, interpreter.hasSuffix("/env"), words.count > 1, let name = words.last, words[1] == name {
            let found = places.path.contains { FileTrust.isProgram($0 + "/" + name) }
            if !found, !name.hasBytes("=") { missing = name }
        }
        guard let missing else { return }
        throw SettingsError(
            file: program, message: "its interpreter \(missing) is not installed",
            hint: "install it, or correct the first line of the file")
    }

    private func program(
        _ executable: String, at line: Int?, _ candidates: [String], _ trust: inout FileTrust
    ) throws(SettingsError) -> String {
        var plain: String?
        for candidate in candidates {
            guard let path = try trusted(candidate, &trust) else { continue }
            guard isInside(candidate, path, executable) else {
                throw SettingsError(
                    file: file, line: line,
                    message: "its executable \(candidate) is a link that leads out of the plugin's folder",
                    hint: "name the absolute path \(path)")
            }
            if FileTrust.isProgram(path) { return path }
            if plain == nil, FileStatus(of: path)?.isRegular == true { plain = path }
        }
        if let plain {
            let status = FileStatus(of: plain)
            let isMarked = status?.grants(S_IXUSR | S_IXGRP | S_IXOTH) == true
            throw SettingsError(
                file: file, line: line,
                message: "its executable \(plain) is not executable"
                    + (isMarked ? " for you, or where it is stored" : ""),
                hint: "make it executable", command: isMarked ? [] : ["chmod", "+x", plain])
        }
        if let folder = candidates.first(where: { FileStatus(of: $0)?.isFolder == true }) {
            throw SettingsError(file: file, line: line, message: "its executable \(folder) is a folder")
        }
        guard !candidates.isEmpty else {
            throw SettingsError(
                file: file, line: line, message: "its executable \(executable) is none that a plugin can have",
                hint: "name a program, a path to a file below the plugin's folder, or an absolute path")
        }
        let link = candidates.first { FileStatus.linkTarget(of: $0) != nil }
        throw SettingsError(
            file: file, line: line,
            message: link.map { "its executable \($0) is a link to a file that does not exist" }
                ?? "its executable \(executable) does not exist",
            hint: "looked for \(candidates.map { $0.displayable(limit: 200) }.joined(separator: ", "))")
    }

    /// Whether a relative path with a slash stays in the plugin's folder, even after resolving symbolic links.
    private func isInside(_ candidate: String, _ path: String, _ executable: String) -> Bool {
        guard !executable.hasPrefix("/"), executable.hasBytes("/"), let root = FileTrust.realPath(folder) else {
            return true
        }
        return path.hasPrefix(root + "/")
    }

    private func trusted(_ path: String, _ trust: inout FileTrust) throws(SettingsError) -> String? {
        switch trust.check(path) {
        case .trusted(let resolved): return resolved
        case .missing: return nil
        case .writable(let culprit):
            let isOwn = FileStatus(of: culprit)?.isOwn == true
            throw SettingsError(
                file: culprit, message: "could have been written by another user",
                hint: isOwn
                    ? "let no one else write to it" : "make it yours or root's, and let no one else write to it",
                command: isOwn ? ["chmod", "go-w", culprit] : [])
        }
    }

    private func text(of path: String) throws(SettingsError) -> String {
        do throws(FileError) {
            let bytes = try OpenFile(path).contents(atMost: ManifestReader.longestFile)
            if let text = String(validating: bytes, as: UTF8.self) { return text }
        } catch {
            throw SettingsError(file: file, message: error == .tooLong ? "is too long" : "cannot be read")
        }
        throw SettingsError(file: file, message: "is not UTF-8")
    }
}

/// The installed plugins, which are looked for once, when they are first needed.
public final class InstalledPlugins: Sendable {
    private let discover: @Sendable () -> PluginRegistry
    private let found = Mutex<PluginRegistry?>(nil)

    /// Uses the plugins of the user or, without an environment, those of the system.
    public init(environment: [String: String], executable: String) {
        discover = { PluginRegistry.discover(environment: environment, executable: executable) }
    }

    /// Wraps a registry that is already known.
    public init(_ registry: PluginRegistry) {
        discover = { registry }
    }

    /// The plugins; the first access looks for them.
    public var registry: PluginRegistry {
        found.withLock { found in
            let registry = found ?? discover()
            found = registry
            return registry
        }
    }
}

/// The places where plugins are looked for.
struct PluginFolders {
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
