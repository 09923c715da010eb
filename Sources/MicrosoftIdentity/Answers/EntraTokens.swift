import OAuth

/// A token response with the additional members of Microsoft's authorities.
struct EntraTokens: Sendable, Equatable {
    /// The lifetime if the response has none.
    private static let usualLifetime = 3_600

    let response: TokenResponse
    private let members: Members

    var expiresIn: Int { response.expiresIn ?? response.lifetime(nil, until: members.expires_on) ?? Self.usualLifetime }
    var extendedExpiresIn: Int? { response.lifetime(members.ext_expires_in, until: members.ext_expires_on) }
    var refreshIn: Int? { response.lifetime(members.refresh_in, until: members.refresh_on) }
    var familyID: String? { members.foci }
    var clientInfo: String? { members.client_info }

    /// Parses the members that a response has besides OAuth's.
    ///
    /// - Throws: `unavailable` if their types don't match.
    init(_ response: TokenResponse, from authority: String) throws(OAuthError) {
        guard let members = response.members(Members.self) else { throw TokenResponse.unreadable(from: authority) }
        self.response = response
        self.members = members
    }

    private struct Members: Decodable, Equatable {
        var foci: String?
        var client_info: String?
        var expires_on: LenientNumber?
        var ext_expires_in: LenientNumber?
        var ext_expires_on: LenientNumber?
        var refresh_in: LenientNumber?
        var refresh_on: LenientNumber?
    }
}
