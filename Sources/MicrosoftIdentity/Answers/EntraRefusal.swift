import Addresses
import JSON
package import OAuth
import PluginOAuth
package import PluginWire

/// An error response of a Microsoft authority: OAuth's error and its additional members.
package struct EntraRefusal: Sendable, Equatable {
    private let response: ErrorResponse
    /// A more specific error, in lower case.
    package let suberror: String?
    /// The AADSTS numbers, from the response's list or its description.
    package let codes: [Int]
    /// A claims challenge; nil if there is none.
    package let claims: String?
    /// The ID of the request in the authority's logs.
    package let correlationID: String?
    /// The ID of the response in the authority's logs.
    package let traceID: String?
    /// When the authority refused, by its own clock.
    package let timestamp: String?

    /// The error code, in lower case.
    package var error: String { response.error }
    /// The authority's description of the error.
    package var description: String { response.description }

    /// Parses the members that a response has besides OAuth's, and its description.
    package init(_ response: ErrorResponse) {
        let words = response.description
        let listed = response["error_codes"]?.elements.map(\.boundedNumber) ?? []
        self.response = response
        // Authorization responses have another name for it.
        suberror = (response["error_subcode"]?.string ?? response["suberror"]?.string).flatMap {
            $0.isEmpty ? nil : $0.lowercased()
        }
        // A list with anything but numbers counts as absent.
        codes =
            listed.isEmpty || listed.contains(nil)
            ? Self.number(behind: "AADSTS", in: words).map { [$0] } ?? [] : listed.compactMap(\.self)
        claims = response["claims"]?.string
        correlationID = response["correlation_id"]?.string ?? Self.identifier(behind: "Correlation ID: ", in: words)
        traceID = response["trace_id"]?.string ?? Self.identifier(behind: "Trace ID: ", in: words)
        timestamp = response["timestamp"]?.string ?? Self.timestamp(in: words)
    }

    /// The description without the trailing trace ID, correlation ID and timestamp, starting with the error's number.
    package var summary: String {
        let shown = response.summary(endingAt: [" Trace ID:", " Correlation ID:"])
        guard let code = codes.first(where: { $0 > 0 }), !shown.hasBytes("AADSTS\(code)") else { return shown }
        return "AADSTS\(code): \(shown)"
    }

    /// Returns the number after a mark; nil if there is none.
    package static func number(behind mark: String, in description: String) -> Int? {
        Int(run(of: "0123456789", behind: mark, in: description))
    }

    /// Returns an ID that authorization responses and B2C's errors contain only in their text.
    private static func identifier(behind mark: String, in description: String) -> String? {
        let id = run(of: "-0123456789abcdefABCDEF", behind: mark, in: description)
        return id.utf8.count == 36 ? id : nil
    }

    /// Returns a time such as `2026-01-31 12:34:56Z`.
    private static func timestamp(in description: String) -> String? {
        let time = run(of: "-:TZ. 0123456789", behind: "Timestamp: ", in: description).trimmed(of: " .")
        return time.isEmpty || time.utf8.count > 32 ? nil : String(time)
    }

    /// Returns the run of these bytes after a mark; empty if the mark doesn't occur.
    private static func run(of bytes: String, behind mark: String, in description: String) -> String {
        let allowed = Array(bytes.utf8)
        guard let (_, rest) = description.cut(atText: mark) else { return "" }
        return String(Substring(rest.utf8.prefix { allowed.contains($0) }))
    }

    /// Converts the refusal to an error of the plugin protocol, with a hint for the user.
    package func pluginError(_ stage: OAuthError.Stage) -> PluginError {
        var result = PluginError(code(stage), message(stage), hint: hint(stage))
        result.error = error.plain(limit: 100)
        result.suberror = suberror?.plain(limit: 100)
        result.errorCodes = codes.filter { $0 > 0 }.prefix(16).map { "AADSTS\($0)" }
        result.reasons = reasons
        result.correlationID = correlationID?.plain(limit: 64)
        result.claims = claims.flatMap { JSONValue(bytes: $0.utf8, atMost: 16_384)?.encodedText }
        return result
    }

    private func message(_ stage: OAuthError.Stage) -> String {
        guard stage != .refresh, stage != .authentication else { return "the authority refuses: \(summary)" }
        if ["expired_token", "code_expired"].contains(error) { return "the code expired before it was used" }
        let number = codes.first { $0 > 0 }.map { " (AADSTS\($0))" } ?? ""
        return switch declined {
        case .consent: "you declined what the application asks for\(number)"
        case .signIn: "you cancelled the sign-in\(number)"
        case nil: "the authority refuses: \(summary)"
        }
    }

    /// The steps that a user can decline at an authority's page.
    enum Declined {
        /// The application's permissions.
        case consent
        /// The sign-in.
        case signIn
    }

    /// The step that the user declined; nil if the authority itself refused.
    var declined: Declined? {
        if codes.contains(Self.declinedConsent) { return .consent }
        guard ["access_denied", "authorization_declined"].contains(error) else { return nil }
        let isPlain = codes.isEmpty || codes == [Self.declinedCode] || suberror == "cancel"
        return isPlain ? .signIn : nil
    }

    /// The reasons, as far as someone can act on them, from suberrors (MSAL's classification) and numbers.
    private var reasons: Set<PluginError.Reason> {
        let named = suberror.flatMap { Self.suberrors[$0] } ?? (error == "consent_required" ? .consent : nil)
        let isUnknownAccount = !Self.unknownAccountCodes.isDisjoint(with: codes)
        // A number says more.
        let isUnknownClient = error == "invalid_client" && codes.isEmpty
        return Set(
            [named, isUnknownAccount ? .otherAccount : nil, isUnknownClient ? .clientRefused : nil].compactMap(\.self))
    }

    private static let suberrors: [String: PluginError.Reason] = [
        "bad_token": .deadToken, "user_account_deleted": .accountDeleted, "client_mismatch": .notInFamily,
        "basic_action": .proof, "additional_action": .proof, "message_only": .policy,
        "user_password_expired": .expiredPassword, "consent_required": .consent,
    ]

    /// The numbers for an account that the tenant doesn't know or doesn't admit.
    private static let unknownAccountCodes: Set<Int> = [50020, 50034, 50105, 500_212, 500_213]

    /// Returns the error code.
    ///
    /// For a renewal, it follows MSAL for Objective-C: every error requires interaction unless the user can't change
    /// anything about it.
    private func code(_ stage: OAuthError.Stage) -> PluginError.Code {
        switch (error, suberror ?? "") {
        case ("tokentransferfailedotc", _), ("invalid_grant", "transfer_token_expired"),
            ("access_denied", "tts_denied"), ("access_denied", "user_skipped"):
            return .cancelled
        case ("invalid_grant", "insufficient_device_strength"), ("unauthorized_client", "protection_policy_required"):
            return .unsupported
        case ("server_error", _), ("temporarily_unavailable", _):
            return .unavailable
        case ("invalid_grant", "client_mismatch"), ("invalid_scope", _), ("invalid_client", _):
            return .invalidRequest
        default: break
        }
        if codes.contains(50196) { return .throttled }
        // There is no user who could do anything.
        if stage == .authentication { return .invalidRequest }
        if stage != .refresh, declined != nil { return .cancelled }
        if codes.contains(Self.resetPassword) { return .interactionRequired }
        if !codes.allSatisfy({ Advice.registration[$0] == nil }) { return .invalidRequest }
        return stage == .refresh ? .interactionRequired : interactiveCode(stage)
    }

    private func interactiveCode(_ stage: OAuthError.Stage) -> PluginError.Code {
        switch error {
        case "access_denied", "authorization_declined":
            codes.allSatisfy { Advice.policy[$0] == nil } ? .cancelled : .interactionRequired
        case "expired_token", "code_expired": .cancelled
        case "invalid_grant", "interaction_required", "login_required", "consent_required",
            "account_selection_required", "bad_verification_code":
            .interactionRequired
        default: .invalidRequest
        }
    }

    private func hint(_ stage: OAuthError.Stage) -> String? {
        if codes.contains(Self.resetPassword), stage != .authentication {
            return "reset the password, then sign in again"
        }
        if let advice = codes.compactMap({ Advice.of($0, at: stage) }).first { return advice }
        switch suberror {
        case "client_mismatch": return "sign in with this application"
        case "protection_policy_required", "insufficient_device_strength":
            return "the organisation requires a managed device, which lanyard can't be; ask the administrator"
        default: break
        }
        return code(stage) == .unavailable ? "try again later" : nil
    }

    private static let resetPassword = 50142
    private static let declinedConsent = 65004
    /// The user declined on the page for device codes.
    private static let declinedCode = 70017
}

