import Addresses
import JSON
import Model
package import Rules
import Secrets
import Terminal

extension Tool {
    static let docker = Tool(
        "docker", aliases: ["oras", "helm"], .link("docker-credential-lanyard"),
        DockerProtocol.init,
        setup: ToolSetup(
            purpose: "docker use lanyard as a credential helper",
            discussion: """
                Names lanyard in docker's config.json: as `credsStore`, or for a URL's host in `credHelpers`. oras and helm read it too; podman, \
                skopeo and buildah have settings of their own.
                """,
            url: .optional, helper: "docker-credential-lanyard",
            place: { pattern throws(CommandError) in try pattern.registry(for: "docker", hub: DockerProtocol.hub) },
            paths: ["DOCKER_CONFIG"], settings: DockerSettings.init))

    static let oras = Tool(
        "oras", .link("docker-credential-lanyard"), DockerProtocol.init,
        recipe: Hint("oras reads docker's settings", run: "lanyard configure docker"))

    static let helm = Tool(
        "helm", .link("docker-credential-lanyard"), DockerProtocol.init,
        recipe: "helm uses what lanyard configure kubectl and lanyard configure docker write")
}

extension DockerProtocol {
    init(_ call: ToolCall) { self.init(call.arguments, version: call.version) }
}

/// docker, and tools that read docker's settings.
struct DockerSettings: ToolSettings {
    let place: ToolTarget

    var urlsFound: [String] {
        (try? DockerConfig(file, place.context))?.urlsOfLanyard ?? []
    }

    func changes() throws(CommandError) -> [ToolChange] {
        let key = place.pattern.map { ["credHelpers", registry($0)] } ?? ["credsStore"]
        return [ToolChange(.json, key, in: file, to: #""lanyard""#)]
    }

    func remarks() throws(CommandError) -> [Hint] {
        let settings = try DockerConfig(file, place.context)
        let registry = place.pattern.map(registry)
        return settings.clearPasswords(registry, "docker") + settings.otherStore(than: registry, "docker")
    }

    /// docker 28.3 and later read a variable before their file; helm reads a file of its own before docker's.
    func overrides() throws(CommandError) -> [ToolOverride] {
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
                let what: Message = "helm uses what \(place.context.short(helm)) has for \(shown) first; to remove it"
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
        pattern.isDockerHub ? DockerProtocol.hub : pattern.host.urlText
    }

    private var file: String {
        place.path("DOCKER_CONFIG", else: ".docker") + "/config.json"
    }
}

extension URLPattern {
    /// Whether the host is one of Docker Hub's names.
    package var isDockerHub: Bool { DockerProtocol.isHub(host.urlText) }

    /// Returns the pattern of the registry alone; for Docker Hub, that of `hub`.
    ///
    /// - Throws: `CommandError` for wildcards, and for Docker Hub's web pages, which aren't its registry.
    func registry(for tool: String, hub: String) throws(CommandError) -> URLPattern {
        let pattern = try withoutWildcard(for: tool)
        guard !["hub.docker.com", "www.docker.com", "docker.com"].contains(host.name) else {
            throw CommandError(
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

    /// - Throws: `CommandError` if the file can't be read.
    init(_ file: String, _ context: any ToolSurroundings) throws(CommandError) {
        self.init(text: try ToolTarget.text(of: file) ?? "", file: context.short(file))
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
                "the password for \(host) stays in \(file) in plain text; to remove it",
                run: .logout(tool, host))
        }
    }

    /// Returns hints about the helper that stored passwords so far, for one registry or all.
    func otherStore(than registry: String?, _ tool: String) -> [Hint] {
        let own = registry.flatMap { helpers[$0]?.string }
        guard let store = own ?? json?["credsStore"]?.string, !store.isEmpty, store != "lanyard" else { return [] }
        let end: Message = registry.map { " for \($0, limit: 200)" } ?? ""
        let what: Message = "what docker keeps in \(store)\(end) stays there, but is no longer used"
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
            return ToolOverride(
                part: host, isChoice: true,
                hint: "\(helper.string ?? "", limit: 60) is still asked for \(host) (`credHelpers` in \(file))")
        }
    }

    /// The name of the helper of a registry; nil if it has none.
    func helper(of registry: String) -> String? { helpers[registry]?.string }
}

extension ShellCommand {
    /// Returns the command that makes a tool forget a registry's password; for Docker Hub, docker needs no name.
    fileprivate static func logout(_ tool: String, _ registry: String) -> ShellCommand {
        registry == DockerProtocol.hub ? "\(tool) logout" : "\(tool) logout \(registry)"
    }
}

/// The protocol of docker and of tools that read docker's configuration (podman, skopeo, buildah, oras, helm): one
/// verb, all of stdin, one answer.
///
/// Errors go to stdout, with exit status 1, in words that clients compare (docker-credential-helpers, `credentials` and
/// `client`).
public struct DockerProtocol: ToolProtocol {
    private enum Verb: String {
        case get, store, erase, list, version
    }

    private static let notFound = "credentials not found in native keychain"
    private static let noServer = "no credentials server URL"
    private static let noUsername = "no credentials username"
    private static let usage = "Usage: docker-credential-lanyard <store|get|erase|list|version>"

    /// The label prefix, before the server, of passwords that docker stored.
    ///
    /// docker sends everything that it lists to its daemon, so it must not see what git or another tool stored, and a
    /// docker logout must not erase that.
    private static let label = "Docker: "

    private let arguments: [String]
    private let version: String
    private var input = ToolInput()
    /// The server as docker named it, which the answer repeats.
    private var server = ""
    private var request = CredentialRequest()
    private var stored = StoredSecret()

    /// Creates a tool for docker's arguments, one verb; `version` is lanyard's own.
    public init(_ arguments: [String], version: String) {
        self.arguments = arguments
        self.version = version
    }

    private var verb: Verb? { arguments.first.flatMap(Verb.init) }

    /// The URL that docker uses for Docker Hub, whichever of its names an image has.
    public static let hub = "https://index.docker.io/v1/"

    /// Whether a host is one of Docker Hub's names.
    public static func isHub(_ host: String) -> Bool {
        ["docker.io", "index.docker.io", "registry-1.docker.io"].contains(host)
    }

    /// docker sends only the host, except for Docker Hub, whose path is always the same.
    public static var sendsPath: Bool { false }

    /// The name that podman, skopeo and buildah use for Docker Hub.
    public static let hubOfPodman = "docker.io"

    /// The tools that podman's library asks for, podman first.
    public static let podmans = ["podman", "skopeo", "buildah"]

    /// Returns the invocation of docker, which passes the host on stdin, or Docker Hub's URL; podman and its relatives
    /// name Docker Hub by its host, too.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let host = (try? RequestURL(url))?.host.urlText ?? url
        guard isHub(host) else { return Invocation(["get"], input: host) }
        return Invocation(["get"], input: podmans.contains(tool) ? hubOfPodman : hub)
    }

    /// Parses a server's URL; every name of Docker Hub becomes the same URL, so that a login with one tool serves all.
    private static func url(of server: String) throws(ProtocolError) -> RequestURL {
        let url = try RequestURL(server.withHTTPS)
        let isHub = url.scheme == "https" && isHub(url.host.urlText) && url.username == nil
        return isHub && [nil, "v1", "v1/"].contains(url.path) ? try RequestURL(hub) : url
    }

    /// The server as it is listed; docker knows Docker Hub by one name only.
    private var listed: String { request.place == Self.hub ? Self.hub : server }

    /// Fails for anything but one known verb.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return fail(Self.usage) }
        switch verb {
        case nil: return fail("docker-credential-lanyard: unknown action: \(arguments[0].displayable(limit: 60))")
        case .version: return .answer("docker-credential-lanyard (lanyard) \(version)")
        default: return Turn(.read)
        }
    }

