import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools

/// Requests of cargo, the engine's result, and the answers.
@Suite struct CargoProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var arguments = ["--cargo-plugin"]
        var input: [String] = []
        var events: [ToolEvent] = []
        var output: [String] = []
        var complaint: Turn.Complaint?
        var status: Int32 = 0
    }

    private static let registry = #""registry":{"index-url":"sparse+https://cargo.example/index/","name":"corp"}"#
    private static func line(_ kind: String, _ more: String = "") -> String {
        #"{"v":1,"kind":"\#(kind)",\#(registry)\#(more)}"# + "\n"
    }

    private static let get = line("get", #","operation":"read","args":[]"#)
    private static let token = Credential(.accessToken, Secret("t"), username: "alice", expiresOn: 5)
    private static let passwordOnly = {
        var credential = token
        credential.takesBearer = false
        credential.basicUsername = "aws"
        return credential
    }()
    private static func header(_ scheme: String, _ secret: String) -> Credential {
        Credential(.authorization(scheme: scheme), Secret(secret), username: nil)
    }

    private static let greeting = #"{"v":[1]}"#
    private static let gotToken =
        #"{"Ok":{"cache":"expires","expiration":5,"kind":"get","operation_independent":true,"token":"Bearer t"}}"#
    private static func got(_ token: String) -> String {
        #"{"Ok":{"cache":"session","kind":"get","operation_independent":true,"token":"\#(token)"}}"#
    }
    private static let loggedIn = #"{"Ok":{"kind":"login"}}"#
    private static let loggedOut = #"{"Ok":{"kind":"logout"}}"#
    private static func failed(_ message: String) -> String {
        #"{"Err":{"caused-by":[],"kind":"other","message":"\#(message)"}}"#
    }
    private static let notFound = #"{"Err":{"kind":"not-found"}}"#
    private static let noURL = #"{"Err":{"kind":"url-not-supported"}}"#
    private static let noOperation = #"{"Err":{"kind":"operation-not-supported"}}"#
    private static let noJSON = failed("the request is not cargo's JSON")

    private static func get(of index: String) -> String {
        #"{"v":1,"kind":"get","operation":"read","registry":{"index-url":"\#(index)"}}"# + "\n"
    }

    private static let cases = [
        Case(testDescription: "a greeting that nothing follows", output: [greeting]),
        Case(
            testDescription: "a token is kept for as long as it is valid", input: [get], events: [.credential(token)],
            output: [greeting, gotToken]),
        Case(
            testDescription: "an end that cargo's calendar hasn't is its last", input: [get],
            events: [.credential(Credential(.accessToken, Secret("t"), username: nil, expiresOn: .max))],
            output: [greeting, gotToken.replacing(":5,", with: ":253402300799,")]),
        Case(
            testDescription: "a password goes as Basic, for as long as cargo runs", input: [get],
            events: [.credential(Credential(.password, Secret("p"), username: "u"))],
            output: [greeting, got("Basic dTpw")]),
        Case(
            testDescription: "a token that is a password elsewhere goes without a scheme", input: [get],
            events: [.credential(passwordOnly)], output: [greeting, gotToken.replacing("Bearer t", with: "t")]),
        Case(
            testDescription: "what was typed goes as it is", input: [get], events: [.credential(header("", "typed"))],
            output: [greeting, got("typed")]),
        Case(
            testDescription: "nothing is for the next provider", input: [get], events: [.nothing],
            output: [greeting, notFound]),
        Case(
            testDescription: "a refusal is told with its remedy, as cargo shows it", input: [get], events: [.signedOut],
            output: [greeting, failed("you must sign in; sign in: lanyard login URL")]),
        Case(
            testDescription: "several requests in one read", input: [get + get],
            events: [.nothing, .credential(token)],
            output: [greeting, notFound, gotToken]),
        Case(
            testDescription: "a request in pieces, without its end",
            input: [String(get.prefix(20)), String(get.dropFirst(20).dropLast())], events: [.credential(token)],
            output: [greeting, gotToken]),
        Case(
            testDescription: "publish is no other operation",
            input: [line("get", #","operation":"publish","name":"a","vers":"1.0.0","cksum":"00""#)],
            events: [.credential(token)], output: [greeting, gotToken]),
        Case(
            testDescription: "login keeps a header, and looks whether it counts",
            input: [line("login", #","token":"Bearer abc","login-url":null"#)],
            events: [.nothing, .credential(header("Bearer", "abc"))], output: [greeting, loggedIn]),
        Case(
            testDescription: "login keeps what is no scheme and secret", input: [line("login", #","token":" a""#)],
            events: [.nothing, .credential(header("", " a"))], output: [greeting, loggedIn]),
        Case(
            testDescription: "login with a token where a rule has one", input: [line("login", #","token":"abc""#)],
            events: [.nothing, .credential(token)],
            output: [
                greeting,
                failed(
                    "a rule maps https://cargo.example/index/ to a token of lanyard's own; what was typed is not kept"
                ),
            ]),
        Case(
            testDescription: "login with a token where a rule has none yet", input: [line("login", #","token":"abc""#)],
            events: [.nothing, .signedOut], output: [greeting, failed("you must sign in; sign in: lanyard login URL")]),
        Case(
            testDescription: "login with a keyring that can't be used", input: [line("login", #","token":"abc""#)],
            events: [.signedOut], output: [greeting, failed("you must sign in; sign in: lanyard login URL")]),
        Case(
            testDescription: "login with two lines", input: [line("login", #","token":"a\nb""#)],
            output: [greeting, failed("what was typed can't be a header")]),
        Case(
            testDescription: "login with nothing typed", input: [line("login", #","token":"""#)],
            output: [greeting, failed("what was typed can't be a header")]),
        Case(
            testDescription: "login without a token signs in", input: [line("login")], events: [.credential(token)],
            output: [greeting, loggedIn]),
        Case(
            testDescription: "login without a token or a rule", input: [line("login")], events: [.nothing],
            output: [
                greeting,
                failed(
                    "no rule maps https://cargo.example/index/; lanyard rule add https://cargo.example/index/, or give cargo login the token to keep"
                ),
            ]),
        Case(testDescription: "logout", input: [line("logout")], events: [.nothing], output: [greeting, loggedOut]),
        Case(
            testDescription: "an unknown request", input: [line("whoami"), get], events: [.nothing],
            output: [greeting, noOperation, notFound]),
        Case(
            testDescription: "a git index, whose host isn't the registry",
            input: [get(of: "https://github.com/rust-lang/crates.io-index")], output: [greeting, noURL]),
        Case(
            testDescription: "an index that is no URL", input: [get(of: "sparse+cargo.example")],
            output: [greeting, noURL]),
        Case(
            testDescription: "an index of which programs differ about the host",
            input: [get(of: "sparse+https://cargo.example\\\\@evil.example/")], output: [greeting, noURL]),
        Case(testDescription: "no registry", input: [#"{"v":1,"kind":"get"}"# + "\n"], output: [greeting, noURL]),
        Case(
            testDescription: "another version", input: [#"{"v":2,"kind":"get",\#(registry)}"# + "\n"],
            output: [greeting, failed("the request is not of version 1")]),
        Case(testDescription: "no JSON ends it", input: ["get\n", get], output: [greeting, noJSON], status: 1),
        Case(testDescription: "no object ends it", input: ["[1]\n", get], output: [greeting, noJSON], status: 1),
        Case(
            testDescription: "a line without an end",
            input: Array(repeating: String(repeating: "a", count: 1 << 19), count: 3),
            output: [greeting, failed("the request is longer than 1 MiB")], status: 1),
        Case(testDescription: "a user", arguments: [], complaint: notCargo, status: 1),
        Case(testDescription: "a user who wants help", arguments: ["--help"], complaint: notCargo, status: 1),
    ]

    private static let notCargo = Turn.Complaint.other(
        "cargo-credential-lanyard is run by cargo",
        remedy: "name it in global-credential-providers in ~/.cargo/config.toml")

    @Test(arguments: cases)
    func `cargo is served`(_ given: Case) {
        let said = Conversation(CargoProtocol(given.arguments), given.input, given.events)
        #expect(said.output == given.output.map { $0 + "\n" }.joined())
        #expect(said.complaints == [given.complaint].compactMap(\.self))
        #expect(said.status == given.status)
    }

    private static var index: CredentialRequest {
        var request = CredentialRequest()
        (request.scheme, request.host, request.path) = ("https", RequestHost("cargo.example"), "index/")
        (request.reach, request.takesAuthorizations) = (.above, true)
        return request
    }

    @Test func `the engine hears the challenge of the registry`() {
        let headers = #"["Content-Length: 0","www-authenticate: Bearer a=\"b\"","WWW-Authenticate:Basic"]"#
        let line =
            #"{"v":1,"kind":"get","registry":{"index-url":"sparse+https://cargo.example/index/","headers":\#(headers)}}"#
        var request = Self.index
        request.wwwAuthenticate = ["Bearer a=\"b\"", "Basic"]
        #expect(Conversation(CargoProtocol(["--cargo-plugin"]), [line], [.nothing]).questions == [.get(request)])
    }

    @Test func `what is typed is kept as a header, and looked for without asking anybody`() {
        var unattended = Self.index
        unattended.isUnattended = true
        for (typed, kept) in [("Bearer a b", Self.header("Bearer", "a b")), ("abc", Self.header("", "abc"))] {
            let said = Conversation(
                CargoProtocol(["--cargo-plugin"]), [Self.line("login", #","token":"\#(typed)""#)],
                [.nothing, .credential(kept)])
            #expect(said.questions == [.store(kept, Self.index), .get(unattended)])
            #expect(kept.authorizationHeader == typed)
        }
    }

    @Test func `logout forgets whatever is kept for the registry`() {
        let said = Conversation(CargoProtocol(["--cargo-plugin"]), [Self.line("logout")], [.nothing])
        #expect(said.questions == [.erase(Self.index, .init())])
    }
}
