import Addresses
package import Secrets

/// A bounded device authorization response (RFC 8628, 3.2).
package struct DeviceAuthorization: Sendable, Equatable {
    /// The device code for the token endpoint.
    package let deviceCode: Secret
    /// The code that the user types.
    package let userCode: String
    /// The https URL where the user types the code.
    package let verificationURI: String
    /// The URL that includes the code; nil if the authority has none, or if it isn't https.
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
        guard answer.status == 200, let members = answer.json(Members.self),
            let page = members.verificationURI ?? members.verificationURL
        else {
            throw OAuthError(
                .unavailable, "\(host) answered with something that is not a device code (HTTP \(answer.status))",
                hint: "check that no proxy or network sign-in page is in between")
        }
        guard StrictURL(https: page) != nil else {
            throw OAuthError(.broken, "\(host) names a sign-in page that is not https")
        }
        guard let code = members.userCode.plain(limit: 64) else {
            throw OAuthError(.broken, "\(host) returned a code that can't be typed")
        }
        deviceCode = Secret(members.deviceCode)
        userCode = code
        verificationURI = page
        completeURI = members.completeURI.flatMap { StrictURL(https: $0) == nil ? nil : $0 }
        message =
            members.message?.displayable()
            ?? "To sign in, open \(page.displayable(limit: 200)) and enter the code \(userCode)"
        expiresIn = min(max(members.expiresIn?.value ?? 900, 1), 3_600)
        interval = min(max(members.interval?.value ?? 5, 1), 300)
    }

    private struct Members: Decodable {
        var deviceCode: String
        var userCode: String
        var verificationURI: String?
        var verificationURL: String?
        var completeURI: String?
        var message: String?
        var expiresIn: LenientNumber?
        var interval: LenientNumber?

        enum CodingKeys: String, CodingKey {
            case deviceCode = "device_code"
            case userCode = "user_code"
            case verificationURI = "verification_uri"
            case verificationURL = "verification_url"
            case completeURI = "verification_uri_complete"
            case message
            case expiresIn = "expires_in"
            case interval
        }
    }
}
