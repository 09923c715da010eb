import OAuth

/// A token response with the additional members of Microsoft's authorities.
struct EntraTokens: Sendable, Equatable {
    /// The lifetime if the response has none.
    private static let usualLifetime = 3_600

    let response: TokenResponse
    let expiresIn: Int
    let extendedExpiresIn: Int?
    let refreshIn: Int?
    let familyID: String?
    let clientInfo: String?

    /// Parses the members that a response has besides OAuth's.
    ///
    /// - Throws: `unavailable` if their types don't match.
    init(_ response: TokenResponse, from authority: String) throws(OAuthError) {
        guard let members = response.members(Members.self) else { throw TokenResponse.unreadable(from: authority) }
        self.response = response
        expiresIn = response.expiresIn ?? response.lifetime(nil, until: members.expiresOn) ?? Self.usualLifetime
        extendedExpiresIn = response.lifetime(members.extendedExpiresIn, until: members.extendedExpiresOn)
        refreshIn = response.lifetime(members.refreshIn, until: members.refreshOn)
        familyID = members.familyID
        clientInfo = members.clientInfo
    }

    private struct Members: Decodable {
        var familyID: String?
        var clientInfo: String?
        var expiresOn: LenientNumber?
        var extendedExpiresIn: LenientNumber?
        var extendedExpiresOn: LenientNumber?
        var refreshIn: LenientNumber?
        var refreshOn: LenientNumber?

        enum CodingKeys: String, CodingKey {
            case familyID = "foci"
            case clientInfo = "client_info"
            case expiresOn = "expires_on"
            case extendedExpiresIn = "ext_expires_in"
            case extendedExpiresOn = "ext_expires_on"
            case refreshIn = "refresh_in"
            case refreshOn = "refresh_on"
        }
    }
}
