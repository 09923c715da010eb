import Addresses
import CredentialEngine
import JSON
import Model
import Rules
import Secrets
import Testing
import Tools

/// NuGet's messages to its plugin, the engine's result, and the answers.
@Suite struct NuGetProtocolTests {
    /// A session with NuGet, one read at a time.
    private struct Session {
        var tool = NuGetProtocol(["-Plugin"])
        var turn: Turn
        var questions: [Question] = []

        init() { turn = tool.begin() }

        /// Sends NuGet's bytes, and answers each question with the next event; returns the plugin's messages.
        mutating func send(_ text: String, _ events: ToolEvent...) -> [JSONValue] {
            var (output, events) = ([UInt8](), events[...])
            turn = tool.receive(.input(Array(text.utf8)))
            output += turn.output
            while case .ask(let question) = turn.next, let event = events.popFirst() {
                questions.append(question)
                turn = tool.receive(event)
                output += turn.output
            }
            #expect(events.isEmpty, "it asks for less")
            return output.split(separator: 0x0A).map { JSONValue(bytes: Array($0)) ?? "no JSON" }
        }
    }

    private static func message(_ method: String, _ payload: String? = "{}", type: String = "Request") -> String {
        let payload = payload.map { #","Payload":\#($0)"# } ?? ""
        return #"{"RequestId":"7","Type":"\#(type)","Method":"\#(method)"\#(payload)}"# + "\r\n"
    }

    private static func ask(_ url: String = "https://pkgs.example/feed/index.json", isRetry: Bool = false) -> String {
        message(
            "GetAuthenticationCredentials",
            #"{"Uri":"\#(url)","IsRetry":\#(isRetry),"IsNonInteractive":false,"CanShowDialog":true}"#)
    }

    private static let token = ToolEvent.credential(
        Credential(.accessToken, Secret("t"), username: "alice", expiresOn: 5))

    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        var payload: String? = "{}"
        var type = "Response"
        let answer: JSONValue
        var testDescription: String { "\(method) \(payload ?? "without payload")" }
    }

    private static let success: JSONValue = ["ResponseCode": "Success"]
    private static let greeting: JSONValue = ["ResponseCode": "Success", "ProtocolVersion": "2.0.0"]
    private static let failure: JSONValue = ["ResponseCode": "Error"]

    private static let cases = [
        Case(
            method: "Handshake", payload: #"{"ProtocolVersion":"2.0.0","MinimumProtocolVersion":"1.0.0"}"#,
            answer: greeting),
        Case(
            method: "Handshake", payload: #"{"ProtocolVersion":"2.0.0","MinimumProtocolVersion":"2.0.0"}"#,
            answer: greeting),
        Case(
            method: "Handshake", payload: #"{"ProtocolVersion":"4.0.0","MinimumProtocolVersion":"3.0.0"}"#,
            answer: failure),
        Case(
            method: "Handshake", payload: #"{"ProtocolVersion":"1.0.0","MinimumProtocolVersion":"1.0.0"}"#,
            answer: failure),
        Case(
            method: "Handshake", payload: #"{"ProtocolVersion":"1.0.0","MinimumProtocolVersion":"3.0.0"}"#,
            answer: failure),
        Case(method: "Handshake", payload: "[]", answer: failure),
        Case(
            method: "Initialize", payload: #"{"ClientVersion":"6.13.0","Culture":"en","RequestTimeout":"00:00:05"}"#,
            answer: success),
        Case(method: "SetLogLevel", payload: #"{"LogLevel":"Debug"}"#, answer: success),
        Case(method: "MonitorNuGetProcessExit", payload: #"{"ProcessId":1}"#, answer: success),
        Case(
            method: "SetCredentials", payload: #"{"PackageSourceRepository":"s","Username":"u","Password":"p"}"#,
            answer: success),
        Case(
            method: "GetOperationClaims", payload: #"{"PackageSourceRepository":null,"ServiceIndex":null}"#,
            answer: ["Claims": ["Authentication"]]),
        Case(method: "GetOperationClaims", answer: ["Claims": ["Authentication"]]),
        Case(
            method: "GetOperationClaims", payload: #"{"PackageSourceRepository":"https://a/","ServiceIndex":{}}"#,
            answer: ["Claims": []]),
        Case(
            method: "GetPackageHash", type: "Fault",
            answer: ["Message": "lanyard serves only requests for credentials"]),
        Case(
            method: "GetAuthenticationCredentials", payload: #"{"Uri":"no URL","IsRetry":false}"#,
            answer: ["ResponseCode": "Error", "Message": "lanyard: the source's address can't be read"]),
        Case(
            method: "GetAuthenticationCredentials", payload: nil,
            answer: ["ResponseCode": "Error", "Message": "lanyard: the source's address can't be read"]),
    ]

    @Test(arguments: cases)
    func `what needs no credential is answered at once`(_ given: Case) {
        var session = Session()
        let answers = session.send(Self.message(given.method, given.payload))
        #expect(
            answers == [
                [
                    "RequestId": "7", "Type": .string(given.type), "Method": .string(given.method),
                    "Payload": given.answer,
                ]
            ])
        #expect(session.turn.next == .read && session.turn.complaint == nil)
    }

    @Test func `who waits behind a slow feed gets signs of progress, which NuGet waits anew from`() {
        var session = Session()
        let urls = (1...3).map { "https://pkgs.example/feed\($0)/index.json" }
        // The first is asked for alone; the others arrive while the engine works on it.
        #expect(session.send(Self.ask(urls[0]), Self.token).map { $0["Type"] } == ["Response"])
        let kinds = session.send(
            Self.ask(urls[1]) + Self.message("SetLogLevel") + Self.ask(urls[2]), Self.token, Self.token
        )
        .map { $0["Type"]?.string ?? "" }
        // The second and the third once the second is worked on, the third again once it is.
        #expect(kinds == ["Progress", "Progress", "Response", "Response", "Progress", "Response"])
        #expect(session.questions.count == 3)
    }

    @Test func `a plugin that NuGet started anew reports the stored token as refused`() throws {
        var session = Session()
        let other = ToolEvent.credential(Credential(.accessToken, Secret("new"), username: "alice"))
        let answers = session.send(Self.ask(isRetry: true), Self.token, .nothing, other)
        #expect(answers.map { $0["Payload"]?["Password"] } == ["new"])
        guard case .erase(_, let refused) = try #require(session.questions.dropFirst().first) else {
            Issue.record("\(session.questions)")
            return
        }
        #expect(refused == Question.Refused(Secret("t")))
        // A password isn't deleted on suspicion.
        var restarted = Session()
        let password = ToolEvent.credential(Credential(.password, Secret("p"), username: "alice"))
        #expect(restarted.send(Self.ask(isRetry: true), password).map { $0["Payload"]?["Password"] } == ["p"])
        #expect(restarted.questions.count == 1)
    }

    struct Outcome: Sendable, CustomTestStringConvertible {
        let event: ToolEvent
        let answer: JSONValue
        let testDescription: String
    }

    private static let outcomes = [
        Outcome(
            event: token,
            answer: [
                "ResponseCode": "Success", "Username": "alice", "Password": "t", "AuthenticationTypes": ["basic"],
            ], testDescription: "a token"),
        Outcome(
            event: .credential(Credential(.accessToken, Secret("t"), username: nil)),
            answer: [
                "ResponseCode": "Success", "Username": "token", "Password": "t", "AuthenticationTypes": ["basic"],
            ], testDescription: "nobody's token, with a name, for NuGet wants one"),
        Outcome(
            event: .credential(Credential(.password, Secret("p"), username: "bob")),
            answer: [
                "ResponseCode": "Success", "Username": "bob", "Password": "p", "AuthenticationTypes": ["basic"],
            ], testDescription: "a password"),
        Outcome(
            event: .credential(Credential(.authorization(scheme: "DPoP"), Secret("x"), username: nil)),
            answer: ["ResponseCode": "NotFound"], testDescription: "another scheme"),
        Outcome(event: .nothing, answer: ["ResponseCode": "NotFound"], testDescription: "nothing"),
        Outcome(
            event: .refused(
                Refusal(cause: .other, message: "no", remedies: ["sign in: lanyard login URL"], status: 2)),
            answer: ["ResponseCode": "Error", "Message": "lanyard: no; sign in: lanyard login URL"],
            testDescription: "a refusal"),
    ]

    @Test(arguments: outcomes)
    func `credentials are what the engine has`(_ given: Outcome) {
        var session = Session()
        let answers = session.send(Self.ask(), given.event)
        #expect(answers.map { $0["Payload"] } == [given.answer])
        #expect(answers.first?["Type"] == "Response" && session.turn.next == .read)
    }

    @Test func `nobody is asked, and the longest place stored counts`() throws {
        var session = Session()
        _ = session.send(Self.ask("https://pkgs.example:8443/feed/index.json"), .nothing)
        guard case .get(let request) = try #require(session.questions.first) else { return #expect(Bool(false)) }
        #expect(request.isUnattended && request.reach == .above)
        #expect(request.place == "https://pkgs.example:8443/feed/index.json")
    }

    @Test func `a retry gives up what the server refused, and only that`() throws {
        var session = Session()
        _ = session.send(Self.ask(), Self.token)
        let newer = ToolEvent.credential(Credential(.accessToken, Secret("new"), username: "alice"))
        let answers = session.send(Self.ask(isRetry: true), .nothing, newer)
        guard case .erase(_, let refused) = session.questions[1] else {
            Issue.record("it doesn't tell of the refusal: \(session.questions[1])")
            return
        }
        #expect(refused == Question.Refused(Secret("t")))
        #expect(answers.last?["Payload"]?["Password"] == "new")
        _ = session.send(Self.ask("https://other.example/", isRetry: true), .nothing)
        #expect(session.questions.count == 4)
    }

    @Test func `several requests at once are answered in their order`() {
        var session = Session()
        let answers = session.send(
            Self.message("SetLogLevel") + Self.ask() + Self.message("Initialize") + Self.ask(), Self.token, .nothing)
        #expect(
            answers.filter { $0["Type"] == "Response" }.map { $0["Method"] } == [
                "SetLogLevel", "GetAuthenticationCredentials", "Initialize", "GetAuthenticationCredentials",
            ])
    }

