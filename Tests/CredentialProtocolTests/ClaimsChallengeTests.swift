import CredentialProtocol
import Foundation
import Testing

/// What servers ask for in `WWW-Authenticate` (Fixtures/claims-challenge.json).
@Suite struct ClaimsChallengeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let headers: [String]
        /// The expected claims as canonical JSON, or the raw text; nil where the server must be taken to ask for none.
        let claims: String?
        let authority: String?
        let saysAuthority: Bool
        var testDescription: String { id }
    }

    /// Counts token requests, which EndToEndTests' ClaimsTests does.
    static let leftOut = ["claims-challenge/azcore-second-cae-challenge-not-retried"]

    static let cases: [Case] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("Fixtures/claims-challenge.json")),
            let file = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let entries = file["cases"] as? [[String: Any]]
        else { return [] }
        return entries.compactMap(read)
    }()

    private static func read(_ entry: [String: Any]) -> Case? {
        guard let id = entry["id"] as? String, let input = entry["input"] as? [String: Any],
            let headers = input["www_authenticate"] as? [String], let expect = entry["expect"] as? [String: Any]
        else { return nil }
        let claims = expect["claims"] as? [String: Any]
        return Case(
            id: id, headers: headers, claims: claims.flatMap { $0["raw"] as? String ?? canonical($0) },
            authority: expect["authority"] as? String, saysAuthority: expect.keys.contains("authority"))
    }

    private static func canonical(_ value: Any) -> String? {
        (try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Equal JSON made equal text; what isn't JSON stays as it is.
    private func canonical(_ text: String?) -> String? {
        guard let text, let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)) else { return text }
        return Self.canonical(value)
    }

    @Test func `every followed case is run or left out for a reason`() {
        #expect(Self.cases.count == 16)
        #expect(Set(Self.leftOut).isSubset(of: Self.cases.map(\.id)))
    }

    @Test(arguments: cases.filter { !leftOut.contains($0.id) })
    func `a claims challenge is read as MSAL reads it`(row: Case) {
        let challenge = ClaimsChallenge(row.headers)
        #expect(canonical(challenge.claims) == row.claims)
        if row.saysAuthority { #expect(challenge.authority == row.authority) }
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
        ("authorization_uri=\"https://login.example/t/oauth2/v2.0/authorize?x=1\"", "https://login.example/t"),
        ("authorization_uri=\"https://login.example\"", "https://login.example"),
        ("authorization_uri=\"\", authority=\"https://login.example/t/\"", "https://login.example/t"),
        ("authorization_uri=\"login.example/t\"", nil),
        ("realm=\"https://login.example/t\"", nil),
    ])
    func `the authority is what the server calls so, less its endpoint`(parameters: String, authority: String?) {
        #expect(ClaimsChallenge(["Bearer \(parameters)"]).authority == authority)
    }
}
