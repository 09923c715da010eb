import Foundation
import TestSupport
import Testing

/// The authority's refusals of a renewal: each is shown with its number, its correlation ID and a remedy.
@Suite struct RefusalTests {
    struct Refusal: CustomTestStringConvertible, Sendable {
        let error: String
        let code: Int
        var suberror: String?
        var status: Int32 = 2
        let hint: String
        var testDescription: String { "AADSTS\(code)" }

        static let correlationID = "6f1e3c1c-0000-4000-8000-00000000c0de"

        var fault: String {
            let body: [String: Any] = [
                "error": error, "error_codes": [code], "suberror": suberror ?? "",
                "error_description":
                    "AADSTS\(code): Alice may not. Trace ID: 1 Correlation ID: \(Self.correlationID) Timestamp: 2",
                "correlation_id": Self.correlationID,
            ]
            let text = (try? JSONSerialization.data(withJSONObject: body)).map { String(decoding: $0, as: UTF8.self) }
            let fault: [String: Any] = ["path": "/token", "status": 400, "times": 1, "body": text ?? ""]
            let data = (try? JSONSerialization.data(withJSONObject: fault)) ?? Data()
            return String(decoding: data, as: UTF8.self)
        }
    }

    static let refusals = [
        Refusal(
            error: "invalid_grant", code: 50076, suberror: "basic_action",
            hint: "sign in again and pass multi-factor authentication"),
        Refusal(
            error: "invalid_grant", code: 50079, suberror: "basic_action",
            hint: "sign in again and set up multi-factor authentication"),
        Refusal(
            error: "invalid_request", code: 50011, status: 1,
            hint: "add http://localhost to the app registration's redirect URIs"),
        Refusal(
            error: "invalid_grant", code: 65001, suberror: "consent_required",
            hint: "sign in again and consent, or ask an administrator"),
        Refusal(error: "invalid_grant", code: 90094, hint: "an administrator has to consent to the application first"),
        Refusal(
            error: "invalid_grant", code: 53003, suberror: "message_only",
            hint: "a Conditional Access policy blocks this sign-in"),
        Refusal(error: "invalid_grant", code: 50020, hint: "choose an account of this tenant, or ask to be invited"),
        Refusal(error: "unauthorized_client", code: 700_016, status: 1, hint: "check the client ID"),
        Refusal(error: "invalid_client", code: 7_000_218, status: 1, hint: "turn on \"allow public client flows\""),
        Refusal(error: "invalid_grant", code: 50173, hint: "sign in again: the sessions of this account were revoked"),
        Refusal(error: "invalid_grant", code: 700_082, hint: "sign in again: the session was unused for too long"),
        Refusal(error: "invalid_resource", code: 500_011, status: 1, hint: "check the scopes"),
        Refusal(error: "invalid_grant", code: 50196, status: 1, hint: "try again in 60 seconds"),
    ]

    @Test func `a refused renewal says what, which request and what to do`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 0}"#)
            for refusal in Self.refusals {
                // Of a refresh token that needs the user, nothing else is heard for a minute.
                let login = try await world.lanyard(
                    ["login", "\(world.sandbox.resource)/common/hello.git"],
                    world.browser(as: "alice@contoso.example"))
                try #require(login.status == 0, "\(login)")
                try await world.sandbox.fault(refusal.fault)
                let ended = try await world.get("common/hello.git")
                #expect(ended.status == refusal.status && ended.hasNoCredential, "\(refusal.code): \(ended)")
                #expect(ended.errors.contains("AADSTS\(refusal.code)"), "\(refusal.code): \(ended)")
                #expect(
                    ended.errors.contains("(correlation ID \(Refusal.correlationID))"), "\(refusal.code): \(ended)")
                #expect(ended.errors.contains("lanyard: hint: \(refusal.hint)"), "\(refusal.code): \(ended)")
                #expect(!ended.errors.contains("Trace ID"), "\(refusal.code): \(ended)")
            }
        }
    }
}