    /// Reads all of stdin, asks the engine once, and answers.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .input([]): ask()
        case .input(let bytes): input.read(bytes, orEnd: fail("the request is longer than 1 MiB"))
        case .credential(let credential): answer(credential)
        case .nothing: answerWithout()
        case .refused(let refusal):
            // docker, oras and helm keep to themselves what a helper writes to them.
            stored.isCompared
                ? stored.end(with: nil, orTell: notKept) : fail(refusal.text, complaint: .refusal)
        }
    }

    /// Lists the servers as docker named them, with user names.
    public mutating func receive(list: [String: String]) -> Turn {
        .answer(.object(list.mapValues(JSONValue.string)))
    }

    private mutating func ask() -> Turn {
        switch verb {
        case .get, .erase:
            guard let text = input.text else { return fail("the server's URL is not UTF-8") }
            server = String(text.trimmed(of: " \t\r\n"))
            let isGet = verb == .get
            return ask { isGet ? .get($0) : .erase($0, .init()) }
        case .store: return store()
        case .list, .version, nil: return Turn(.ask(.list(labelPrefix: Self.label)))
        }
    }

    private mutating func store() -> Turn {
        guard let object = JSONValue(bytes: input.all), let secret = object["Secret"]?.string else {
            return fail("the credentials on standard input are not docker's JSON")
        }
        server = object["ServerURL"]?.string ?? ""
        guard let username = object["Username"]?.string, !username.isEmpty else {
            return fail(server.isEmpty ? Self.noServer : Self.noUsername)
        }
        stored.secret = Secret(secret)
        return ask { .store(Credential(.password, Secret(secret), username: username), $0) }
    }

    private mutating func ask(_ question: (CredentialRequest) -> Question) -> Turn {
        guard !server.isEmpty else { return fail(Self.noServer) }
        do throws(ProtocolError) {
            request = CredentialRequest(try Self.url(of: server))
            request.isUnattended = true
            request.takesLines = true
            if verb == .store { request.label = Self.label + listed }
            if verb == .erase { request.label = Self.label }
            if verb == .get { request.reach = request.path == nil ? .below : .above }
            return Turn(.ask(question(request)))
        } catch {
            return fail("the server's URL can't be one: \(server.displayable(limit: 200))")
        }
    }

    /// Answers if the engine has no credential, or has finished storing or erasing.
    private mutating func answerWithout() -> Turn {
        guard verb != .get else { return fail(Self.notFound) }
        guard verb == .store, !stored.isCompared else { return Turn(.end(0)) }
        request.label = nil
        return stored.compare(at: request)
    }

    /// The note that docker gets a token for the server; docker itself says that the login succeeded.
    private var notKept: Message {
        "a rule maps \(request.url) to a token, which docker gets; the password is not kept"
    }

    private func answer(_ credential: Credential) -> Turn {
        // docker also stores the token that it got from lanyard.
        if stored.isCompared { return stored.end(with: credential, orTell: notKept) }
        // docker can't represent an authorization with another scheme.
        if case .authorization = credential.kind { return fail(Self.notFound) }
        return .answer([
            "ServerURL": .string(server), "Username": .string(credential.passwordUsername),
            "Secret": .string(credential.secret.reveal()),
        ])
    }

    private func fail(_ message: String, complaint: Turn.Complaint? = nil) -> Turn {
        Turn(output: Array("\(message)\n".utf8), complaint: complaint, .end(1))
    }
}
