import Addresses
import ConsumerProtocols
import Files
import Rules
import Secrets
import Terminal
import ToolTexts

/// podman, skopeo and buildah: of docker's settings, they read only those for a host.
enum PodmanTool: ConfigurableTool {
    static let name = "podman"
    static let purpose = "podman, skopeo and buildah use lanyard as a credential helper"
    static let discussion = """
        Adds a file to `~/.config/containers/registries.conf.d` that names lanyard before auth.json, or, with a URL, its host to \
        `credHelpers` in `~/.config/containers/auth.json`, or in the file that REGISTRY_AUTH_FILE names.
        """
    static let url = ToolURL.optional
    static let relatives = Array(programs.dropFirst())
    static let programs = DockerConsumer.podmans
    static let helper: String? = "docker-credential-lanyard"

    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern {
        try pattern.registry(for: name, hub: "https://docker.io")
    }

    static func urlsFound(_ place: ToolPlace) -> [String] {
        (try? DockerSettings(file(place), place.context))?.urlsOfLanyard ?? []
    }

    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let clear = try DockerSettings(file(place), place.context).clearPasswords(place.pattern?.host.urlText, name)
        let before = namings(place).before
        guard place.pattern == nil, let last = before.last, !last.hasLanyard else { return clear }
        return [
            "credential-helpers is \(last.shown) in \(place.context.short(last.file)); lanyard's setting takes precedence"
        ] + clear
    }

    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        guard place.pattern == nil, let last = namings(place).after.last, !last.hasLanyard else { return [] }
        let file = place.context.short(last.file)
        return ["credential-helpers is \(last.shown) in \(file), which takes precedence; remove it there"]
    }

    static func override(_ place: ToolPlace) -> Bool? {
        let (before, after) = namings(place)
        let isWritten = place.context.isFile(dropIn(place))
        return after.last?.hasLanyard ?? (isWritten ? nil : before.last?.hasLanyard)
    }

    /// A file that names helpers for every registry.
    private struct Naming {
        let file: String
        let value: String

        var hasLanyard: Bool { value.hasBytes("\"lanyard\"") || value.hasBytes("'lanyard'") }
        var shown: String { value.displayable(limit: 100) }
    }

    /// Returns the files that name helpers before and after lanyard's file, in podman's order; the last one counts.
    private static func namings(_ place: ToolPlace) -> (before: [Naming], after: [Naming]) {
        let (own, everybody) = ("\(place.home)/.config/containers", "/etc/containers")
        // If the user has this file, the system's files don't count.
        let isOwn = place.context.isFile("\(own)/registries.conf")
        let files =
            isOwn ? ["\(own)/registries.conf"] : ["\(everybody)/registries.conf"] + dropIns(of: everybody)
        let others = dropIns(of: own).filter { $0 != dropIn(place) }
        func read(_ files: [String]) -> [Naming] {
            files.compactMap { file in
                (try? ToolSetting(.toml, ["credential-helpers"], in: file).current())
                    .map { Naming(file: file, value: $0) }
            }
        }
        return (read(files + others.filter { $0 < dropIn(place) }), read(others.filter { $0 > dropIn(place) }))
    }

    private static func dropIns(of folder: String) -> [String] {
        let path = "\(folder)/registries.conf.d"
        guard let opened = try? Folder(path) else { return [] }
        return opened.names(atMost: 1000).filter { $0.hasSuffix(".conf") }.sorted().map { "\(path)/\($0)" }
    }

    /// Returns the path of lanyard's file; podman looks for it in the home folder, whatever XDG_CONFIG_HOME says.
    private static func dropIn(_ place: ToolPlace) -> String {
        "\(place.home)/.config/containers/registries.conf.d/lanyard.conf"
    }

    /// Returns the path of the file from which podman reads passwords.
    private static func file(_ place: ToolPlace) -> String {
        place.context.environment.absolutePath("REGISTRY_AUTH_FILE") ?? "\(place.settings)/containers/auth.json"
    }

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        guard let host = place.pattern?.host.urlText else {
            // The first helper stores a login; auth.json would store it in plain text.
            let helpers = #"["lanyard", "containers-auth.json"]"#
            return [ToolChange(.toml, ["credential-helpers"], in: dropIn(place), to: helpers)]
        }
        return [ToolChange(.json, ["credHelpers", host], in: file(place), to: #""lanyard""#)]
    }
}