/// Hints for Entra's errors, by AADSTS number (learn.microsoft.com/entra/identity-platform/reference-error-codes).
private enum Advice {
    static func of(_ number: Int, at stage: OAuthError.Stage) -> String? {
        if stage == .device, let reason = kindToBrowsers[number] {
            return "\(reason): sign in with a browser instead of a code"
        }
        if stage == .authentication { return application[number] ?? registration[number] }
        return registration[number] ?? policy[number] ?? user[number]
    }

    /// Hints for an application that authenticates itself.
    private static let application: [Int: String] = [
        7000215: "check the client secret: use the secret's value, not its ID",
        7000222: "the client secret has expired: make a new one in the app registration, and give it to lanyard",
        7000218: "give the identity a secret, a certificate or an assertion",
        700027: "upload the identity's certificate to the app registration",
        700024: "check this computer's clock, and how long the assertion is valid",
        70021: "give the application a federated credential for the assertion's issuer, subject and audience",
        700211: "give the application a federated credential for the assertion's issuer; a trailing slash matters",
        700212: "give the application a federated credential for the assertion's audience",
        700213: "give the application a federated credential for the assertion's subject",
        7002138:
            "write the federated credential's issuer and subject in the same letters as the assertion: case matters",
        70023: "have the assertion made for less than a day",
        7000112: "the application is disabled in this tenant; ask the administrator",
        7000229: "the application has no service principal in this tenant; ask the administrator to consent to it",
        53003: "a Conditional Access policy for workload identities blocks the application here; ask the administrator",
        501_051: "ask the administrator to assign the application a role of the resource",
        50196: "the same request came too often: wait a few minutes, and look for a script that repeats it",
    ]

