import Foundation
import HTTP
import JSON
import PluginWire
import Testing
import Vectors

@testable import MicrosoftIdentity
@testable import OAuth

struct AnswerTests {
    private static func answer(
        _ body: String, status: Int = 200, headers: [String: String] = [:]
    ) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: headers.map { .init(name: $0.key, value: $0.value) }, body: Array(body.utf8))
    }

    private static func tokens(_ body: String, headers: [String: String] = [:]) throws(OAuthError) -> EntraTokens {
        let response = try TokenResponse(answer(body, headers: headers), from: "host", stage: .redemption)
        return EntraTokens(response)
    }

    @Test func `numbers may be strings and times may be absolute`() throws {
        let body = """
            {"access_token":"at","token_type":"bearer","expires_in":"3599","ext_expires_in":7199,"refresh_on":1500}
            """
        let response = try Self.tokens(body, headers: ["date": "Thu, 01 Jan 1970 00:16:40 GMT"])
        #expect(response.expiresIn == 3_599)
        #expect(response.extendedExpiresIn == 7_199)
        #expect(response.refreshIn == 500)
        #expect(response.response.scope == nil)
        #expect(try Self.tokens(#"{"access_token":"at"}"#).expiresIn == 3_600)
    }

    @Test(arguments: [(Int.min, 0), (0, 0), (Int.max, 315_360_000)])
    func `an absolute time that no clock can show is bounded`(_ time: Int, _ lifetime: Int) throws {
        let body = #"{"access_token":"at","expires_on":"\#(time)","refresh_on":"\#(time)"}"#
        let response = try Self.tokens(body)
        #expect((response.expiresIn, response.refreshIn) == (lifetime, lifetime))
    }

    @Test func `members of another type count as absent`() throws {
        let response = try Self.tokens(#"{"access_token":"at","foci":1,"refresh_in":"soon","expires_on":[]}"#)
        #expect(response.familyID == nil && response.refreshIn == nil && response.expiresIn == 3_600)
    }

    @Test(arguments: [
        (OAuthError.Kind.throttled, PluginError.Code.throttled), (.unavailable, .unavailable), (.broken, .internal),
        (.cancelled, .cancelled), (.unsupported, .unsupported), (.notFound, .invalidRequest),
        (.invalidRequest, .invalidRequest), (.unusableSetting, .invalidRequest), (.noAccessToken, .invalidRequest),
        (.unusableRedirect, .invalidRequest),
    ])
    func `errors of OAuth keep their meaning`(_ kind: OAuthError.Kind, _ code: PluginError.Code) {
        var error = OAuthError(kind, "it did not work", hint: "do something")
        error.retryAfter = 7
        let told = error.pluginError()
        #expect(told.code == code)
        #expect(told.message == "it did not work")
        #expect(told.retryAfter == 7)
        #expect(told.hint?.isEmpty == false)
    }

    @Test(arguments: Vectors.followed("token-error"))
    func `refusals mean what they mean to MSAL for Objective-C`(_ vector: VectorCase) throws {
        let told = vector.input.filter { ["error", "suberror", "error_codes"].contains($0.key) }
        let answer = Self.answer(JSONValue.object(told).encodedText, status: 400)
        let failure = EntraRefusal(try #require(ErrorResponse(answer)))
        let error = failure.pluginError(vector.text("grant") == "refresh_token" ? .refresh : .redemption)
        if let name = vector.expected("code") {
            #expect(error.code == Self.codes[name])
            #expect((error.hint?.contains("reset the password") ?? false) == name.hasSuffix("ResetPasswordRequired"))
        }
        if let outcome = vector.expected("outcome") {
            #expect((error.code == .interactionRequired) == (outcome == "interaction_required"))
        }
        // The host removes an invalid refresh token only if the user is needed.
        if let removes = vector.expect["remove_refresh_token"] {
            #expect(removes == .bool(error.code == .interactionRequired && error.reasons.contains(.deadToken)))
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
        let response = try #require(ErrorResponse(Self.answer(body, status: 400)))
        let error = OAuthError(response, at: .refresh).pluginError()
        #expect(error.code == .interactionRequired)
        #expect(error.message == "the authority refuses: AADSTS50076: Due to a change ?[31mmade by your administrator")
        #expect(error.hint == "sign in again and pass multi-factor authentication")
        #expect(error.suberror == "basic_action" && error.reasons == [.proof])
        #expect(error.errorCodes == ["AADSTS50076"])
        #expect(error.correlationID == "2")
        #expect(error.claims == #"{"access_token":{"capolids":{"essential":true}}}"#)
    }

    @Test(arguments: Vectors.followed("scope-match"))
    func `scopes are compared as Entra compares them`(_ vector: VectorCase) throws {
        if let text = vector.text("scope") {
            let scopes = ScopeText.split(text)
            let normalized = vector.input["normalize"] == .bool(true) ? scopes.map { $0.lowercased() } : scopes
            #expect(normalized == vector.expectedTexts("scopes"))
        } else if vector.expect["declined"] != nil {
            let granted = vector.texts("granted")
            let declined = Scopes.declined(requested: vector.texts("requested"), granted: granted)
            #expect(declined == vector.expectedTexts("declined"))
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
        ("https://graph.microsoft.com/User.Read openid", true), ("User.Read", true), ("openid profile", false),
        ("api://app/read", false),
    ])
    func `any scope of Microsoft Graph's grants all of them`(_ granted: String, _ isGranted: Bool) {
        let asked = ["https://graph.microsoft.com/.default"]
        let declined = Scopes.declined(requested: asked, granted: ScopeText.split(granted))
        #expect(declined == (isGranted ? [] : asked))
    }
}
