import Foundation
import JSON
import NIOHTTP1
import PluginWire
import Testing
import Vectors

@testable import MicrosoftIdentity

struct AnswerTests {
    private static func answer(
        _ body: String, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: headers, body: Data(body.utf8))
    }

    @Test func `numbers may be strings and times may be absolute`() throws {
        let body = """
            {"access_token":"at","token_type":"bearer","expires_in":"3599","ext_expires_in":7199,"refresh_on":1500}
            """
        let response = try TokenResponse(
            Self.answer(body, headers: ["date": "Thu, 01 Jan 1970 00:16:40 GMT"]), from: "host", stage: .redemption)
        #expect(response.expiresIn == 3_599)
        #expect(response.extendedExpiresIn == 7_199)
        #expect(response.refreshIn == 500)
        #expect(response.scope == nil)
    }

    @Test(arguments: [(Int.min, 0), (0, 0), (Int.max, 315_360_000)])
    func `an absolute time that no clock can show is bounded`(_ time: Int, _ lifetime: Int) throws {
        let body = #"{"access_token":"at","expires_on":"\#(time)","refresh_on":"\#(time)"}"#
        let response = try TokenResponse(Self.answer(body), from: "host", stage: .redemption)
        #expect((response.expiresIn, response.refreshIn) == (lifetime, lifetime))
    }

    @Test(arguments: [
        ("<!doctype html><title>Welcome to the hotel</title>", PluginError.Code.unavailable),
        ("{\"access_token\":\"a", .unavailable), ("", .unavailable), ("[]", .unavailable),
        ("{\"id_token\":\"x\"}", .invalidRequest), ("{\"access_token\":\"a\\nb\"}", .internal),
        ("{\"access_token\":\"a\",\"token_type\":\"pop\"}", .internal),
    ])
    func `what is no token response is an error`(_ body: String, _ code: PluginError.Code) {
        let error = #expect(throws: PluginError.self) {
            try TokenResponse(Self.answer(body), from: "host", stage: .redemption)
        }
        #expect(error?.code == code)
    }

    @Test(arguments: Vectors.followed("token-error"))
    func `refusals mean what they mean to MSAL for Objective-C`(_ vector: VectorCase) throws {
        var codes: [Int] = []
        if case .array(let values) = vector.input["error_codes"] {
            codes = values.compactMap { if case .integer(let code) = $0 { Int(code) } else { nil } }
        }
        let failure = OAuthFailure(
            error: try #require(vector.text("error")), suberror: vector.text("suberror"), codes: codes)
        let error = failure.pluginError(vector.text("grant") == "refresh_token" ? .refresh : .redemption)
        if let name = vector.expected("code") {
            #expect(error.code == Self.codes[name])
            #expect((error.hint?.contains("reset the password") ?? false) == name.hasSuffix("ResetPasswordRequired"))
        }
        if let outcome = vector.expected("outcome") {
            #expect((error.code == .interactionRequired) == (outcome == "interaction_required"))
        }
        // The host removes a refresh token of invalid_grant and bad_token, and of nothing else.
        if let removes = vector.expect["remove_refresh_token"] {
            #expect(removes == .bool(error.error == "invalid_grant" && error.suberror == "bad_token"))
        }
    }

    private static let codes: [String: PluginError.Code] = [
        "MSIDErrorServerInvalidRequestResetPasswordRequired": .interactionRequired,
        "MSIDErrorServerInvalidRequest": .invalidRequest,
        "MSIDErrorUserCancel": .cancelled,
        "MSIDErrorServerError": .unavailable,
        "MSIDErrorServerInvalidGrant": .interactionRequired,
        "MSIDErrorInsufficientDeviceStrength": .unsupported,
        "MSIDErrorServerProtectionPoliciesRequired": .unsupported,
        "MSIDErrorInteractionRequired": .interactionRequired,
    ]

    @Test func `Entra's words are shown without what follows them`() throws {
        let body = """
            {"error":"invalid_grant","error_description":"AADSTS50076: Due to a change \\u001b[31mmade by your \
            administrator.\\r\\nTrace ID: 1\\r\\nCorrelation ID: 2","error_codes":["50076"],"suberror":"basic_action",
            "correlation_id":"2","claims":"{\\"access_token\\":{\\"capolids\\":{\\"essential\\":true}}}"}
            """
        let failure = try #require(OAuthFailure(Self.answer(body, status: 400)))
        let error = failure.pluginError(.refresh)
        #expect(error.code == .interactionRequired)
        #expect(error.message == "the authority refuses: AADSTS50076: Due to a change ?[31mmade by your administrator")
        #expect(error.hint == "sign in again and pass multi-factor authentication")
        #expect(error.suberror == "basic_action")
        #expect(error.errorCodes == [50076])
        #expect(error.correlationID == "2")
        #expect(error.claims == #"{"access_token":{"capolids":{"essential":true}}}"#)
    }

    @Test(arguments: Vectors.followed("scope-match"))
    func `scopes are compared as Entra compares them`(_ vector: VectorCase) throws {
        if let text = vector.text("scope") {
            let scopes = Scopes.split(text)
            let normalized = vector.input["normalize"] == .bool(true) ? scopes.map { $0.lowercased() } : scopes
            #expect(normalized == vector.expectedTexts("scopes"))
        } else if vector.expect["declined"] != nil {
            let granted = vector.texts("granted")
            let declined = Scopes.declined(requested: vector.texts("requested"), granted: granted)
            #expect(declined == vector.expectedTexts("declined"))
            if vector.expect["granted_reported"] != nil {
                #expect(Scopes.reported(granted) == vector.expectedTexts("granted_reported"))
            }
        } else {
            let missing = Scopes.declined(requested: vector.texts("requested"), granted: vector.texts("cached"))
            #expect(vector.expect["cache_hit"] == .bool(missing.isEmpty))
        }
    }

    @Test func `a token is found again by the words it was asked for in`() {
        let granted = Scopes.granted(
            "openid profile User.Read api://app/read",
            requested: ["https://graph.microsoft.com/User.Read", "api://app/.default", "email", "Mail.Read"])
        #expect(
            granted == [
                "openid", "profile", "User.Read", "api://app/read", "https://graph.microsoft.com/User.Read",
                "api://app/.default", "email",
            ])
        #expect(Scopes.granted(nil, requested: ["a", "b"]) == ["a", "b"])
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `HTTP's dates are read in all three forms`(_ text: String) {
        #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 2027 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "06 Nov 1994 08:49:37",
    ])
    func `what is no date of HTTP's is none`(_ text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func `a year of two digits is of this century unless it is more than 50 years ahead`() throws {
        let date = try #require(HTTPDate.parse("Saturday, 07-Nov-26 08:49:37 GMT"))
        #expect(date == HTTPDate.parse("Sat, 07 Nov 2026 08:49:37 GMT"))
    }

    @Test(
        arguments: [
            ("7", nil, 7), ("-7", nil, 0), ("99999", nil, 3_600), ("soon", nil, nil),
            ("Sat, 07 Nov 2026 08:49:47 GMT", "Sat, 07 Nov 2026 08:49:37 GMT", 10),
            ("Sat, 07 Nov 2026 08:49:27 GMT", "Sat, 07 Nov 2026 08:49:37 GMT", 0),
            ("Sat, 07 Nov 2026 18:49:27 GMT", "Sat, 07 Nov 2026 08:49:37 GMT", 3_600),
        ] as [(String, String?, Int?)])
    func `Retry-After is seconds or a date, by the authority's clock`(_ after: String, _ date: String?, _ wait: Int?) {
        var answer = HTTPAnswer(status: 503, headers: ["retry-after": after], body: Data())
        if let date { answer = HTTPAnswer(status: 503, headers: ["retry-after": after, "date": date], body: Data()) }
        #expect(answer.retryAfter == wait)
    }
}
