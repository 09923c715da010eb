import Claims
import JSON
import Testing
import Vectors

/// Claims challenges of servers in `WWW-Authenticate` (Tests/Vectors); `ChallengedAuthorityTests` reads the authorities in them.
@Suite struct ClaimsChallengeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let headers: [String]
        /// The expected claims as canonical JSON, or the raw text; nil if there must be no challenge.
        let claims: String?
        var testDescription: String { id }
    }

    static let cases: [Case] = Vectors.followed("claims-challenge").map { vector in
        let claims = vector.expect["claims"]
        return Case(
            id: vector.id, headers: vector.texts("www_authenticate"),
            claims: claims?.members.map { $0["raw"]?.string ?? canonical(.object($0)) })
    }

    /// Returns canonical text: equal JSON has equal text.
    private static func canonical(_ value: JSONValue) -> String { value.encodedText }

    /// Returns canonical text; anything but JSON stays unchanged.
    private func canonical(_ text: String?) -> String? {
        text.map { text in JSONValue(bytes: text.utf8).map(Self.canonical) ?? text }
    }

    @Test func `there are cases`() { #expect(Self.cases.count == 15) }

    @Test(arguments: cases)
    func `a claims challenge is read as MSAL reads it`(row: Case) {
        #expect(canonical(ClaimsChallenge(row.headers).claims) == row.claims)
    }

    private static let asked = #"{"id_token":{"auth_time":null}}"#
    private static let encoded = "eyJpZF90b2tlbiI6eyJhdXRoX3RpbWUiOm51bGx9fQ"

    @Test(arguments: [
        "Bearer error=insufficient_claims, claims=\"\(encoded)==\"",
        "Bearer error=insufficient_claims, claims=\(encoded)==",
        "Bearer error=insufficient_claims, claims=\(encoded)",
        "bearer ERROR=\"Insufficient_Claims\",CLAIMS = \"\(encoded)==\"",
        #"Bearer error="insufficient_claims", claims="{\"id_token\":{\"auth_time\":null}}""#,
        "Negotiate abc==, Bearer error=\"insufficient_claims\", claims=\"\(encoded)\", Basic realm=\"a, b\"",
        "Bearer realm=\"x\\\", claims=\\\"e30=\", error=\"insufficient_claims\", claims=\"\(encoded)\"",
    ])
    func `claims come as base64 of either length, or plain`(header: String) {
        #expect(ClaimsChallenge([header]).claims == Self.asked)
    }

    @Test func `of several headers the claims challenge counts, wherever it is`() {
        let headers = [
            "Basic realm=\"x\"", "Bearer", "Bearer error=\"insufficient_claims\", claims=\"\(Self.encoded)\"",
        ]
        #expect(ClaimsChallenge(headers).claims == Self.asked)
        #expect(ClaimsChallenge(headers + headers).claims == Self.asked)
    }

    @Test(arguments: [
        ["Basic error=\"insufficient_claims\", claims=\"e30=\""],
        ["PoP error=\"insufficient_claims\", claims=\"e30=\""],
        ["Bearer error=\"invalid_token\"", "claims=\"e30=\", error=\"insufficient_claims\""],
        ["Bearer error=\"insufficient_claims\", Basic claims=\"e30=\""],
        ["Bearer error=\"invalid_token\", error=\"insufficient_claims\", claims=\"e30=\""],
        ["Bearer error=\"insufficient_claims\", claims=\"e30="],
        ["Bearer error=\"insufficient_claims\", claims=\"\""],
        ["error=\"insufficient_claims\", claims=\"e30=\""], [""], [],
    ])
    func `what is no claims challenge of Bearer's own brings no claims`(headers: [String]) {
        #expect(ClaimsChallenge(headers).claims == nil)
    }

    @Test(arguments: [
        ("authorization_uri=https://login.example/t", "https://login.example/t"),
        ("authorization_uri=\"https://login.example/t/authorize?x=1\"", "https://login.example/t/authorize"),
        ("authorization_uri=\"https://login.example\"", "https://login.example"),
        ("authorization_uri=\"\", authority=\"https://login.example/t/\"", "https://login.example/t"),
        ("authorization_uri=\"login.example/t\"", nil),
        ("realm=\"https://login.example/t\"", nil),
    ])
    func `the authority is the URL that the server calls so, less its query`(parameters: String, authority: String?) {
        #expect(ClaimsChallenge(["Bearer \(parameters)"]).authority == authority)
    }
}
