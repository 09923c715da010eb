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
    /// podman reads only the file that the first of them names.
    static let paths = ["REGISTRY_AUTH_FILE", "DOCKER_CONFIG"]

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

    /// Of the helpers for every registry, the last file's count, and auth.json only if they include it.
    ///
    /// Of two such files, that of the session, to which `podman login` writes, comes first.
    static func overrides(_ place: ToolPlace) throws(Failure) -> [ToolOverride] {
        let (before, after) = namings(place)
        guard let host = place.pattern?.host.urlText else {
            let isWritten = place.context.isFile(dropIn(place))
            guard let last = after.last ?? (isWritten ? nil : before.last) else { return [] }
            guard after.last != nil || last.hasLanyard else { return [] }
            let hint: Hint =
                "credential-helpers is \(last.shown) in \(place.context.short(last.file)), which takes precedence; remove it there"
            return [ToolOverride(asksLanyard: last.hasLanyard, hint: hint)]
        }
        var overrides: [ToolOverride] = []
        let isWritten = place.context.isFile(dropIn(place))
        if let last = after.last ?? (isWritten ? nil : before.last), !last.hasLanyard, !last.beginsWithFile {
            let what = "credential-helpers is \(last.shown) in \(place.context.short(last.file))"
            overrides.append(
                ToolOverride(hint: "\(what), which podman asks first; put containers-auth.json before them"))
        }
        if let session = sessionFile(place) {
            let settings = try DockerSettings(session, place.context)
            let other = settings.helper(of: host).map { $0 != "lanyard" } ?? !settings.passwords(host).isEmpty
            if other {
                let what =
                    "\(place.context.short(session)) has a login for \(host.displayable(limit: 200)), which comes first"
                overrides.append(ToolOverride(hint: Hint("\(what); to remove it", run: "podman logout \(host)")))
            }
        }
        return overrides
    }

    /// The file of the session, which podman reads before the user's unless a variable names the only one.
    private static func sessionFile(_ place: ToolPlace) -> String? {
        guard named(place) == nil else { return nil }
        return place.context.environment.absolutePath("XDG_RUNTIME_DIR").map { "\($0)/containers/auth.json" }
    }

    private static func named(_ place: ToolPlace) -> String? {
        place.named("REGISTRY_AUTH_FILE") ?? place.named("DOCKER_CONFIG").map { "\($0)/config.json" }
    }

    /// A file that names helpers for every registry.
    private struct Naming {
        let file: String
        let value: String

        var hasLanyard: Bool { value.hasBytes("\"lanyard\"") || value.hasBytes("'lanyard'") }
        var shown: String { value.displayable(limit: 100) }
        /// Whether auth.json is asked before other helpers.
        var beginsWithFile: Bool { value.trimmed(of: " [\"'\n").hasPrefix("containers-auth.json") }
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
        named(place) ?? "\(place.settings)/containers/auth.json"
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
