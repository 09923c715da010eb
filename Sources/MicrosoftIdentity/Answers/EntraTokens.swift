import OAuth

/// A token response with the additional members of Microsoft's authorities.
struct EntraTokens: Sendable, Equatable {
    /// The lifetime if the response has none.
    private static let usualLifetime = 3_600

    let response: TokenResponse
    private let members: Members?

    var expiresIn: Int {
        response.expiresIn ?? response.lifetime(nil, until: members?.expires_on) ?? Self.usualLifetime
    }
    var extendedExpiresIn: Int? { response.lifetime(members?.ext_expires_in, until: members?.ext_expires_on) }
    var refreshIn: Int? { response.lifetime(members?.refresh_in, until: members?.refresh_on) }
    var familyID: String? { members?.foci }
    var clientInfo: String? { members?.client_info }

    /// Parses the members that a response has besides OAuth's; one of another type counts as absent.
    init(_ response: TokenResponse) {
        self.response = response
        members = response.members(Members.self)
    }

    private struct Members: Decodable, Equatable {
        @Lenient var foci: String?
        @Lenient var client_info: String?
        @Lenient var expires_on: LenientNumber?
        @Lenient var ext_expires_in: LenientNumber?
        @Lenient var ext_expires_on: LenientNumber?
        @Lenient var refresh_in: LenientNumber?
        @Lenient var refresh_on: LenientNumber?
    }
}
