import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Testing
import Tools

/// Requests of git, the engine's result, and the answers.
@Suite struct GitProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let verb: GitProtocol.Verb
        /// git's input, one read each, followed by its end.
        var input: [String] = []
        /// The engine's result; nil if it must not be asked.
        var event: ToolEvent?
        var output = ""
        var complaint: Turn.Complaint?
        var status: Int32 = 0
        let testDescription: String
    }

    private static let request = "protocol=https\nhost=git.example\n"
    private static let token = Credential(.accessToken, Secret("t"), username: "alice", expiresOn: 5)

    private static func refusal(
        _ cause: Refusal.Cause, _ status: Int32 = 2, isFinal: Bool = false
    ) -> ToolEvent {
        .refused(Refusal(cause: cause, isFinal: isFinal, message: "no", status: status))
    }

    private static let cases = [
        Case(
            verb: .capability, output: "version 0\ncapability authtype\ncapability state\n",
            testDescription: "capability asks nothing"),
        Case(
            verb: .get, input: [request], event: .credential(token),
            output: "username=alice\npassword=t\npassword_expiry_utc=5\n", testDescription: "get up to the end"),
        Case(
            verb: .get, input: ["protocol=ht", "tps\nhost=git.exam", "ple\n\nhost=no\n"], event: .credential(token),
            output: "username=alice\npassword=t\npassword_expiry_utc=5\n",
            testDescription: "get in pieces, up to a blank line"),
        Case(verb: .get, input: [request], event: .nothing, testDescription: "get of nothing"),
        Case(
            verb: .get, input: [request], event: refusal(.other), complaint: .refusal, status: 2,
            testDescription: "get that is refused for a URL that no rule maps"),
        Case(
            verb: .get, input: [request], event: refusal(.other, isFinal: true), output: "quit=1\n",
            complaint: .refusal, status: 2,
            testDescription: "get that is refused for a URL that a rule maps keeps git from asking for a password"),
        Case(
            verb: .get, input: [request], event: refusal(.keyring, 1, isFinal: true), output: "quit=1\n",
            complaint: .refusal, status: 1, testDescription: "get of a token that the keyring can't give"),
        Case(
            verb: .get, input: ["authority=https://a.example\nscope[]=s\n"], event: refusal(.other, isFinal: true),
            complaint: .refusal, status: 2, testDescription: "get by name that is refused, which git never does"),
        Case(
            verb: .get, input: [request], event: refusal(.keyring, 1), complaint: .refusal,
            testDescription: "get abstains if the keyring can't be used"),
        Case(
            verb: .get, input: [request], event: refusal(.user, 1, isFinal: true), output: "quit=1\n",
            complaint: .refusal, status: 1,
            testDescription: "get that the user declined keeps git from asking for a password"),
        Case(
            verb: .get, input: [request],
            event: .credential(Credential(.password, Secret("two\nlines"), username: "u")),
            complaint: .unwritable(CredentialRequest(host: "git.example")), status: 1,
            testDescription: "get of what git can't read"),
        Case(
            verb: .get, input: ["capability[]=authtype\n" + request],
            event: .credential(Credential(.authorization(scheme: ""), Secret("s"), username: nil)),
            testDescription: "get of a header without a scheme, which git couldn't write"),
        Case(
            verb: .get, input: ["nonsense\n"], complaint: .unreadable(.malformedLine), status: 1,
            testDescription: "get without ="),
        Case(
            verb: .get, input: ["host=a b\n"], complaint: .unreadable(.invalid("host")), status: 1,
            testDescription: "get of no host"),
        Case(
            verb: .get, input: [String(repeating: "a", count: 1 << 17)], complaint: .unreadable(.lineTooLong),
            status: 1, testDescription: "get of a line without an end"),
        Case(
            verb: .get, input: [request + "username=a\0b\n"], complaint: .unreadable(.forbiddenByte(key: "username")),
            status: 1,
            testDescription: "get with a zero byte"),
        Case(
            verb: .store, input: [request + "username=u\npassword=p\n"], event: .nothing,
            testDescription: "store"),
        Case(verb: .store, input: [request + "username=u\n"], testDescription: "store without a password"),
        Case(
            verb: .store, input: [request + "ephemeral=1\nusername=u\npassword=p\n"],
            testDescription: "store of what is not to be kept"),
        Case(
            verb: .store, input: [request + "username=u\npassword=p\n"], event: refusal(.keyring, 1),
            complaint: .refusal, status: 1, testDescription: "store fails if the keyring can't be used"),
        Case(verb: .erase, input: [request], event: .nothing, testDescription: "erase"),
        Case(
            verb: .erase, input: [request], event: refusal(.user, 1, isFinal: true), complaint: .refusal, status: 1,
            testDescription: "erase says quit to nobody"),
    ]

    @Test(arguments: cases)
    func `git is served`(_ given: Case) {
        let said = Conversation(GitProtocol(given.verb), given.input, [given.event])
        #expect(said.output == given.output)
        #expect(said.complaints == [given.complaint].compactMap(\.self))
        #expect(said.status == given.status)
    }

    @Test(
        arguments: [
            (.get, "capability[]=authtype\nusername=u\n", .get(CredentialRequest(host: "git.example", "u", true))),
            (
                .store, "username=u\npassword=p\npassword_expiry_utc=7\noauth_refresh_token=r\n",
                .store(
                    Credential(.password, Secret("p"), username: "u", expiresOn: 7, oauthRefreshToken: Secret("r")),
                    CredentialRequest(host: "git.example", "u"))
            ),
            (
                .store, "authtype=Bearer\ncredential=c\n",
                .store(
                    Credential(.authorization(scheme: "Bearer"), Secret("c"), username: nil),
                    CredentialRequest(host: "git.example"))
            ),
            (
                .erase, "password=p\ncredential=c\n",
                .erase(CredentialRequest(host: "git.example"), .init(Secret("p"), Secret("c")))
            ),
        ] as [(GitProtocol.Verb, String, Question)])
    func `each verb asks the engine its question`(_ verb: GitProtocol.Verb, _ lines: String, _ question: Question) {
        var tool = GitProtocol(verb)
        #expect(tool.begin().next == .read)
        #expect(tool.receive(.input(Array((Self.request + lines + "\n").utf8))) == Turn(.ask(question)))
    }
}

extension CredentialRequest {
    fileprivate init(host: String, _ username: String? = nil, _ takesAuthorizations: Bool = false) {
        self.init()
        scheme = "https"
        self.host = RequestHost(host)
        self.username = username
        self.takesAuthorizations = takesAuthorizations
    }
}
