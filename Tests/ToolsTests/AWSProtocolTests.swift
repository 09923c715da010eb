import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Terminal
import Testing
import Tools

/// Requests of the AWS CLI and SDKs, the engine's result, and the answers.
@Suite struct AWSProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var arguments = [role]
        /// The engine's result; nil if it must not be asked.
        var event: ToolEvent?
        var output = ""
        var complaint: Turn.Complaint?
        var status: Int32 = 0
    }

    private static let host = "https://sts.eu-central-1.amazonaws.com"
    private static let role = "\(host)/arn:aws:iam::123456789012:role/team/developer"
    private static let all = ["AccessKeyId": "id", "SecretAccessKey": "key", "SessionToken": "session"]

    private static func keys(_ fields: [String: String] = all, until end: Int? = 1_790_000_000) -> ToolEvent {
        var credential = Credential(.accessToken, Secret(""), username: "alice", expiresOn: end)
        credential.fields = fields.mapValues(Secret.init)
        return .credential(credential)
    }

    private static func answer(until end: String) -> String {
        #"{"AccessKeyId":"id","Expiration":"\#(end)","SecretAccessKey":"key","SessionToken":"session","Version":1}"#
            + "\n"
    }

    private static let noKeys = Turn.Complaint.other(
        "\(role) doesn't give AWS keys", remedy: "in its rule, write: exchange = \"aws-sts\"; see lanyard-aws(1)")
    private static let usage = Turn.Complaint.other(
        "usage: lanyard aws https://portal.sso.REGION.amazonaws.com/ACCOUNT/ROLE, or https://sts.amazonaws.com/arn:aws:iam::ACCOUNT:role/NAME"
    )
    private static func noURL(_ shown: String) -> Turn.Complaint { .other("the URL can't be one: \(shown)") }

    private static let cases = [
        Case(testDescription: "temporary keys", event: keys(), output: answer(until: "2026-09-21T14:13:20Z")),
        Case(
            testDescription: "keys without an end", event: keys(until: nil),
            output: #"{"AccessKeyId":"id","SecretAccessKey":"key","SessionToken":"session","Version":1}"# + "\n"),
        Case(
            testDescription: "an end that no calendar has", event: keys(until: .max),
            output: answer(until: "9999-12-31T23:59:59Z")),
        Case(
            testDescription: "an end before all calendars", event: keys(until: .min),
            output: answer(until: "1970-01-01T00:00:00Z")),
        Case(
            testDescription: "keys of a user's, which have no session",
            event: keys(["AccessKeyId": "id", "SecretAccessKey": "key"], until: nil),
            output: #"{"AccessKeyId":"id","SecretAccessKey":"key","Version":1}"# + "\n"),
        Case(
            testDescription: "parts that only others know stay here",
            event: keys(all.merging(["Other": "o"]) { $1 }), output: answer(until: "2026-09-21T14:13:20Z")),
        Case(
            testDescription: "JSON holds any key", event: keys(["AccessKeyId": "i\"d", "SecretAccessKey": "a\nb"]),
            output: #"{"AccessKeyId":"i\"d","Expiration":"2026-09-21T14:13:20Z","SecretAccessKey":"a\nb","Version":1}"#
                + "\n"),
        Case(
            testDescription: "a key without its id", event: keys(["SecretAccessKey": "key"]), complaint: noKeys,
            status: 1),
        Case(
            testDescription: "an id without its key", event: keys(["AccessKeyId": "id"]), complaint: noKeys, status: 1),
        Case(
            testDescription: "a token", event: .credential(Credential(.accessToken, Secret("t"), username: "alice")),
            complaint: noKeys, status: 1),
        Case(
            testDescription: "a password", event: .credential(Credential(.password, Secret("p"), username: "u")),
            complaint: noKeys, status: 1),
        Case(
            testDescription: "a header",
            event: .credential(Credential(.authorization(scheme: "Bearer"), Secret("h"), username: nil)),
            complaint: noKeys, status: 1),
        Case(
            testDescription: "nothing", event: .nothing,
            complaint: .other("no rule maps \(role)", remedy: "lanyard rule add; see lanyard-aws(1)"), status: 1),
        Case(testDescription: "a missing sign-in", event: .signedOut, complaint: .refusal, status: 2),
        Case(testDescription: "a locked keyring", event: .locked, complaint: .refusal, status: 1),
        Case(testDescription: "no URL", arguments: [], complaint: usage, status: 64),
        Case(testDescription: "two URLs", arguments: [role, role], complaint: usage, status: 64),
        Case(testDescription: "an option", arguments: ["--profile"], complaint: noURL("--profile"), status: 64),
        Case(testDescription: "an empty URL", arguments: [""], complaint: noURL(""), status: 64),
        Case(
            testDescription: "a role alone", arguments: ["arn:aws:iam::123456789012:role/a"],
            complaint: noURL("arn:aws:iam::123456789012:role/a"), status: 64),
        Case(
            testDescription: "a host with a blank", arguments: ["https://a b/"], complaint: noURL("https://a b/"),
            status: 64),
        Case(
            testDescription: "a line feed in the role", arguments: ["\(host)/%0a"], complaint: noURL("\(host)/%0a"),
            status: 64),
        Case(
            testDescription: "a line feed behind the role", arguments: ["\(role)?\n"], complaint: noURL("\(role)??"),
            status: 64),
        Case(
            testDescription: "a URL of which programs differ about the host", arguments: [#"\#(host)\@evil.example/"#],
            complaint: noURL("https://…@evil.example/"), status: 64),
        Case(
            testDescription: "a password in a URL that no rule maps", arguments: ["https://u:secret@sts.example/a"],
            event: .nothing,
            complaint: .other(
                "no rule maps https://…@sts.example/a", remedy: "lanyard rule add; see lanyard-aws(1)"), status: 1),
        Case(
            testDescription: "a megabyte", arguments: [String(repeating: "x", count: 1 << 20)],
            complaint: noURL(String(repeating: "x", count: 200) + "…"), status: 64),
    ]

    @Test(arguments: cases)
    func `the AWS SDKs are served`(_ given: Case) {
        let said = Conversation(AWSProtocol(given.arguments), [], [given.event])
        #expect(said.output == given.output)
        #expect(said.complaints == [given.complaint].compactMap(\.self))
        #expect(said.status == given.status)
    }

    @Test(arguments: [role, role + "?duration=900", role + "#a"])
    func `the engine is asked for the role, for keys of several parts, and to ask nobody`(_ url: String) {
        var request = CredentialRequest()
        (request.scheme, request.host) = ("https", RequestHost("sts.eu-central-1.amazonaws.com"))
        request.path = "arn:aws:iam::123456789012:role/team/developer"
        (request.reach, request.takesFields, request.isUnattended) = (.above, true, true)
        #expect(Conversation(AWSProtocol([url]), [], [.nothing]).questions == [.get(request)])
    }
}
