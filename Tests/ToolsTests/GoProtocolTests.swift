import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools

/// Requests of Go, the engine's result, and the answers.
@Suite struct GoProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var arguments = [url]
        var input = [refusal]
        var event: ToolEvent?
        var output = ""
        var complaint: Turn.Complaint?
        var status: Int32 = 0
    }

    private static let url = "https://go.example/m/@v/list"
    private static let refusal = "HTTP/1.1 401 Unauthorized\nContent-Length: 0\n\n"
    private static let token = Credential(.accessToken, Secret("t"), username: "alice", expiresOn: 5)
    private static let bearer = "\nAuthorization: Bearer t\n\n"

    private static let cases = [
        Case(testDescription: "the first call gets nothing, and reads nothing", arguments: []),
        Case(
            testDescription: "a version's file, and the folder of all of the module's", event: .credential(token),
            output: "\(url)\nhttps://go.example/m/@v\n\(bearer)"),
        Case(
            testDescription: "a proxy's path that isn't of versions", arguments: ["https://go.example/m/@latest"],
            event: .credential(token), output: "https://go.example/m/@latest\n\(bearer)"),
        Case(
            testDescription: "a query, and what is below its path", arguments: ["https://go.example/m/sub?go-get=1"],
            event: .credential(token),
            output: "https://go.example/m/sub?go-get=1\nhttps://go.example/m/sub\n\(bearer)"),
        Case(
            testDescription: "a folder named @v is no prefix of itself", arguments: ["https://go.example/@v"],
            event: .credential(token), output: "https://go.example/@v\n\(bearer)"),
        Case(
            testDescription: "a name that begins with @v is none", arguments: ["https://go.example/@version/x"],
            event: .credential(token), output: "https://go.example/@version/x\n\(bearer)"),
        Case(
            testDescription: "the last of several folders named @v", arguments: ["https://go.example/@v/m/@v/v1.zip"],
            event: .credential(token),
            output: "https://go.example/@v/m/@v/v1.zip\nhttps://go.example/@v/m/@v\n\(bearer)"),
        Case(
            testDescription: "a host alone", arguments: ["https://go.example"], event: .credential(token),
            output: "https://go.example\n\(bearer)"),
        Case(
            testDescription: "a password goes as Basic",
            event: .credential(Credential(.password, Secret("p"), username: "u")),
            output: "\(url)\nhttps://go.example/m/@v\n\nAuthorization: Basic dTpw\n\n"),
        Case(
            testDescription: "an authorization goes with its scheme",
            event: .credential(Credential(.authorization(scheme: "Custom"), Secret("c"), username: nil)),
            output: "\(url)\nhttps://go.example/m/@v\n\nAuthorization: Custom c\n\n"),
        Case(
            testDescription: "an authorization that would be two lines goes nowhere",
            event: .credential(Credential(.authorization(scheme: "Custom"), Secret("c\nX: y"), username: nil)),
            complaint: .unwritable(asked(for: "m/@v/list")), status: 1),
        Case(testDescription: "nothing is no error", event: .nothing),
        Case(
            testDescription: "a sign-in is not begun", event: .signedOut, complaint: .refusal, status: 2),
        Case(testDescription: "stdin may be empty", input: [], event: .nothing),
        Case(testDescription: "stdin may lack its blank line", input: ["HTTP/1.1 403 No\nA: b"], event: .nothing),
        Case(
            testDescription: "stdin in pieces", input: ["HTTP/1", ".1 401 Un", "authorized\n", "\n"], event: .nothing),
        Case(
            testDescription: "what follows the blank line is not waited for",
            input: [refusal, "HTTP/1.1 500 Never read\n\n"], event: .nothing),
        Case(testDescription: "lines may end in CR LF", input: ["HTTP/1.1 401 No\r\n\r\n"], event: .nothing),
        Case(
            testDescription: "stdin that is no answer", input: ["<html>\n\n"],
            complaint: .other("standard input holds no answer of an HTTP server"), status: 1),
        Case(
            testDescription: "stdin without an end",
            input: Array(repeating: String(repeating: "a", count: 1 << 19), count: 3),
            complaint: .other("the server's answer is longer than 1 MiB"), status: 1),
        Case(testDescription: "http is never asked for", arguments: ["http://go.example/m"]),
        Case(
            testDescription: "a URL of which programs differ about the host",
            arguments: ["https://go.example\\@evil.example/"],
            complaint: .other("this can't be the URL of a module: https://…@evil.example/"), status: 1),
        Case(
            testDescription: "a URL that would name another host's in the answer",
            arguments: ["https://go.example/m?a\nhttps://other.example/"],
            complaint: .other("this can't be the URL of a module: https://go.example/m?a?https://other.example/"),
            status: 1),
        Case(
            testDescription: "no URL", arguments: ["m"], complaint: .other("this can't be the URL of a module: m"),
            status: 1),
        Case(testDescription: "two URLs", arguments: [url, url], complaint: usage, status: 64),
        Case(testDescription: "an option", arguments: ["--verbose"], complaint: usage, status: 64),
    ]

    private static let usage = Turn.Complaint.other(
        "goauth takes one URL at most", remedy: "set GOAUTH=\"lanyard goauth\"; go adds the URL")

    private static func asked(for path: String?, _ challenges: [String] = []) -> CredentialRequest {
        var request = CredentialRequest()
        (request.scheme, request.host, request.path) = ("https", RequestHost("go.example"), path)
        (request.reach, request.takesAuthorizations, request.isUnattended) = (.above, true, true)
        request.wwwAuthenticate = challenges
        return request
    }

    @Test(arguments: cases)
    func `Go is served`(_ given: Case) {
        let said = Conversation(GoProtocol(given.arguments), given.input, [given.event])
        #expect(said.output == given.output)
        #expect(said.complaints == [given.complaint].compactMap(\.self))
        #expect(said.status == given.status)
        if given.status != 0 { #expect(said.output.isEmpty) }
    }

    @Test(
        arguments: [
            ("https://go.example/m/@v/list", "HTTP/1.1 401 No\n\n", asked(for: "m/@v/list")),
            ("https://go.example/m?go-get=1", "HTTP/1.1 401 No\n\n", asked(for: "m")),
            ("https://go.example?go-get=1", "HTTP/1.1 404 No\n\n", asked(for: nil)),
            (
                "https://go.example/",
                "HTTP/1.1 401 No\nwww-authenticate:Bearer a=\"b\"\nWWW-Authenticate: Basic \r\n\n",
                asked(for: nil, ["Bearer a=\"b\"", "Basic"])
            ),
            (
                "https://go.example/", "HTTP/1.1 401 No\nX-WWW-Authenticate: Bearer\nWWW-Authenticate\n\n",
                asked(for: nil)
            ),
        ])
    func `the engine is asked for the URL, and hears the challenge`(
        _ url: String, _ answer: String, _ request: CredentialRequest
    ) {
        #expect(Conversation(GoProtocol([url]), [answer], [.nothing]).request == request)
    }
}
