import Addresses
import HTTP
package import Secrets

/// A bounded device authorization response (RFC 8628, 3.2).
package struct DeviceAuthorization: Sendable, Equatable {
    /// The device code for the token endpoint.
    package let deviceCode: Secret
    /// The code that the user types.
    package let userCode: String
    /// The https URL where the user types the code.
    package let verificationURI: String
    /// The URL that includes the code; nil if the authority has none, or if it isn't https at the other URL's host.
    package let completeURI: String?
    /// One sentence that tells the user what to do.
    package let message: String
    /// Seconds until the codes expire.
    package let expiresIn: Int
    /// Seconds between polls.
    let interval: Int

    /// Parses a response.
    ///
    /// - Throws: the authority's refusal, `unavailable` if the answer isn't a device authorization response, or
    ///   `broken` if the URL to show isn't https.
    init(_ answer: HTTPAnswer, from host: String) throws(OAuthError) {
        if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .device) }
        guard answer.status != 404 else { throw OAuthError(.notFound, "\(host) offers no device codes") }
        guard (200..<300).contains(answer.status), let members = answer.json(Members.self),
            let page = members.verification_uri ?? members.verification_url
        else {
            throw .unreadable(from: host, not: "a device code (HTTP \(answer.status))")
        }
        guard let place = StrictURL(https: page)?.host else {
            throw OAuthError(.broken, "\(host) names a sign-in page that is not https")
        }
        guard let code = members.user_code.plain(limit: 64) else {
            throw OAuthError(.broken, "\(host) returned a code that can't be typed")
        }
        deviceCode = Secret(members.device_code)
        userCode = code
        verificationURI = page
        // The picture must not lead anywhere but to the host that is shown.
        completeURI = members.verification_uri_complete.flatMap { StrictURL(https: $0)?.host == place ? $0 : nil }
        message =
            members.message?.displayable()
            ?? "To sign in, open \(page.displayable(limit: 200)) and enter the code \(userCode)"
        expiresIn = min(max(members.expires_in?.value ?? 900, 1), 3_600)
        interval = min(max(members.interval?.value ?? 5, 1), 300)
    }

    private struct Members: Decodable {
        var device_code: String
        var user_code: String
        @Lenient var verification_uri: String?
        @Lenient var verification_url: String?
        @Lenient var verification_uri_complete: String?
        @Lenient var message: String?
        @Lenient var expires_in: LenientNumber?
        @Lenient var interval: LenientNumber?
    }
}
