import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools

/// Requests of docker, the engine's result, and the answers.
@Suite struct DockerProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var arguments = ["get"]
        var input = ["registry.example:5000\n"]
        var event: ToolEvent?
        var then: ToolEvent?
        var output = ""
        var status: Int32 = 0
    }

    private static let login = #"{"ServerURL":"registry.example","Username":"u","Secret":"p"}"#
    private static let password = Credential(.password, Secret("p"), username: "u")
    private static let notFound = "credentials not found in native keychain\n"
    private static let usage = "Usage: docker-credential-lanyard <store|get|erase|list|version>\n"
    private static let noServer = "no credentials server URL\n"
    private static let notJSON = "the credentials on standard input are not docker's JSON\n"
    private static let tooLong = Array(repeating: String(repeating: "a", count: 1 << 19), count: 3)
    private static func gave(_ server: String, _ username: String, _ secret: String) -> String {
        #"{"Secret":"\#(secret)","ServerURL":"\#(server)","Username":"\#(username)"}"# + "\n"
    }

    private static let cases = [
        Case(
            testDescription: "get of a password repeats the server as docker called it", event: .credential(password),
            output: gave("registry.example:5000", "u", "p")),
        Case(
            testDescription: "get in pieces, without a line feed", input: ["https://index.doc", "ker.io/v1/"],
            event: .credential(password), output: gave("https://index.docker.io/v1/", "u", "p")),
        Case(
            testDescription: "get of a token, with the name that its server takes",
            event: .credential(Credential(.accessToken, Secret("t"), username: "alice@contoso.example")),
            output: gave("registry.example:5000", "alice@contoso.example", "t")),
        Case(
            testDescription: "get of a token of nobody's",
            event: .credential(Credential(.accessToken, Secret("t"), username: nil)),
            output: gave("registry.example:5000", "token", "t")),
        Case(testDescription: "get of nothing", event: .nothing, output: notFound, status: 1),
        Case(
            testDescription: "get of what docker has no name for",
            event: .credential(Credential(.authorization(scheme: "Bearer"), Secret("c"), username: nil)),
            output: notFound, status: 1),
        Case(
            testDescription: "get that is refused says so where docker looks", event: .signedOut,
            output: "you must sign in; sign in: lanyard login URL\n", status: 1),
        Case(testDescription: "get of no server", input: ["\n"], output: noServer, status: 1),
        Case(testDescription: "get without input", input: [], output: noServer, status: 1),
        Case(
            testDescription: "get of a server of which programs differ about the host",
            input: ["registry.example\\@evil.example"],
            output: "the server's URL can't be one: registry.example\\@evil.example\n", status: 1),
        Case(
            testDescription: "get of two lines", input: ["registry.example\nhost=evil.example"],
            output: "the server's URL can't be one: registry.example?host=evil.example\n", status: 1),
        Case(
            testDescription: "get without an end", input: tooLong, output: "the request is longer than 1 MiB\n",
            status: 1),
        Case(
            testDescription: "store of what is kept", arguments: ["store"], input: [login], event: .nothing,
            then: .credential(password)),
        Case(
            testDescription: "store of what nothing finds", arguments: ["store"], input: [login], event: .nothing,
            then: .nothing),
        Case(
            testDescription: "store that is refused", arguments: ["store"], input: [login], event: .signedOut,
            output: "you must sign in; sign in: lanyard login URL\n", status: 1),
        Case(
            testDescription: "store without a server", arguments: ["store"], input: [#"{"Username":"u","Secret":"p"}"#],
            output: noServer, status: 1),
        Case(
            testDescription: "store without a user", arguments: ["store"],
            input: [#"{"ServerURL":"registry.example","Username":"","Secret":"p"}"#],
            output: "no credentials username\n", status: 1),
        Case(
            testDescription: "store without a secret", arguments: ["store"],
            input: [#"{"ServerURL":"registry.example","Username":"u"}"#], output: notJSON, status: 1),
        Case(
            testDescription: "store of no JSON", arguments: ["store"], input: ["registry.example"], output: notJSON,
            status: 1),
        Case(
            testDescription: "store without an end", arguments: ["store"], input: tooLong,
            output: "the request is longer than 1 MiB\n", status: 1),
        Case(testDescription: "erase", arguments: ["erase"], event: .nothing),
        Case(testDescription: "erase of no server", arguments: ["erase"], input: [], output: noServer, status: 1),
        Case(
            testDescription: "erase that is refused", arguments: ["erase"], event: .signedOut,
            output: "you must sign in; sign in: lanyard login URL\n", status: 1),
        Case(
            testDescription: "list that is refused", arguments: ["list"], input: ["unused"], event: .signedOut,
            output: "you must sign in; sign in: lanyard login URL\n", status: 1),
        Case(
            testDescription: "version reads nothing", arguments: ["version"],
            output: "docker-credential-lanyard (lanyard) 1.2\n"),
        Case(testDescription: "no verb", arguments: [], output: usage, status: 1),
        Case(testDescription: "two verbs", arguments: ["get", "list"], output: usage, status: 1),
        Case(
            testDescription: "an unknown verb", arguments: ["GET\u{1B}"],
            output: "docker-credential-lanyard: unknown action: GET?\n", status: 1),
    ]

    @Test(arguments: cases)
    func `docker is served`(_ given: Case) {
        let said = Conversation(
            DockerProtocol(given.arguments, version: "1.2"), given.input, [given.event, given.then])
        #expect(said.output == given.output)
        // docker itself shows only what a helper says on stderr.
        let isRefused = if case .refused = given.event { given.status == 1 } else { false }
        #expect(said.complaints == (isRefused ? [.refusal] : []))
        #expect(said.status == given.status)
    }

    @Test(
        arguments: [
            ("registry.example", "registry.example", nil, .below),
            ("REGISTRY.example:5000/", "registry.example:5000", nil, .below),
            ("quay.example/contoso", "quay.example", "contoso", .above),
            ("https://index.docker.io/v1/", "index.docker.io", "v1/", .above),
            ("https://docker.io/contoso", "docker.io", "contoso", .above),
        ] as [(String, String, String?, PathReach)])
    func `the engine is asked for the server, with https, and to ask nobody`(
        _ server: String, _ host: String, _ path: String?, _ reach: PathReach
    ) {
        var request = CredentialRequest()
        (request.scheme, request.host, request.path) = ("https", RequestHost(host), path)
        (request.reach, request.isUnattended, request.takesLines) = (reach, true, true)
        #expect(Conversation(DockerProtocol(["get"], version: ""), [server], [.nothing]).request == request)
        request.reach = .place
        let look = request
        request.label = "Docker: "
        let erased = Conversation(DockerProtocol(["erase"], version: ""), [server], [.nothing])
        #expect(erased.questions == [.erase(request, .init())])
        request.label = "Docker: \(server)"
        let stored = Conversation(
            DockerProtocol(["store"], version: ""), [Self.login.replacing("registry.example", with: server)],
            [.nothing, .credential(Self.password)])
        #expect(stored.questions == [.store(Self.password, request), .get(look)])
    }

    @Test(arguments: [
        "https://index.docker.io/v1/", "https://index.docker.io/v1", "docker.io", "https://docker.io",
        "index.docker.io", "registry-1.docker.io",
    ])
    func `Docker Hub is one place, whatever a tool calls it`(_ server: String) throws {
        let hub = CredentialRequest(try RequestURL("https://index.docker.io/v1/"))
        let asked = Conversation(DockerProtocol(["get"], version: ""), [server], [.credential(Self.password)])
        #expect(asked.request?.place == hub.place && asked.request?.reach == .above)
        #expect(asked.output == Self.gave(server, "u", "p"), "the answer names it as the tool does")
        let stored = Conversation(
            DockerProtocol(["store"], version: ""), [Self.login.replacing("registry.example", with: server)],
            [.nothing, .credential(Self.password)])
        guard case .store(_, let request) = stored.questions.first else {
            Issue.record("nothing is stored")
            return
        }
        #expect(request.place == hub.place && request.label == "Docker: https://index.docker.io/v1/")
        let erased = Conversation(DockerProtocol(["erase"], version: ""), [server], [.nothing])
        guard case .erase(let erasure, _) = erased.questions.first else {
            Issue.record("nothing is erased")
            return
        }
        #expect(erasure.place == hub.place)
    }

    @Test func `podman and its relatives call Docker Hub by its host`() {
        let url = "https://registry-1.docker.io"
        for (tool, name) in [
            ("docker", DockerProtocol.hub), ("oras", DockerProtocol.hub), ("podman", "docker.io"),
            ("skopeo", "docker.io"), ("buildah", "docker.io"),
        ] {
            #expect(DockerProtocol.invocation(for: url, of: tool, atTerminal: false).input == name)
        }
    }

    @Test(
        arguments: [.credential(Credential(.accessToken, Secret("t"), username: nil)), .signedOut] as [ToolEvent])
    func `a login at a server with a token says that it isn't kept, and succeeds`(_ event: ToolEvent) {
        var tool = DockerProtocol(["store"], version: "")
        _ = (tool.begin(), tool.receive(.input(Array(Self.login.utf8))), tool.receive(.input([])))
        guard case .ask(.get) = tool.receive(.nothing).next else {
            Issue.record("it doesn't look what docker gets from now on")
            return
        }
        let end = tool.receive(event)
        #expect(end.note?.text.hasPrefix("a rule maps https://registry.example/ to a token") == true)
        #expect(end == Turn(note: end.note, .end(0)))
    }

    @Test func `a plain registry is another place`() {
        let said = Conversation(DockerProtocol(["get"], version: ""), ["http://registry.example"], [.nothing])
        #expect(said.request?.scheme == "http")
    }

    @Test func `the list has servers as docker called them`() {
        var tool = DockerProtocol(["list"], version: "")
        #expect(tool.begin() == Turn(.read))
        #expect(tool.receive(.input(Array("unused".utf8))) == Turn(.read))
        #expect(tool.receive(.input([])) == Turn(.ask(.list(labelPrefix: "Docker: "))))
        let list = tool.receive(list: ["localhost:5000": "u", "https://index.docker.io/v1/": "v"])
        #expect(
            list
                == Turn(
                    output: Array(#"{"https://index.docker.io/v1/":"v","localhost:5000":"u"}"#.utf8) + [10], .end(0)))
        #expect(tool.receive(list: [:]).output == Array("{}\n".utf8))
    }
}
