package import Secrets

/// The answer of the device authorization endpoint (RFC 8628, 3.2), bounded.
package struct DeviceAuthorization: Sendable, Equatable {
    /// What the token endpoint is asked with.
    package let deviceCode: Secret
    /// What the person types.
    package let userCode: String
    /// Where the person types it; https.
    package let verificationURI: String
    /// The page with the code in it; nil if the authority has none, or none that is https.
    package let completeURI: String?
    /// One sentence that tells the person what to do.
    package let message: String
    /// Seconds until the codes expire.
    package let expiresIn: Int
    /// Seconds between polls.
    let interval: Int

    /// Reads an answer.
    ///
    /// - Throws: what the authority refuses with, `unavailable` if the answer is none, `broken` if the page to show is not
    ///   https.
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
        guard (try? HTTPSAddress(page)) != nil else {
            throw OAuthError(.broken, "\(host) names a sign-in page that is not https")
        }
        guard let code = members.userCode.plain(limit: 64) else {
            throw OAuthError(.broken, "\(host) returned a code that can't be typed")
        }
        deviceCode = Secret(members.deviceCode)
        userCode = code
        verificationURI = page
        completeURI = members.completeURI.flatMap { (try? HTTPSAddress($0)) == nil ? nil : $0 }
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
