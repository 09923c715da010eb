import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools

/// Requests of Bazel, the engine's result, and the answers.
@Suite struct BazelProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var arguments = ["get"]
        var input = [#"{"uri":"https://bazel.example/cache"}"#]
        var event: ToolEvent?
        var output = ""
        var complaint: Turn.Complaint?
        var status: Int32 = 0
    }

    private static func token(_ expiry: Int?) -> ToolEvent {
        .credential(Credential(.accessToken, Secret("t"), username: "alice", expiresOn: expiry))
    }

    private static let usage = Turn.Complaint.other(
        "bazel-credential-lanyard takes one command, get", remedy: "bazel runs it: --credential_helper=PATH")
    private static let noURI = Turn.Complaint.other("standard input holds no JSON object with a uri")

    private static let cases = [
        Case(
            testDescription: "a token, and when it ends", event: token(1_767_323_045),
            output: #"{"expires":"2026-01-02T03:04:05Z","headers":{"Authorization":["Bearer t"]}}"# + "\n"),
        Case(
            testDescription: "a token that doesn't end", event: token(nil),
            output: #"{"headers":{"Authorization":["Bearer t"]}}"# + "\n"),
        Case(
            testDescription: "an end that no calendar has", event: token(.max),
            output: #"{"expires":"9999-12-31T23:59:59Z","headers":{"Authorization":["Bearer t"]}}"# + "\n"),
        Case(
            testDescription: "a password goes as Basic",
            event: .credential(Credential(.password, Secret("p"), username: "u")),
            output: #"{"headers":{"Authorization":["Basic dTpw"]}}"# + "\n"),
        Case(
            testDescription: "an authorization goes with its scheme",
            event: .credential(Credential(.authorization(scheme: "Custom"), Secret("c"), username: nil)),
            output: #"{"headers":{"Authorization":["Custom c"]}}"# + "\n"),
        Case(
            testDescription: "a header is one header, whatever it holds",
            event: .credential(Credential(.authorization(scheme: "Custom"), Secret("a\"\r\nb"), username: nil)),
            output: #"{"headers":{"Authorization":["Custom a\"\r\nb"]}}"# + "\n"),
        Case(testDescription: "nothing needs no header", event: .nothing, output: #"{"headers":{}}"# + "\n"),
        Case(testDescription: "a sign-in is not begun", event: .signedOut, complaint: .refusal, status: 2),
        Case(
            testDescription: "stdin in pieces, with more than the URI",
            input: [#"{"uri":"https://ba"#, #"zel.example/","future":[{}]}"#, "\n"], event: .nothing,
            output: #"{"headers":{}}"# + "\n"),
        Case(testDescription: "no command", arguments: [], complaint: usage, status: 1),
        Case(testDescription: "an unknown command", arguments: ["store"], complaint: usage, status: 1),
        Case(testDescription: "a command of an extension", arguments: ["engflow-login"], complaint: usage, status: 1),
        Case(testDescription: "too much", arguments: ["get", "get"], complaint: usage, status: 1),
        Case(testDescription: "no input", input: [], complaint: noURI, status: 1),
        Case(testDescription: "no JSON", input: ["https://bazel.example/"], complaint: noURI, status: 1),
        Case(testDescription: "no object", input: [#"["https://bazel.example/"]"#], complaint: noURI, status: 1),
        Case(testDescription: "no URI", input: [#"{"url":"https://bazel.example/"}"#], complaint: noURI, status: 1),
        Case(testDescription: "a URI that is no text", input: [#"{"uri":1}"#], complaint: noURI, status: 1),
        Case(
            testDescription: "a URI without a scheme", input: [#"{"uri":"bazel.example"}"#],
            complaint: .other("this can't be a URI: bazel.example"), status: 1),
        Case(
            testDescription: "a URI with a line feed", input: [#"{"uri":"https://bazel.example/\nhost=evil"}"#],
            complaint: .other("this can't be a URI: https://bazel.example/?host=evil"), status: 1),
        Case(
            testDescription: "input without an end",
            input: Array(repeating: String(repeating: " ", count: 1 << 19), count: 3),
            complaint: .other("the request is longer than 1 MiB"), status: 1),
    ]

    @Test(arguments: cases)
    func `Bazel is served`(_ given: Case) {
        let said = Conversation(BazelProtocol(given.arguments), given.input, [given.event])
        #expect(said.output == given.output)
        #expect(said.complaints == [given.complaint].compactMap(\.self))
        #expect(said.status == given.status)
    }

    @Test(
        arguments: [
            ("https://bazel.example:8443/a/b?c=d#e", "https", "bazel.example:8443", "a/b"),
            ("http://bazel.example", "http", "bazel.example", nil),
            ("grpcs://bazel.example/x", "grpcs", "bazel.example", "x"),
        ] as [(String, String, String, String?)])
    func `the engine is asked for the URI, and to ask nobody`(
        _ uri: String, _ scheme: String, _ host: String, _ path: String?
    ) {
        var request = CredentialRequest()
        (request.scheme, request.host, request.path) = (scheme, RequestHost(host), path)
        (request.reach, request.takesAuthorizations, request.isUnattended) = (.above, true, true)
        #expect(Conversation(BazelProtocol(["get"]), [#"{"uri":"\#(uri)"}"#], [.nothing]).request == request)
    }

    @Test func `input that is no UTF-8 is no request`() {
        let said = Conversation(BazelProtocol(["get"]), bytes: [[0x7B, 0xFF, 0x7D]])
        #expect(said.complaints == [Self.noURI] && said.output.isEmpty && said.status == 1)
    }
}
