import Addresses
import Files
import Rules
import Secrets
import Terminal

extension Tool {
    static let podman = Tool(
        "podman", relatives: ["skopeo", "buildah"], .link("docker-credential-lanyard"),
        DockerProtocol.init,
        setup: ToolSetup(
            purpose: "podman, skopeo and buildah use lanyard as a credential helper",
            discussion: """
                Adds a file to `~/.config/containers/registries.conf.d` that names lanyard before auth.json, or, with a URL, its host to \
                `credHelpers` in `~/.config/containers/auth.json`, or in the file that REGISTRY_AUTH_FILE names.
                """,
            url: .optional, programs: DockerProtocol.podmans, helper: "docker-credential-lanyard",
            place: { pattern throws(CommandError) in try pattern.registry(for: "podman", hub: "https://docker.io") },
            // podman reads only the file that the first of them names.
            paths: ["REGISTRY_AUTH_FILE", "DOCKER_CONFIG"], settings: PodmanSettings.init))
}

/// podman, skopeo and buildah: of docker's settings, they read only those for a host.
struct PodmanSettings: ToolSettings {
    let place: ToolTarget

    var urlsFound: [String] {
        (try? DockerConfig(file, place.context))?.urlsOfLanyard ?? []
    }

    func remarks() throws(CommandError) -> [Hint] {
        let clear = try DockerConfig(file, place.context).clearPasswords(place.pattern?.host.urlText, "podman")
        let before = namings.before
        guard place.pattern == nil, let last = before.last, !last.hasLanyard else { return clear }
        return [
            "credential-helpers is \(last.shown) in \(place.context.short(last.file)); lanyard's setting takes precedence"
        ] + clear
    }

    /// Of the helpers for every registry, the last file's count, and auth.json only if they include it.
    ///
    /// Of two such files, that of the session, to which `podman login` writes, comes first.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let (before, after) = namings
        guard let host = place.pattern?.host.urlText else {
            let isWritten = place.context.isFile(dropIn)
            guard let last = after.last ?? (isWritten ? nil : before.last) else { return [] }
            guard after.last != nil || last.hasLanyard else { return [] }
            let hint: Hint =
                "credential-helpers is \(last.shown) in \(place.context.short(last.file)), which takes precedence; remove it there"
            return [ToolOverride(asksLanyard: last.hasLanyard, hint: hint)]
        }
        var overrides: [ToolOverride] = []
        let isWritten = place.context.isFile(dropIn)
        if let last = after.last ?? (isWritten ? nil : before.last), !last.hasLanyard, !last.beginsWithFile {
            let what = "credential-helpers is \(last.shown) in \(place.context.short(last.file))"
            overrides.append(
                ToolOverride(hint: "\(what), which podman asks first; put containers-auth.json before them"))
        }
        if let session = sessionFile {
            let settings = try DockerConfig(session, place.context)
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
    private var sessionFile: String? {
        guard named == nil else { return nil }
        return place.context.environment.absolutePath("XDG_RUNTIME_DIR").map { "\($0)/containers/auth.json" }
    }

    private var named: String? {
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
    private var namings: (before: [Naming], after: [Naming]) {
        let (own, everybody) = ("\(place.home)/.config/containers", "/etc/containers")
        // If the user has this file, the system's files don't count.
        let isOwn = place.context.isFile("\(own)/registries.conf")
        let files =
            isOwn ? ["\(own)/registries.conf"] : ["\(everybody)/registries.conf"] + dropIns(of: everybody)
        let others = dropIns(of: own).filter { $0 != dropIn }
        func read(_ files: [String]) -> [Naming] {
            files.compactMap { file in
                (try? ToolSetting(.toml, ["credential-helpers"], in: file).current())
                    .map { Naming(file: file, value: $0) }
            }
        }
        return (read(files + others.filter { $0 < dropIn }), read(others.filter { $0 > dropIn }))
    }

    private func dropIns(of folder: String) -> [String] {
        let path = "\(folder)/registries.conf.d"
        guard let opened = try? Folder(path) else { return [] }
        return opened.names(atMost: 1000).filter { $0.hasSuffix(".conf") }.sorted().map { "\(path)/\($0)" }
    }

    /// Returns the path of lanyard's file; podman looks for it in the home folder, whatever XDG_CONFIG_HOME says.
    private var dropIn: String {
        "\(place.home)/.config/containers/registries.conf.d/lanyard.conf"
    }

    /// Returns the path of the file from which podman reads passwords.
    private var file: String {
        named ?? "\(place.settings)/containers/auth.json"
    }

    func changes() throws(CommandError) -> [ToolChange] {
        guard let host = place.pattern?.host.urlText else {
            // The first helper stores a login; auth.json would store it in plain text.
            let helpers = #"["lanyard", "containers-auth.json"]"#
            return [ToolChange(.toml, ["credential-helpers"], in: dropIn, to: helpers)]
        }
        return [ToolChange(.json, ["credHelpers", host], in: file, to: #""lanyard""#)]
    }
}
