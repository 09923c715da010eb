import Addresses
import ConsumerProtocols
import CredentialEngine
import Rules
import Secrets
import Testing

/// What the AWS and the Google SDKs run, what the engine has, and what they read.
@Suite struct CloudConsumerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var environment: [String: String] = [:]
        /// What comes of the question; nil if none is to be asked.
        var event: ConsumerEvent?
        var output = ""
        /// What is complained of, in part.
        var complaint: String?
        var status: Int32 = 0
        let testDescription: String
    }

    private static let role = "https://sts.eu-central-1.amazonaws.com/arn:aws:iam::123456789012:role/team/developer"

    private static func keys(_ names: [String], until end: Int? = 1_790_000_000) -> ConsumerEvent {
        var credential = Credential(.accessToken, Secret(""), username: "alice", expiresOn: end)
        for name in names { credential.fields[name] = Secret("\(name)-value") }
        return .credential(credential)
    }

    private static func token(_ end: Int? = 1_790_000_000) -> ConsumerEvent {
        .credential(Credential(.accessToken, Secret("e.y.J"), username: "alice", expiresOn: end))
    }

    private static func refusal(_ cause: Refusal.Cause, _ status: Int32 = 2) -> ConsumerEvent {
        .refused(
            ReportedRefusal(
                cause: cause, message: "you must sign in", remedies: ["run lanyard login URL"], status: status))
    }

    private static let all = ["AccessKeyId", "SecretAccessKey", "SessionToken"]
    private static let password = ConsumerEvent.credential(Credential(.password, Secret("p"), username: "u"))

    private static let aws = [
        Case(
            arguments: [role], event: keys(all),
            output: #"{"AccessKeyId":"AccessKeyId-value","Expiration":"2026-09-21T14:13:20Z","#
                + #""SecretAccessKey":"SecretAccessKey-value","SessionToken":"SessionToken-value","Version":1}"# + "\n",
            testDescription: "temporary keys"),
        Case(
            arguments: [role], event: keys(["AccessKeyId", "SecretAccessKey"], until: nil),
            output: #"{"AccessKeyId":"AccessKeyId-value","SecretAccessKey":"SecretAccessKey-value","Version":1}"#
                + "\n",
            testDescription: "keys without an end"),
        Case(
            arguments: [role], event: keys(["AccessKeyId"]), complaint: "no keys of AWS's", status: 1,
            testDescription: "half a key"),
        Case(arguments: [role], event: token(), complaint: "no keys of AWS's", status: 1, testDescription: "a token"),
        Case(
            arguments: [role], event: password, complaint: "no keys of AWS's", status: 1, testDescription: "a password"),
        Case(arguments: [role], event: .nothing, complaint: "no rule maps", status: 1, testDescription: "nothing"),
        Case(arguments: [role], event: refusal(.other), complaint: "refusal", status: 2, testDescription: "a refusal"),
        Case(
            arguments: [role], event: refusal(.keyring, 1), complaint: "refusal", status: 1,
            testDescription: "a locked keyring"),
        Case(arguments: [], complaint: "usage", status: 64, testDescription: "no URL"),
        Case(arguments: [role, role], complaint: "usage", status: 64, testDescription: "two URLs"),
        Case(arguments: ["nonsense"], complaint: "can't be one", status: 64, testDescription: "no URL at all"),
        Case(arguments: ["https://a b/"], complaint: "can't be one", status: 64, testDescription: "a broken URL"),
        Case(
            arguments: ["https://sts.amazonaws.com/%0a"], complaint: "can't be one", status: 64,
            testDescription: "a line feed in the role"),
        Case(
            arguments: [String(repeating: "x", count: 1 << 20)], complaint: "can't be one", status: 64,
            testDescription: "a megabyte"),
    ]

    private static let google = [
        Case(
            arguments: ["https://sts.googleapis.com"], event: token(),
            output: #"{"expiration_time":1790000000,"id_token":"e.y.J","success":true,"#
                + #""token_type":"urn:ietf:params:oauth:token-type:jwt","version":1}"# + "\n",
            testDescription: "a token"),
        Case(
            arguments: ["https://sts.googleapis.com"],
            environment: ["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:id_token"],
            event: token(nil),
            output: #"{"id_token":"e.y.J","success":true,"#
                + #""token_type":"urn:ietf:params:oauth:token-type:id_token","version":1}"# + "\n",
            testDescription: "a token without an end, called as it is asked for"),
        Case(
            arguments: ["https://sts.googleapis.com"],
            environment: ["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:saml2"],
            event: token(nil),
            output: #"{"id_token":"e.y.J","success":true,"#
                + #""token_type":"urn:ietf:params:oauth:token-type:jwt","version":1}"# + "\n",
            testDescription: "a token that is no assertion of SAML's"),
        Case(
            arguments: ["https://sts.googleapis.com"], event: refusal(.other),
            output: #"{"code":"UNAUTHENTICATED","message":"you must sign in; run lanyard login URL","success":false,"#
                + #""version":1}"# + "\n",
            testDescription: "a refusal, in Google's format"),
        Case(
            arguments: ["https://sts.googleapis.com"], event: refusal(.keyring, 1),
            output: #"{"code":"UNAVAILABLE","message":"you must sign in; run lanyard login URL","success":false,"#
                + #""version":1}"# + "\n",
            testDescription: "a locked keyring"),
        Case(
            arguments: ["https://sts.googleapis.com/x"], event: .nothing,
            output: #"{"code":"NOT_FOUND","message":"no rule maps https://sts.googleapis.com/x","success":false,"#
                + #""version":1}"# + "\n",
            testDescription: "nothing"),
        Case(
            arguments: ["https://sts.googleapis.com/x"], event: password,
            output: #"{"code":"NOT_FOUND","message":"what is stored for https://sts.googleapis.com/x is no token","#
                + #""success":false,"version":1}"# + "\n",
            testDescription: "a password"),
        Case(
            arguments: [],
            output: #"{"code":"INVALID_REQUEST","message":"usage: lanyard gcloud URL","success":false,"version":1}"#
                + "\n",
            testDescription: "no URL"),
        Case(
            arguments: ["nonsense"],
            output:
                #"{"code":"INVALID_REQUEST","message":"the URL can't be one: nonsense","success":false,"version":1}"#
                + "\n",
            testDescription: "no URL at all"),
    ]

    @Test(arguments: aws) func `the AWS SDKs are served`(_ given: Case) {
        check(AWSConsumer(given.arguments), given)
    }

    @Test(arguments: google) func `Google's SDKs are served`(_ given: Case) {
        check(GoogleConsumer(given.arguments, given.environment), given)
    }

    private func check(_ consumer: any Consumer, _ given: Case) {
        var consumer = consumer
        var turn = consumer.begin()
        if case .ask(.get(let request)) = turn.next {
            guard let event = given.event else {
                Issue.record("it asks")
                return
            }
            #expect(request.isUnattended && request.reach == .above)
            turn = consumer.take(event)
        } else {
            #expect(given.event == nil, "it never asked")
        }
        #expect(turn.next == .end(given.status))
        #expect(String(decoding: turn.output, as: UTF8.self) == given.output)
        switch turn.complaint {
        case .refusal: #expect(given.complaint == "refusal")
        case .other(let message, _):
            #expect(given.complaint.map(message.contains) == true, "\(message)")
            #expect(message.utf8.count < 500)
        default: #expect(given.complaint == nil && turn.complaint == nil)
        }
    }

    @Test func `the AWS SDKs take keys of several parts, and nobody is asked`() throws {
        var consumer = AWSConsumer([Self.role])
        guard case .ask(.get(let request)) = consumer.begin().next else {
            Issue.record("it doesn't ask")
            return
        }
        #expect(request.takesFields && request.isUnattended)
        #expect(request.host?.text == "sts.eu-central-1.amazonaws.com")
        #expect(request.path == "arn:aws:iam::123456789012:role/team/developer")
    }

    @Test(arguments: [("1", false), ("0", true), ("", true)])
    func `Google's SDKs say whether a person may be asked`(_ value: String, _ isUnattended: Bool) {
        var consumer = GoogleConsumer(
            ["https://sts.googleapis.com"], ["GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE": value])
        guard case .ask(.get(let request)) = consumer.begin().next else {
            Issue.record("it doesn't ask")
            return
        }
        #expect(request.isUnattended == isUnattended && !request.takesFields)
    }
}
