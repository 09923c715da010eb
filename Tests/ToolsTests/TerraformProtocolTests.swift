import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Testing
import Tools

/// Requests of terraform, the engine's result, and the answers.
@Suite struct TerraformProtocolTests {
    private static let token = Credential(.password, Secret("t0ken"), username: "terraform")

    private static let noVerb =
        "this takes a verb and a host; terraform runs it; to try it: terraform-credentials-lanyard get HOST"

    @Test func `get of a token`() {
        let trial = Conversation(TerraformProtocol(["get", "app.example"]), [], [.credential(Self.token)])
        #expect(trial.output == #"{"token":"t0ken"}"# + "\n" && trial.complaints.isEmpty && trial.status == 0)
    }

    @Test func `an access token is one, too`() {
        let token = Credential(.accessToken, Secret("jwt"), username: "alice", expiresOn: 5)
        let trial = Conversation(TerraformProtocol(["get", "app.example"]), [], [.credential(token)])
        #expect(trial.output == #"{"token":"jwt"}"# + "\n" && trial.status == 0)
    }

    @Test func `get of nothing is an empty object`() {
        let trial = Conversation(TerraformProtocol(["get", "app.example"]), [], [.nothing])
        #expect(trial.output == "{}\n" && trial.complaints.isEmpty && trial.status == 0)
    }

    @Test(arguments: ["get", "forget"])
    func `a refusal is told on stderr`(_ verb: String) {
        let trial = Conversation(TerraformProtocol([verb, "app.example"]), [], [.signedOut])
        #expect(trial.complaints == [.refusal] && trial.output.isEmpty && trial.status == 1)
    }

    @Test(arguments: [
        ("app.terraform.io", "app.terraform.io"), ("127.0.0.1:8443", "127.0.0.1:8443"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("App.Example", "app.example"), ("[::1]:8443", "[::1]:8443"),
    ])
    func `the place is the host's discovery document, at just that host and port`(_ argument: String, _ host: String) {
        for verb in ["get", "forget"] {
            let trial = Conversation(TerraformProtocol([verb, argument]), [], [.nothing])
            #expect(trial.request?.scheme == "https" && trial.request?.host?.text == host)
            #expect(trial.request?.path == ".well-known/terraform.json" && trial.request?.reach == .place)
            #expect(trial.request?.username == nil && trial.request?.isUnattended == true)
        }
    }

    @Test func `forget forgets whatever is stored, in silence`() {
        let trial = Conversation(TerraformProtocol(["forget", "app.example"]), [], [.nothing])
        guard case .erase(_, .init()) = trial.questions.first else {
            Issue.record("\(trial)")
            return
        }
        #expect(trial.output.isEmpty && trial.complaints.isEmpty && trial.status == 0)
    }

    @Test func `store keeps the token, in silence`() {
        let trial = Conversation(
            TerraformProtocol(["store", "app.example"]), [#"{"tok"#, #"en":"t0ken"}"#],
            [.nothing, .credential(Self.token)])
        guard case .store(Self.token, let request) = trial.questions.first else {
            Issue.record("\(trial)")
            return
        }
        #expect(request.host?.text == "app.example" && request.path == ".well-known/terraform.json")
        #expect(trial.output.isEmpty && trial.complaints.isEmpty && trial.status == 0)
    }

    @Test(arguments: [
        ToolEvent.credential(Credential(.accessToken, Secret("jwt"), username: "alice")), .signedOut,
    ])
    func `what a rule's token hides is not kept, and that is said`(_ event: ToolEvent) {
        let trial = Conversation(
            TerraformProtocol(["store", "app.example"]), [#"{"token":"t0ken"}"#], [.nothing, event])
        #expect(trial.notes.first?.contains("a rule maps https://app.example to a token") == true, "\(trial)")
        #expect(trial.output.isEmpty && trial.complaints.isEmpty && trial.status == 0)
    }

    @Test func `a store that fails is told`() {
        let trial = Conversation(
            TerraformProtocol(["store", "app.example"]), [#"{"token":"t0ken"}"#], [.signedOut])
        #expect(trial.complaints == [.refusal] && trial.output.isEmpty && trial.status == 1)
    }

    @Test(
        arguments: [
            (["{"], "the credentials on standard input have no token"),
            ([], "the credentials on standard input have no token"),
            (["{}"], "the credentials on standard input have no token"),
            ([#"{"token":""}"#], "the credentials on standard input have no token"),
            ([#"{"token":7}"#], "the credentials on standard input have no token"),
            ([#"{"token":"a\nb"}"#], "the credentials on standard input have no token"),
            ([#"{"token":"a","expires":"b"}"#], "lanyard keeps tokens only, and the credentials have more"),
            (
                Array(repeating: String(repeating: " ", count: 1 << 19), count: 5),
                "the credentials are longer than 1 MiB"
            ),
        ] as [([String], String)])
    func `what can't be kept whole is refused, once all of it is read`(_ input: [String], _ words: String) {
        let trial = Conversation(TerraformProtocol(["store", "app.example"]), input)
        #expect(trial.words == words && trial.output.isEmpty && trial.status == 1)
    }

    @Test func `all of stdin is read, whatever becomes of it`() {
        for host in ["a b", "https://app.example"] {
            var tool = TerraformProtocol(["store", host])
            #expect(tool.begin().next == .read)
            #expect(tool.receive(.input(Array(#"{"token":"t"}"#.utf8))).next == .read)
            #expect(tool.receive(.input([])).next == .end(1))
        }
    }

    @Test(
        arguments: [
            ([], noVerb),
            (["get"], noVerb),
            (["list", "app.example"], "unknown verb: list"),
            (["--cluster=a", "get", "app.example"], "there is nothing that `args` could say; leave it empty"),
            (["get", ""], " is not a host"),
            (["get", "app.example/path"], "app.example/path is not a host"),
            (["get", "alice@app.example"], "alice@app.example is not a host"),
            (["get", "https://app.example"], "https://app.example is not a host"),
            (["forget", "a b"], "a b is not a host"),
            (["get", "app.example\n"], nil),
        ] as [([String], String?)])
    func `a wrong command line fails with words`(_ arguments: [String], _ words: String?) {
        let trial = Conversation(TerraformProtocol(arguments))
        if let words { #expect(trial.words == words) }
        #expect(trial.words?.isEmpty == false && trial.output.isEmpty && trial.status == 1)
    }
}
