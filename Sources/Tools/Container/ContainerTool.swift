import Addresses
import Files
import Rules
import Secrets
import SettingsFile
import Terminal
import YAML

extension Tool {
    static let container = Tool(
        "container",
        setup: ToolSetup(
            purpose: "tools in a container ask this machine's agent",
            discussion: """
                Mounts the agent's socket by the `devcontainer.json` or the compose file in this folder, if there is one: into `devcontainer.json`, or \
                into `compose.override.yaml`, for the service of the forward's name. It also prints the options for docker and podman.
                """,
            url: .host("the name of a forward, such as devbox", help: "The forward that the container uses."),
            purposeOfExample: "Mount the socket of the forward devbox", exampleOfURL: " devbox",
            programs: ["docker", "podman"], schemes: ["https"], settings: ContainerSettings.init))
}

/// Containers: they mount the socket of a forward.
struct ContainerSettings: ForwardSettings {
    let place: ToolTarget

    /// The path of the socket in containers.
    private let target = "/run/lanyard.sock"

    func requireUse() throws(CommandError) {
        guard isForward else {
            throw CommandError("name the forward that the container is to use, such as devbox", status: .usage)
        }
    }

    func changes() throws(CommandError) -> [ToolChange] {
        let devcontainers = self.devcontainers
        if devcontainers.count == 1, let file = devcontainers.first {
            let source = try socket(variable: "localEnv:")
            let mount = "\"source=\(source),target=\(target),type=bind\""
            let mounts = ToolSetting(.jsonWithComments, ["mounts"], in: file)
            return [
                ToolChange(setting: mounts, value: try list(mounts, with: mount)),
                ToolChange(
                    .jsonWithComments, ["containerEnv", Configuration.agentVariable], in: file, to: "\"\(target)\""),
            ]
        }
        guard devcontainers.isEmpty, let compose = composeFile, try !namesFiles(compose) else {
            return []
        }
        let folder = FileTrust.parent(of: compose)
        // compose reads only the first of these files that exists.
        let overrides = ["compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"]
        guard !overrides.contains(where: { place.context.isFile("\(folder)/\($0)") }) else { return [] }
        let override = "\(folder)/compose.override.yaml"
        let new = try overriding()
        if let text = try ToolTarget.text(of: override), !text.isSame(as: new) { return [] }
        guard try services(of: compose)?.contains(forward) ?? false else { return [] }
        return [ToolChange(.document, in: override, to: new)]
    }

    /// Throws if a file isn't in the project's folder, because a link leads elsewhere: whoever wrote the project chose it.
    func requireOwn(_ files: [String]) throws(CommandError) {
        for file in files {
            let parent = FileTrust.parent(of: file)
            let folders = [parent, FileTrust.parent(of: parent)]
            let project = folders.first { $0.hasSuffix("/.devcontainer") }.map(FileTrust.parent) ?? parent
            guard !SettingsText.target(of: file).leads(outOf: project) else {
                throw CommandError(
                    "\(file) is a link, or in one, that leads out of the project's folder",
                    hints: [Hint("see where it leads, and remove it", run: "readlink -m\(last: file)")])
            }
        }
    }

    func reasonForNothing() throws(CommandError) -> Hint? {
        guard try changes().isEmpty else { return nil }
        let devcontainers = self.devcontainers.map(place.context.short)
        guard devcontainers.isEmpty else {
            return "nothing is written: there are several dev containers: \(devcontainers.joined(separator: ", "))"
        }
        guard let compose = composeFile else {
            return "nothing is written: this folder has no devcontainer.json and no compose file"
        }
        let file = place.context.short(compose)
        guard try !namesFiles(compose) else {
            return "nothing is written: COMPOSE_FILE names the files that compose reads"
        }
        guard let services = try services(of: compose) else { return "nothing is written: lanyard can't read \(file)" }
        return services.contains(forward)
            ? "nothing is written: an override of \(file) exists already"
            : "nothing is written: \(file) has no service \(forward)"
    }

