import Addresses
import CredentialEngine
import Model
import Rules
import Secrets
import Testing
import Tools

/// Requests of gcloud and Google's SDKs, the engine's result, and the answers.
@Suite struct GoogleProtocolTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var arguments = [url]
        /// The token type that the SDK expects.
        var type: String?
        /// The engine's result; nil if it must not be asked.
        var event: ToolEvent?
        let output: String
    }

    private static let url = "https://sts.googleapis.com/x"
    private static let jsonWebToken = "urn:ietf:params:oauth:token-type:jwt"
    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

    private static func token(_ end: Int?, _ text: String = "e.y.J") -> ToolEvent {
        .credential(Credential(.accessToken, Secret(text), username: "alice", expiresOn: end))
    }

    private static func got(_ end: Int?, _ type: String = jsonWebToken) -> String {
        let time = end.map { #""expiration_time":\#($0),"# } ?? ""
        return #"{\#(time)"id_token":"e.y.J","success":true,"token_type":"\#(type)","version":1}"#
    }

    private static func failed(_ code: String, _ message: String) -> String {
        #"{"code":"\#(code)","message":"\#(message)","success":false,"version":1}"#
    }

    private static func noURL(_ shown: String) -> String {
        failed("INVALID_REQUEST", "the URL can't be one: \(shown)")
    }

    private static func noType(_ shown: String) -> String {
        failed(
            "INVALID_REQUEST",
            """
            lanyard has no token of the type \(shown): in the credential configuration, set subject_token_type to \
            \(jsonWebToken) or \(idToken)
            """)
    }

    private static let noJWT = failed(
        "INVALID_TOKEN",
        """
        the token for \(url) isn't a JWT, which Google needs: if the issuer gives ID tokens, set subject_token_type to \
        \(idToken)
        """)
    private static let usage = failed("INVALID_REQUEST", "usage: lanyard gcloud URL")
    private static let noToken = failed("NOT_FOUND", "what is stored for \(url) is no token")

    private static let cases = [
        Case(testDescription: "a token", event: token(1_790_000_000), output: got(1_790_000_000)),
        Case(testDescription: "a token without an end", event: token(nil), output: got(nil)),
        Case(testDescription: "an end that no calendar has", event: token(.max), output: got(253_402_300_799)),
        Case(testDescription: "an end before all calendars", event: token(.min), output: got(0)),
        Case(
            testDescription: "a token called as it is asked for", type: idToken, event: token(nil),
            output: got(nil, idToken)),
        Case(testDescription: "a token by its own name", type: jsonWebToken, event: token(nil), output: got(nil)),
        Case(
            testDescription: "a token is no assertion of SAML's", type: "urn:ietf:params:oauth:token-type:saml2",
            output: noType("urn:ietf:params:oauth:token-type:saml2")),
        Case(testDescription: "a type that nobody knows", type: "foo\n", output: noType("foo?")),
        Case(testDescription: "a token of no type", type: "", event: token(nil), output: got(nil)),
        Case(testDescription: "an opaque token", event: token(nil, "gho_opaque"), output: noJWT),
        Case(testDescription: "a token of two parts", event: token(nil, "e.y"), output: noJWT),
        Case(testDescription: "a token without a signature", event: token(nil, "e.y."), output: noJWT),
        Case(testDescription: "a token with a blank", event: token(nil, "e.y.J "), output: noJWT),
        Case(testDescription: "an encrypted token", type: idToken, event: token(nil, "e.y.J.w.e"), output: noJWT),
        Case(
            testDescription: "a password", event: .credential(Credential(.password, Secret("p"), username: "u")),
            output: noToken),
        Case(
            testDescription: "a header",
            event: .credential(Credential(.authorization(scheme: "Bearer"), Secret("h"), username: nil)),
            output: noToken),
        Case(testDescription: "nothing", event: .nothing, output: failed("NOT_FOUND", "no rule maps \(url)")),
        Case(
            testDescription: "a missing sign-in", event: .signedOut,
            output: failed("UNAUTHENTICATED", "you must sign in; sign in: lanyard login URL")),
        Case(
            testDescription: "a locked keyring", event: .locked,
            output: failed("UNAVAILABLE", "the keyring is locked")),
        Case(
            testDescription: "an authority that can't be reached",
            event: .refused(Refusal(cause: .authority, message: "connection refused", status: 1)),
            output: failed("UNAVAILABLE", "connection refused")),
        Case(testDescription: "no URL", arguments: [], output: usage),
        Case(testDescription: "two URLs", arguments: [url, url], output: usage),
        Case(testDescription: "an option", arguments: ["--verbose"], output: noURL("--verbose")),
        Case(testDescription: "an empty URL", arguments: [""], output: noURL("")),
        Case(testDescription: "a host alone", arguments: ["sts.googleapis.com"], output: noURL("sts.googleapis.com")),
        Case(
            testDescription: "an audience, which is no URL", arguments: ["//iam.googleapis.com/locations/global"],
            output: noURL("//iam.googleapis.com/locations/global")),
        Case(testDescription: "a line feed", arguments: ["\(url)%0A"], output: noURL("\(url)%0A")),
        Case(testDescription: "a line feed behind it", arguments: ["\(url)?\n"], output: noURL("\(url)??")),
        Case(
            testDescription: "a URL of which programs differ about the host",
            arguments: [#"https://sts.googleapis.com\@evil.example/"#],
            output: noURL("https://…@evil.example/")),
        Case(
            testDescription: "a megabyte", arguments: [String(repeating: "x", count: 1 << 20)],
            output: noURL(String(repeating: "x", count: 200) + "…")),
    ]

    @Test(arguments: cases)
    func `Google's SDKs are served, and read errors from stdout, too`(_ given: Case) {
        let environment = given.type.map { ["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": $0] } ?? [:]
        let said = Conversation(GoogleProtocol(given.arguments, environment), [], [given.event])
        #expect(said.output == given.output + "\n")
        #expect(said.complaints.isEmpty && said.status == 0)
    }

    @Test(arguments: [("1", false), ("0", true), ("", true), (nil, true)], [nil, jsonWebToken, idToken])
    func `the SDKs say whether a user may be asked, and for which token`(
        _ asks: (value: String?, isUnattended: Bool), _ type: String?
    ) {
        var environment = asks.value.map { ["GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE": $0] } ?? [:]
        environment["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE"] = type
        var request = CredentialRequest()
        (request.scheme, request.host, request.path) = ("https", RequestHost("sts.googleapis.com"), "x")
        (request.reach, request.isUnattended) = (.above, asks.isUnattended)
        if type == Self.idToken { request.explicit.token = .id }
        for url in [Self.url, Self.url + "?a=b"] {
            #expect(Conversation(GoogleProtocol([url], environment), [], [.nothing]).questions == [.get(request)])
        }
    }
}
