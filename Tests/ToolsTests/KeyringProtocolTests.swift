import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Testing
import Tools

/// `keyring` as pip, uv, pdm and users run it, and the answers.
@Suite struct KeyringProtocolTests {
    private static let url = "https://pkgs.example/feed/simple/"
    private static let password = Credential(.password, Secret("pässword"), username: "alice")
    private static let token = Credential(.accessToken, Secret("t0ken"), username: "alice@contoso.com", expiresOn: 5)

    struct Case: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        var event: ToolEvent? = .credential(password)
        var output = ""
        var status: Int32 = 0
        let testDescription: String
    }

    @Test(arguments: [
        Case(
            arguments: ["--mode=creds", "--output=json", "get", url],
            output: #"{"password":"pässword","username":"alice"}"# + "\n", testDescription: "pip from 25.2"),
        Case(
            arguments: ["--mode=creds", "--output=json", "get", url, "alice"],
            output: #"{"password":"pässword","username":"alice"}"# + "\n", testDescription: "pip with a user"),
        Case(arguments: ["get", url, "alice"], output: "pässword\n", testDescription: "older pip, and uv with a user"),
        Case(
            arguments: ["get", url, "--mode", "creds"], output: "alice\npässword\n",
            testDescription: "uv, whose options come last"),
        Case(
            arguments: ["--mode=creds", "get", "https://bob@pkgs.example/feed/simple/", ""],
            output: "alice\npässword\n", testDescription: "pdm, whose empty user is anybody"),
        Case(
            arguments: ["--output", "json", "get", url, "alice"], output: #"{"password":"pässword"}"# + "\n",
            testDescription: "a password as JSON"),
        Case(
            arguments: ["--mode=creds", "--mode=password", "get", "--", url, "alice"], output: "pässword\n",
            testDescription: "the last option counts, and -- ends them"),
        Case(
            arguments: ["get", url, "--mode", "creds"], event: .credential(token), output: "alice@contoso.com\nt0ken\n",
            testDescription: "a token goes as a password"),
        Case(
            arguments: ["--mode=creds", "--output=json", "get", url],
            event: .credential(
                Credential(.password, Secret("two\nlines"), username: "u")),
            output: #"{"password":"two\nlines","username":"u"}"# + "\n", testDescription: "JSON holds any password"),
        Case(arguments: ["get", url, "alice"], event: .nothing, status: 1, testDescription: "nothing is stored"),
        Case(
            arguments: ["get", url, "alice"],
            event: .credential(Credential(.authorization(scheme: "Digest"), Secret("x"), username: "u")), status: 1,
            testDescription: "what is no password"),
        Case(
            arguments: ["get", "pkgs.example", "alice"], event: nil, status: 1,
            testDescription: "a host alone gets nothing: it may be asked for over http"),
        Case(
            arguments: ["get", "pkgs.example:8080", "alice"], event: nil, status: 1, testDescription: "nor with a port"),
        Case(
            arguments: ["get", "my app", "alice"], event: nil, status: 1, testDescription: "another program's service"),
        Case(
            arguments: ["get", "ssh://pkgs.example/", "alice"], event: nil, status: 1,
            testDescription: "another scheme's URL"),
        Case(
            arguments: ["get", "https://pkgs.example\n.evil.example/", "alice"], event: nil, status: 1,
            testDescription: "a URL with a line feed"),
        Case(arguments: ["del", url, "alice"], event: .nothing, testDescription: "del"),
    ])
    func `it answers as the library's own does`(_ given: Case) {
        let trial = Conversation(KeyringProtocol(given.arguments, isTyped: false), [], [given.event])
        #expect(trial.output == given.output)
        #expect(trial.status == given.status)
        #expect(trial.complaints.isEmpty)
    }

    @Test(
        arguments: [
            ([], "the following arguments are required: operation"),
            (["get"], "get requires service and username"),
            (["get", url], "get requires service and username"),
            (["--mode=creds", "get"], "get requires service"),
            (["set", url], "set requires service and username"),
            (["set", url, ""], "set requires service and username"),
            (["del", "", "alice"], "del requires service and username"),
            (["diagnose"], "invalid choice: 'diagnose' (choose from get, set, del)"),
            (["get", url, "alice", "more"], "unrecognized arguments: more"),
            (["--frob", "get", url, "alice"], "unrecognized arguments: --frob"),
            (["-b", "x.y", "get", url, "alice"], "unrecognized arguments: -b"),
            (["get", url, "alice", "--mode"], "argument --mode: expected one argument"),
            (["--mode=all", "get", url], "argument --mode: invalid choice: 'all'"),
            (["--output=xml", "get", url, "alice"], "argument --output: invalid choice: 'xml'"),
        ] as [([String], String)])
    func `a wrong command line ends with 2`(_ arguments: [String], _ words: String) {
        let trial = Conversation(KeyringProtocol(arguments, isTyped: false))
        #expect(trial.words == words + "; keyring --help lists what there is")
        #expect(trial.output.isEmpty && trial.status == 2)
    }

    @Test func `whole URLs reach the longest prefix, and nobody is asked`() {
        let trial = Conversation(
            KeyringProtocol(["get", "https://pkgs.example:8443/feed/simple/", "alice"], isTyped: false), [],
            [.signedOut]
        )
        #expect(trial.request?.host?.text == "pkgs.example:8443")
        #expect(trial.request?.path == "feed/simple/" && trial.request?.username == "alice")
        #expect(trial.request?.reach == .above && trial.request?.isUnattended == true)
        #expect(trial.request?.takesAuthorizations == false)
        #expect(trial.complaints == [.refusal] && trial.output.isEmpty && trial.status == 1)
        let pdm = Conversation(
            KeyringProtocol(["--mode=creds", "get", "http://bob@pkgs.example/", ""], isTyped: false), [], [.nothing])
        #expect(pdm.request?.scheme == "http" && pdm.request?.username == "bob")
    }

    @Test(arguments: [(url, ["s3cret\n"]), (url, ["s3c", "ret"]), ("pkgs.example", ["s3cret\n"])])
    func `set keeps the line on stdin, for a host alone by https`(_ service: String, _ input: [String]) {
        let trial = Conversation(
            KeyringProtocol(["set", service, "alice"], isTyped: false), input,
            [.nothing, .credential(Credential(.password, Secret("s3cret"), username: "alice"))])
        guard case .store(let credential, let request) = trial.questions.first else {
            Issue.record("it stores nothing: \(trial)")
            return
        }
        #expect(credential == Credential(.password, Secret("s3cret"), username: "alice"))
        #expect(request.scheme == "https" && request.host?.text == "pkgs.example" && request.username == "alice")
        #expect(trial.output.isEmpty && trial.complaints.isEmpty && trial.notes.isEmpty && trial.status == 0)
        let hidden = Conversation(
            KeyringProtocol(["set", service, "alice"], isTyped: false), input,
            [.nothing, .credential(Credential(.accessToken, Secret("jwt"), username: "alice"))])
        #expect(hidden.notes.first?.contains("the password is not kept") == true && hidden.status == 0, "\(hidden)")
    }

    @Test(
        arguments: [
            ([], "standard input holds no valid password; it must be one line"),
            (["\n"], "standard input holds no valid password; it must be one line"),
            (["a\nb\n"], "standard input holds no valid password; it must be one line"),
            (["a\0"], "standard input holds no valid password; it must be one line"),
            (
                [String(repeating: "a", count: 1 << 19), String(repeating: "a", count: 1 << 19), "a"],
                "the password is longer than 1 MiB"
            ),
        ] as [([String], String)])
    func `what can't be a password is not stored`(_ input: [String], _ words: String) {
        let trial = Conversation(KeyringProtocol(["set", Self.url, "alice"], isTyped: false), input)
        #expect(trial.words == words && trial.output.isEmpty && trial.status == 1)
    }

    @Test func `nobody types a password that shows`() {
        let trial = Conversation(KeyringProtocol(["set", Self.url, "alice"], isTyped: true))
        #expect(trial.words?.hasPrefix("a terminal would show the password; pass it by a pipe") == true)
        #expect(trial.status == 1)
    }

    @Test func `set and del of what is no place fail`() {
        for verb in ["set", "del"] {
            let trial = Conversation(KeyringProtocol([verb, "my app", "alice"], isTyped: false))
            #expect(trial.words == "my app is neither a URL nor a host" && trial.status == 1)
        }
    }

    @Test func `plain text holds no line feed in a password`() {
        let trial = Conversation(
            KeyringProtocol(["get", Self.url, "u"], isTyped: false), [],
            [.credential(Credential(.password, Secret("two\nlines"), username: "u"))])
        #expect(trial.output.isEmpty && trial.status == 1)
    }

    @Test func `help is help`() {
        let trial = Conversation(KeyringProtocol(["--help"], isTyped: false))
        #expect(trial.output.hasPrefix("usage: keyring ") && trial.status == 0)
    }
}