    func notes() throws(CommandError) -> [Hint] {
        var notes = try faults()
        if let compose = composeFile, devcontainers.isEmpty, try changes().isEmpty {
            let file = place.context.short(compose)
            let text = "for a service of \(file), next to its image"
            notes.append(Hint("\(text): volumes", write: "- \(try socket()):\(target)"))
            notes.append(Hint("\(text): environment", write: "\(Configuration.agentVariable): \(target)"))
        }
        return notes
            + [
                Hint(
                    "with docker or podman, add these options",
                    write: "--volume \"\(try socket()):\(target)\" "
                        + "--env \(Configuration.agentVariable)=\(target)"),
                startHint("the agent must run here, before the container"),
            ].compactMap(\.self)
    }

    private var workingFolder: String { .workingFolder ?? "." }

    /// Returns the file of the dev container that tools start without being asked, or else those that they let one choose from.
    private var devcontainers: [String] {
        let usual = [".devcontainer/devcontainer.json", ".devcontainer.json"].map { "\(workingFolder)/\($0)" }
        if let first = usual.first(where: place.context.isFile) { return [first] }
        let folder = "\(workingFolder)/.devcontainer"
        let names = (try? Folder(folder))?.names(atMost: 1000).sorted() ?? []
        return names.map { "\(folder)/\($0)/devcontainer.json" }.filter(place.context.isFile)
    }

    /// Returns the file that compose finds: in this folder, or else in the nearest one above it.
    private var composeFile: String? {
        let names = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"]
        return (place.projectFolders + [""]).lazy.flatMap { folder in names.map { "\(folder)/\($0)" } }
            .first(where: place.context.isFile)
    }

    /// Whether a variable, perhaps in the project's `.env`, says which files compose reads, so that it looks for no override.
    private func namesFiles(_ compose: String) throws(CommandError) -> Bool {
        let settings = try ToolTarget.text(of: "\(FileTrust.parent(of: compose))/.env") ?? ""
        return place.context.variable("COMPOSE_FILE") != nil
            || LineSettings(settings, section: nil).value(of: "COMPOSE_FILE")?.isEmpty == false
    }

    /// Returns the current list with an element added in front; after the last one there may be a comma or a comment.
    private func list(_ setting: ToolSetting, with element: String) throws(CommandError) -> String {
        guard let old = try setting.current(), let (_, rest) = old.cut(at: "[") else { return "[\(element)]" }
        guard !old.hasBytes(element) else { return old }
        let isEmpty = rest.trimmed(of: " \t\r\n").isSame(as: "]")
        let gap = Substring(rest.utf8.prefix { " \t\r\n".utf8.contains($0) })
        return isEmpty ? "[\(element)]" : "[\(gap)\(element),\(gap.isEmpty ? " " : "")\(rest)"
    }

    /// Returns the names of a compose file's services; nil if the file can't be read.
    private func services(of file: String) throws(CommandError) -> [String]? {
        guard YAMLNode.isSupported else { throw .withoutYAML(place.context.short(file)) }
        let settings = YAMLNode(yaml: (try ToolTarget.text(of: file) ?? "").utf8)
        return settings.map { ($0["services"]?.entries ?? []).filter { $0.value != .other }.map(\.name) }
    }

    /// Returns the socket's path here, by the variable that it begins with, so that the file serves others, too.
    private func socket(variable prefix: String = "") throws(CommandError) -> String {
        let path = "\(try folderOfSockets())/\(forward)"
        for name in ["XDG_RUNTIME_DIR", "HOME"] {
            guard let value = place.context.variable(name), path.hasPrefix("\(value)/") else { continue }
            return "${\(prefix)\(name)}\(path.dropFirst(value.count))"
        }
        return path
    }

    private func overriding() throws(CommandError) -> String {
        let service = forward
        return """
            services:
              \(service):
                volumes:
                  - \(try socket()):\(target)
                environment:
                  \(Configuration.agentVariable): \(target)

            """
    }
}

extension String {
    /// Whether the file of a path isn't in a folder, once all links in both are followed.
    fileprivate func leads(outOf folder: String) -> Bool {
        guard let root = FileTrust.realPath(folder) else { return true }
        var existing = FileTrust.parent(of: self)
        while FileTrust.realPath(existing) == nil, existing.utf8.count > 1 {
            // Nobody knows where the parent of a missing folder is.
            if existing.hasSuffix("/..") { return true }
            existing = FileTrust.parent(of: existing)
        }
        guard let found = FileTrust.realPath(existing) else { return true }
        return !(found == root || root == "/" || found.hasPrefix(root + "/"))
    }
}
