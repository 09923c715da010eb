import Addresses
import CredentialEngine
import JSON
import Rules
import Secrets

/// The protocol of docker and of tools that read docker's configuration (podman, skopeo, buildah, oras, helm): one
/// verb, all of stdin, one answer.
///
/// Errors go to stdout, with exit status 1, in words that clients compare (docker-credential-helpers, `credentials` and
/// `client`).
public struct DockerConsumer: Consumer {
    private enum Verb: String {
        case get, store, erase, list, version
    }

    private enum Words {
        static let notFound = "credentials not found in native keychain"
        static let noServer = "no credentials server URL"
        static let noUsername = "no credentials username"
        static let usage = "Usage: docker-credential-lanyard <store|get|erase|list|version>"
    }

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

    /// Creates a consumer for docker's arguments, one verb; `version` is lanyard's own.
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
    private static func url(of server: String) throws(RequestError) -> RequestURL {
        let url = try RequestURL(server.withHTTPS)
        let isHub = url.scheme == "https" && isHub(url.host.urlText) && url.username == nil
        return isHub && [nil, "v1", "v1/"].contains(url.path) ? try RequestURL(hub) : url
    }

    /// The server as it is listed; docker knows Docker Hub by one name only.
    private var listed: String { request.place == Self.hub ? Self.hub : server }

    /// Fails for anything but one known verb.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return fail(Words.usage) }
        switch verb {
        case nil: return fail("docker-credential-lanyard: unknown action: \(arguments[0].displayable(limit: 60))")
        case .version: return .answer("docker-credential-lanyard (lanyard) \(version)")
        default: return Turn(.read)
        }
    }

    /// Reads all of stdin, asks the engine once, and answers.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
        switch event {
        case .input([]): ask()
        case .input(let bytes): input.read(bytes, orEnd: fail("the request is longer than 1 MiB"))
        case .credential(let credential): answer(credential)
        case .nothing: answerWithout()
        case .refused(let refusal): stored.isCompared ? stored.end(with: nil, orTell: notKept) : fail(refusal.text)
        }
    }

    /// Lists the servers as docker named them, with user names.
    public mutating func take(list: [String: String]) -> Turn {
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
            return fail(server.isEmpty ? Words.noServer : Words.noUsername)
        }
        stored.secret = Secret(secret)
        return ask { .store(Credential(.password, Secret(secret), username: username), $0) }
    }

    private mutating func ask(_ question: (CredentialRequest) -> Question) -> Turn {
        guard !server.isEmpty else { return fail(Words.noServer) }
        do throws(RequestError) {
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
        guard verb != .get else { return fail(Words.notFound) }
        guard verb == .store, !stored.isCompared else { return Turn(.end(0)) }
        request.label = nil
        return stored.compare(at: request)
    }

    /// The note that docker gets a token for the server; docker itself says that the login succeeded.
    private var notKept: String {
        "a rule maps \(request.url) to a token, which docker gets; the password is not kept"
    }

    private func answer(_ credential: Credential) -> Turn {
        // docker also stores the token that it got from lanyard.
        if stored.isCompared { return stored.end(with: credential, orTell: notKept) }
        // docker can't represent an authorization with another scheme.
        if case .authorization = credential.kind { return fail(Words.notFound) }
        return .answer([
            "ServerURL": .string(server), "Username": .string(credential.passwordUsername),
            "Secret": .string(credential.secret.reveal()),
        ])
    }

    private func fail(_ message: String) -> Turn { Turn(output: Array("\(message)\n".utf8), .end(1)) }
}