    /// Hints for errors that only a change of the configuration or the app registration can fix.
    static let registration: [Int: String] = [
        50011: "add http://localhost to the app registration's redirect URIs for mobile and desktop applications",
        700016: "check the client ID, and that the application exists in the authority's tenant",
        7000218: "turn on \"allow public client flows\" in the app registration's authentication settings",
        7000215: "register the application as a public client; lanyard sends no client secret",
        500_113: "add http://localhost to the app registration's redirect URIs for mobile and desktop applications",
        90002: "check the tenant in the authority's URL",
        900023: "check the tenant in the authority's URL",
        500011: "check the scopes: this tenant doesn't know the resource that they name",
        70011: "check the scopes: one is not known or does not fit the others",
        28000: "name scopes of one resource only in the rule: a token is valid for one",
        65005: "add the resource's permissions to the app registration",
        650057: "add the resource's permissions to the app registration",
        50194: "configure the authority with the tenant's id: the application is for one tenant only",
    ]

    /// Hints for policies of the organisation that forbid the sign-in.
    static let policy: [Int: String] = [
        53000: "a policy requires a compliant device: sign in on one, or ask the administrator",
        53001: "a policy requires a domain-joined device: sign in on one, or ask the administrator",
        53003: "a Conditional Access policy blocks this sign-in: "
            + "use a network and a device that the organisation allows, or ask the administrator",
        530_032: "a security policy of the organisation blocks this sign-in; ask the administrator",
        50097: "a policy requires a registered device: sign in on one, or ask the administrator",
        90094: "an administrator has to consent to the application first",
    ]

    /// The policies that a browser may satisfy although a device code didn't.
    private static let kindToBrowsers: [Int: String] = [
        53000: "a policy requires a compliant device", 53001: "a policy requires a domain-joined device",
        53003: "a Conditional Access policy blocks this sign-in", 50097: "a policy requires a registered device",
    ]

    /// Hints for errors that the user can fix on the sign-in page.
    static let user: [Int: String] = [
        50076: "sign in again and pass multi-factor authentication",
        50079: "sign in again and set up multi-factor authentication",
        50074: "sign in again and pass multi-factor authentication",
        65001: "sign in again and consent, or ask an administrator to consent to the application",
        65004: "sign in again and accept what the application asks for",
        50020: "choose an account of this tenant, or ask to be invited to it as a guest",
        50034: "choose an account that exists in this tenant",
        500_212: "choose another account: the organisation of this one doesn't let it into this tenant",
        500_213: "choose another account, or ask to be invited: this tenant doesn't let in accounts from outside",
        50053: "the account is locked: wait, or reset the password",
        50055: "change the expired password at the sign-in page",
        50057: "the account is disabled; ask the administrator",
        50105: "ask the administrator to assign you to the application",
        50173: "sign in again: the sessions of this account were revoked",
        70008: "sign in again: the session has expired",
        70043: "sign in again: a policy limits how long a session lasts",
        700082: "sign in again: the session was unused for too long",
        50196: "the same request came too often: wait a few minutes, and look for a script that repeats it",
    ]
}

extension OAuthError {
    /// Converts the error to one of the plugin protocol; `explain` returns an error for refusals that are specific to
    /// one kind of authority.
    func pluginError(explaining explain: (EntraRefusal) -> PluginError? = { _ in nil }) -> PluginError {
        if case .refused(let response, let stage) = kind {
            let refusal = EntraRefusal(response)
            return explain(refusal) ?? refusal.pluginError(stage)
        }
        var error = plain
        error.hint = advice
        return error
    }

    /// The hint, in the terms of Microsoft's portals.
    private var advice: String? {
        switch kind {
        case .unusableRedirect: "use http://localhost, registered under mobile and desktop applications"
        case .noAccessToken: "name a scope of the API that the token is for; for B2C the client ID itself is one"
        default: hint
        }
    }
}
