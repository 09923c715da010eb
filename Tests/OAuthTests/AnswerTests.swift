import Foundation
import HTTP
import JSON
import Secrets
import Testing

@testable import OAuth

/// Parsing of authorities' answers.
struct AnswerTests {
    private static func answer(_ body: String, status: Int = 200, headers: [String: String] = [:]) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: headers.map { .init(name: $0.key, value: $0.value) }, body: Array(body.utf8))
    }

    private static func tokens(_ body: String) throws(OAuthError) -> TokenResponse {
        try TokenResponse(answer(body), from: "host", stage: .redemption)
    }

    @Test func `a token response has what RFC 6749 says, and more for who knows it`() throws {
        let response = try Self.tokens(
            #"{"access_token":"at","token_type":"bearer","expires_in":"3599","refresh_token":"rt","foci":"1"}"#)
        #expect(response.accessToken == Secret("at"))
        #expect(response.refreshToken == Secret("rt"))
        #expect(response.expiresIn == 3_599)
        #expect(response.scope == nil && response.idToken == nil)
        #expect(response["foci"] == "1")
    }

    @Test func `a lifetime that isn't told is unknown, and one that is too long is bounded`() throws {
        #expect(try Self.tokens(#"{"access_token":"at"}"#).expiresIn == nil)
        #expect(try Self.tokens(#"{"access_token":"at","expires_in":1e17}"#).expiresIn == 315_360_000)
    }

    @Test(arguments: [
        ("<!doctype html><title>Welcome to the hotel</title>", OAuthError.Kind.unavailable),
        ("{\"access_token\":\"a", .unavailable), ("", .unavailable), ("[]", .unavailable),
        ("{\"id_token\":\"x\"}", .noAccessToken), ("{\"access_token\":\"a\\nb\"}", .broken),
        ("{\"access_token\":\"a\",\"token_type\":\"pop\"}", .broken),
        ("{\"access_token\":\"a\",\"expires_in\":-1}", .broken),
        ("{\"access_token\":\"a\",\"expires_in\":\"soon\"}", .unavailable),
        ("{\"access_token\":\"a\",\"expires_in\":\"0x10\"}", .unavailable),
    ])
    func `what is no token response is an error`(_ body: String, _ kind: OAuthError.Kind) {
        let error = #expect(throws: OAuthError.self) { try Self.tokens(body) }
        #expect(error?.kind == kind)
    }

    @Test(arguments: [200, 400])
    func `an error is one whatever the status`(_ status: Int) throws {
        let body = #"{"error":"Bad_Verification_Code","error_description":"It is \u001b[31mold. \nMore: 1","more":[1]}"#
        let response = try #require(ErrorResponse(Self.answer(body, status: status)))
        #expect(response.error == "bad_verification_code")
        #expect(response.summary() == "It is ?[31mold")
        #expect(response.summary(endingAt: [" ?"]) == "It is ?[31mold")
        #expect(response.summary(endingAt: [" is"]) == "It")
        #expect(response["more"] == [1])
        let error = #expect(throws: OAuthError.self) {
            try TokenResponse(Self.answer(body, status: status), from: "host", stage: .refresh)
        }
        #expect(error?.kind == .refused(response, .refresh))
        #expect(error?.message == "the authority refuses: It is ?[31mold")
    }

    @Test func `an error without words is told by its name`() throws {
        let response = try #require(ErrorResponse(response: ["error": "access_denied", "claims": "{}"]))
        #expect(response.summary() == "access_denied")
        #expect(response["claims"] == "{}")
        #expect(ErrorResponse(response: ["error": "", "code": "c"]) == nil)
    }

    @Test func `a configuration has its endpoints`() throws {
        let document = try #require(
            Self.answer(
                #"{"issuer":"https://a.example","token_endpoint":"https://a.example/t","mtls":1}"#
            ).json?.members.map(ProviderMetadata.init))
        #expect(document.tokenEndpoint == "https://a.example/t")
        #expect(document.authorizationEndpoint == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `HTTP's dates are read in all three forms`(_ text: String) {
        #expect(Date.http(text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 2027 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "06 Nov 1994 08:49:37",
    ])
    func `what is no date of HTTP's is none`(_ text: String) {
        #expect(Date.http(text) == nil)
    }

    @Test func `a year of two digits is of this century unless it is more than 50 years ahead`() throws {
        let date = try #require(Date.http("Saturday, 07-Nov-26 08:49:37 GMT"))
        #expect(date == Date.http("Sat, 07 Nov 2026 08:49:37 GMT"))
    }

    @Test(
        arguments: [
            ("7", nil, 7), ("-7", nil, 0), ("99999", nil, 3_600), ("soon", nil, nil),
            ("Sat, 07 Nov 2026 08:49:47 GMT", "Sat, 07 Nov 2026 08:49:37 GMT", 10),
            ("Sat, 07 Nov 2026 08:49:27 GMT", "Sat, 07 Nov 2026 08:49:37 GMT", 0),
            ("Sat, 07 Nov 2026 18:49:27 GMT", "Sat, 07 Nov 2026 08:49:37 GMT", 3_600),
        ] as [(String, String?, Int?)])
    func `Retry-After is seconds or a date, by the authority's clock`(_ after: String, _ date: String?, _ wait: Int?) {
        var answer = Self.answer("", status: 503, headers: ["retry-after": after])
        if let date { answer = Self.answer("", status: 503, headers: ["retry-after": after, "date": date]) }
        #expect(answer.retryAfter == wait)
    }
}