    @Test func `a message may come in pieces`() {
        var session = Session()
        let text = Self.message("SetLogLevel")
        #expect(session.send(String(text.prefix(20))).isEmpty)
        #expect(session.send(String(text.dropFirst(20))).count == 1)
    }

    @Test func `both sides shake hands`() throws {
        var session = Session()
        let hello = try #require(JSONValue(bytes: session.turn.output))
        #expect(hello["Method"] == "Handshake" && hello["Type"] == "Request")
        #expect(hello["Payload"] == ["ProtocolVersion": "2.0.0", "MinimumProtocolVersion": "2.0.0"])
        let id = try #require(hello["RequestId"]?.string)
        for (payload, next) in [
            (#"{"ResponseCode":"Success","ProtocolVersion":"2.0.0"}"#, Turn.Step.read),
            (#"{"ResponseCode":"Error","ProtocolVersion":null}"#, .end(1)),
        ] {
            _ = session.send(
                #"{"RequestId":"\#(id)","Type":"Response","Method":"Handshake","Payload":\#(payload)}"# + "\n")
            #expect(session.turn.next == next)
        }
    }

    private static let endings: [(text: String, status: Int32)] = [
        ("nonsense\n", 1), (#"{"RequestId":"1","Type":"Request"}"# + "\n", 1),
        (message("GetOperationClaims", #"{"Message":"broken"}"#, type: "Fault"), 1),
        (message("Close", nil), 0), (String(repeating: "x", count: 1 << 20 + 1), 1), ("", 0),
    ]

    @Test(arguments: endings)
    func `what can't be read or ends the session ends it`(text: String, status: Int32) {
        var session = Session()
        _ = session.send(text)
        #expect(session.turn.next == .end(status))
        #expect((session.turn.complaint == nil) == (status == 0))
    }

    @Test func `a request that was given up is acknowledged`() {
        var session = Session()
        let answers = session.send(Self.message("GetAuthenticationCredentials", nil, type: "Cancel"))
        #expect(answers == [["RequestId": "7", "Type": "Cancel", "Method": "GetAuthenticationCredentials"]])
    }

    @Test func `a user who runs it is told what it is for`() {
        var tool = NuGetProtocol([])
        let turn = tool.begin()
        #expect(turn.next == .end(64) && turn.output.isEmpty && turn.complaint != nil)
    }
}
