import Addresses
import ConsumerProtocols
import JSON
import Rules
import Secrets
import Terminal
import ToolTexts

extension Tool {
    static let docker = Tool(
        "docker", aliases: ["oras", "helm"], .link("docker-credential-lanyard"),
        DockerConsumer.init,
        setup: ToolSetup(
            purpose: "docker use lanyard as a credential helper",
            discussion: """
                Names lanyard in docker's config.json: as `credsStore`, or for a URL's host in `credHelpers`. oras and helm read it too; podman, \
                skopeo and buildah have settings of their own.
                """,
            url: .optional, helper: "docker-credential-lanyard",
            place: { pattern throws(Failure) in try pattern.registry(for: "docker", hub: DockerConsumer.hub) },
            paths: ["DOCKER_CONFIG"], settings: DockerSettings.init))

    static let oras = Tool(
        "oras", .link("docker-credential-lanyard"), DockerConsumer.init,
        recipe: Hint("oras reads docker's settings", run: "lanyard configure docker"))

    static let helm = Tool(
        "helm", .link("docker-credential-lanyard"), DockerConsumer.init,
        recipe: "helm uses what lanyard configure kubectl and lanyard configure docker write")
}

extension DockerConsumer {
    init(_ call: ToolCall) { self.init(call.arguments, version: call.version) }
}

/// docker, and tools that read docker's settings.
struct DockerSettings: ToolSettings {
    let place: ToolPlace

    var urlsFound: [String] {
        (try? DockerConfig(file, place.context))?.urlsOfLanyard ?? []
    }

    func changes() throws(Failure) -> [ToolChange] {
        let key = place.pattern.map { ["credHelpers", registry($0)] } ?? ["credsStore"]
        return [ToolChange(.json, key, in: file, to: #""lanyard""#)]
    }

    func remarks() throws(Failure) -> [Hint] {
        let settings = try DockerConfig(file, place.context)
        let registry = place.pattern.map(registry)
        return settings.clearPasswords(registry, "docker") + settings.otherStore(than: registry, "docker")
    }

    /// docker 28.3 and later read a variable before their file; helm reads a file of its own before docker's.
    func overrides() throws(Failure) -> [ToolOverride] {
        let own = place.pattern.map(registry)
        let variable = "DOCKER_AUTH_CONFIG"
        let inVariable = DockerConfig(text: place.context.variable(variable) ?? "").passwords(own)
        let helm = helmFile
        let inHelm = DockerConfig(text: place.content(of: helm)).passwords(own)
        return inVariable.map { host in
            let host = host.displayable(limit: 200)
            return ToolOverride(
                "\(variable) in the environment has the password for \(host), which comes first", unset: variable,
                part: host)
        }
            + inHelm.map { host in
                let shown = host.displayable(limit: 200)
                let what = "helm uses what \(place.context.short(helm)) has for \(shown) first; to remove it"
                return ToolOverride(
                    part: "helm at \(shown)", hint: Hint(what, run: "helm registry logout \(host)"))
            }
            + (own == nil ? try DockerConfig(file, place.context).otherHelpers : [])
    }

    private var helmFile: String {
        place.named("HELM_REGISTRY_CONFIG")
            ?? "\(place.named("HELM_CONFIG_HOME") ?? "\(place.settings)/helm")/registry/config.json"
    }

    private func registry(_ pattern: URLPattern) -> String {
        pattern.isDockerHub ? DockerConsumer.hub : pattern.host.urlText
    }

    private var file: String {
        place.path("DOCKER_CONFIG", else: ".docker") + "/config.json"
    }
}

extension URLPattern {
    /// Whether the host is one of Docker Hub's names.
    var isDockerHub: Bool { DockerConsumer.isHub(host.urlText) }

    /// Returns the pattern of the registry alone; for Docker Hub, that of `hub`.
    ///
    /// - Throws: `Failure` for wildcards, and for Docker Hub's web pages, which aren't its registry.
    func registry(for tool: String, hub: String) throws(Failure) -> URLPattern {
        let pattern = try withoutWildcard(for: tool)
        guard !["hub.docker.com", "www.docker.com", "docker.com"].contains(host.name) else {
            throw Failure(
                "\(host.name) is no registry",
                hints: [Hint("for Docker Hub", run: "lanyard configure \(tool) docker.io")], status: .usage)
        }
        return pattern.isDockerHub ? URLPattern(hub) ?? pattern : pattern.hostAlone()
    }
}

/// Other settings in docker's config.json or podman's auth.json.
struct DockerConfig {
    private let json: JSONValue?
    private let file: String

    /// - Throws: `Failure` if the file can't be read.
    init(_ file: String, _ context: CommandContext) throws(Failure) {
        self.init(text: try ToolPlace.text(of: file) ?? "", file: context.short(file))
    }

    init(text: String, file: String = "") {
        json = JSONValue(bytes: Array(text.utf8))
        self.file = file
    }

    /// Returns the registries with a password in the file, or the one with this name.
    func passwords(_ registry: String?) -> [String] {
        let auths = json?["auths"]?.members ?? [:]
        return auths.filter { host, entry in
            registry.map { $0 == host } ?? true
                && ["auth", "password", "identitytoken"].contains { entry[$0]?.string?.isEmpty == false }
        }.keys.sorted()
    }

    /// Returns hints about passwords in the file, for one registry or all.
    func clearPasswords(_ registry: String?, _ tool: String) -> [Hint] {
        passwords(registry).map { host in
            Hint(
                "the password for \(host.displayable(limit: 200)) stays in \(file) in plain text; to remove it",
                run: .logout(tool, host))
        }
    }

    /// Returns hints about the helper that stored passwords so far, for one registry or all.
    func otherStore(than registry: String?, _ tool: String) -> [Hint] {
        let own = registry.flatMap { helpers[$0]?.string }
        guard let store = own ?? json?["credsStore"]?.string, !store.isEmpty, store != "lanyard" else { return [] }
        let end = registry.map { " for \($0.displayable(limit: 200))" } ?? ""
        let what = "what docker keeps in \(store.displayable(limit: 60))\(end) stays there, but is no longer used"
        return registry.map { [Hint("\(what); to remove it, first", run: .logout(tool, $0))] }
            ?? [Hint("\(what); to remove it, first, for each registry", run: "\(tool) logout REGISTRY")]
    }

    /// The helpers of registries.
    private var helpers: [String: JSONValue] { json?["credHelpers"]?.members ?? [:] }

    /// The registries for which lanyard is the helper, as URLs.
    var urlsOfLanyard: [String] {
        helpers.filter { $1.string == "lanyard" }.keys.map(\.withHTTPS)
    }

    /// The helpers that take precedence over the store.
    var otherHelpers: [ToolOverride] {
        helpers.filter { $1.string != "lanyard" }.sorted { $0.key < $1.key }.map { host, helper in
            let host = host.displayable(limit: 200)
            let name = (helper.string ?? "").displayable(limit: 60)
            return ToolOverride(
                part: host, isChoice: true, hint: "\(name) is still asked for \(host) (`credHelpers` in \(file))")
        }
    }

    /// The name of the helper of a registry; nil if it has none.
    func helper(of registry: String) -> String? { helpers[registry]?.string }
}

extension ShellCommand {
    /// Returns the command that makes a tool forget a registry's password; for Docker Hub, docker needs no name.
    fileprivate static func logout(_ tool: String, _ registry: String) -> ShellCommand {
        registry == DockerConsumer.hub ? "\(tool) logout" : "\(tool) logout \(registry)"
    }
}
