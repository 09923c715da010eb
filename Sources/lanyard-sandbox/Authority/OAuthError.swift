import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// An error response in the format and words that Entra's clients parse.
struct OAuthErrorResponse: Error, Sendable {
    var error: String
    /// The number after AADSTS, or after AADB2C if `isB2C`.
    var code: Int
    var message: String
    var suberror: String?
    var claims: String?
    var status: HTTPResponse.Status = .badRequest
    var isB2C = false
    /// Where to send it; nil if no redirect URI can be trusted, so that only the user sees it.
    var target: ReturnAddress?

    init(_ error: String, _ code: Int, _ message: String, suberror: String? = nil, claims: String? = nil) {
        self.error = error
        self.code = code
        self.message = message
        self.suberror = suberror
        self.claims = claims
    }

    static func b2c(_ error: String, _ code: Int, _ message: String) -> OAuthErrorResponse {
        var failure = OAuthErrorResponse(error, code, message)
        failure.isB2C = true
        return failure
    }

    func sent(to target: ReturnAddress) -> OAuthErrorResponse {
        var failure = self
        failure.target = target
        return failure
    }

    var label: String { isB2C ? "AADB2C\(code)" : "AADSTS\(code)" }

    func description(of visit: Visit, trace: String) -> String {
        let stamp = visit.arrived.entraTimestamp
        if isB2C {
            return "\(label): \(message)\r\nCorrelation ID: \(visit.correlationID)\r\nTimestamp: \(stamp)\r\n"
        }
        return "\(label): \(message) Trace ID: \(trace) Correlation ID: \(visit.correlationID) Timestamp: \(stamp)"
    }

    /// Returns the error response of a non-interactive endpoint.
    func response(to visit: Visit) -> Response {
        let trace = newIdentifier()
        var members: [String: JSONValue] = [
            "error": .string(error), "error_description": .string(description(of: visit, trace: trace)),
            "correlation_id": .string(visit.correlationID), "trace_id": .string(trace),
            "timestamp": .string(visit.arrived.entraTimestamp),
        ]
        if !isB2C {
            members["error_codes"] = [.integer(Int64(code))]
            members["error_uri"] = .string("https://login.microsoftonline.com/error?code=\(code)")
        }
        members["suberror"] = suberror.map(JSONValue.string)
        members["claims"] = claims.map(JSONValue.string)
        return .json(.object(members), status: status)
    }
}

extension OAuthErrorResponse {
    static func missing(_ parameter: String) -> OAuthErrorResponse {
        OAuthErrorResponse(
            "invalid_request", 900144, "The request body must contain the following parameter: '\(parameter)'.")
    }

    static func unknownTenant(_ name: String) -> OAuthErrorResponse {
        OAuthErrorResponse(
            "invalid_tenant", 90002,
            "Tenant '\(name)' not found. Check to make sure you have the correct tenant ID and are signing into the "
                + "correct cloud.")
    }

    static func unknownClient(_ id: String, in tenant: String) -> OAuthErrorResponse {
        OAuthErrorResponse(
            "unauthorized_client", 700016,
            "Application with identifier '\(id)' was not found in the directory '\(tenant.drop { $0 == "/" })'.")
    }

    static func unknownUser(_ username: String, in tenant: String) -> OAuthErrorResponse {
        OAuthErrorResponse(
            "invalid_grant", 50020,
            "User account '\(username)' does not exist in tenant '\(tenant.drop { $0 == "/" })' and cannot access the application in "
                + "that tenant. The account needs to be added as an external user in the tenant first.")
    }

    static let redirectMismatch = OAuthErrorResponse(
        "invalid_request", 50011,
        "The redirect URI specified in the request does not match the redirect URIs configured for the application.")
}

extension Date {
    /// The time in the format of Entra's errors, such as `2026-01-31 12:34:56Z`.
    var entraTimestamp: String {
        formatted(.iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false)) + "Z"
    }

    var unix: Int64 { Int64(timeIntervalSince1970) }
}
