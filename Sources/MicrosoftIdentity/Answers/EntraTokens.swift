import Addresses
import FoundationEssentials
import OAuth
package import PluginWire
import Secrets

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

/// Entra's `client_info`, which identifies the account independently of any ID token.
package struct ClientInfo: Sendable, Equatable {
    /// The tenant of all personal accounts.
    package static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The object ID in the home tenant; for B2C with `-policy` appended.
    package let uid: String?
    /// The home tenant's ID.
    package let utid: String?

    /// Parses base64url-encoded JSON; nil if it isn't that, while missing or additional members are no error.
    package init?(_ text: String) {
        guard text.utf8.count <= 16_384, let bytes = Base64URL.decode(text),
            let members = try? JSONDecoder().decode(Members.self, from: Data(bytes))
        else { return nil }
        uid = members.uid.flatMap { $0.isEmpty ? nil : $0 }
        utid = members.utid.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `uid.utid` in lower case; nil if either half is missing.
    package var homeAccountID: String? {
        guard let uid, let utid else { return nil }
        return "\(uid).\(utid)".lowercased()
    }

    private struct Members: Decodable {
        var uid: String?
        var utid: String?
    }
}

/// The ID token of a Microsoft authority, which says who signed in.
struct EntraClaims: Sendable, Equatable {
    let token: IDToken
    private let claims: Payload

    var objectID: String? { claims.oid }
    var tenantID: String? { claims.tid }
    var name: String? { claims.name }
    var username: String? {
        [claims.preferred_username, claims.upn, claims.emails?.first, claims.email]
            .compactMap(\.self).first { !$0.isEmpty }
    }
    /// The `logout_hint` for ending the session.
    var loginHint: String? { claims.login_hint }

    /// Parses a token's claims without checking them.
    ///
    /// - Throws: `broken` if it isn't a JSON web token.
    init(_ text: Secret) throws(OAuthError) {
        token = try IDToken(text)
        guard let claims = token.claims(Payload.self) else {
            throw OAuthError(.broken, "the authority returned an ID token that cannot be read")
        }
        self.claims = claims
    }

    /// Returns the issuer that the token must name.
    ///
    /// It is the token's own issuer if that equals the configuration's, for the token's tenant, at any host of the
    /// environment; else the configuration's.
    func expectedIssuer(_ issuer: String, aliases: [String]) -> String {
        let expected = issuer.replacing(bytes: "{tenantid}", with: tenantID ?? "")
        guard let named = StrictURL(https: token.issuer), let wanted = StrictURL(https: expected) else {
            return expected
        }
        let isSameHost =
            named.hostText == wanted.hostText
            || (aliases.contains(named.hostText) && aliases.contains(wanted.hostText))
        let isSamePath = named.segments.map { $0.lowercased() } == wanted.segments.map { $0.lowercased() }
        return isSameHost && isSamePath ? token.issuer : expected
    }

    private struct Payload: Decodable, Equatable {
        var oid: String?
        var tid: String?
        var name: String?
        var preferred_username: String?
        var upn: String?
        var email: String?
        var emails: [String]?
        var login_hint: String?
    }
}

extension PluginAccount {
    /// Sets what is known of the account by its home tenant: its kind, the tenant's ID and, if the account is an
    /// organisation's and the tokens are for that tenant, its domain.
    ///
    /// - Parameters:
    ///   - realm: The tenant of the tokens.
    ///   - username: The user name according to the authority; nil if it doesn't say.
    ///   - isB2C: Whether the account is of Azure AD B2C.
    package mutating func setHome(tokensFor realm: String, username: String?, isB2C: Bool = false) {
        authorityType = "MSSTS"
        kind = isB2C ? "B2C" : "work or school"
        guard let tenant = homeAccountID.pieces(between: ".").last.map({ $0.lowercased() }), tenant.isUUID
        else { return }
        homeRealms = [tenant]
        if tenant == ClientInfo.personalTenant {
            kind = "personal"
        } else if !isB2C, tenant == realm.lowercased(), let domain = username?.mailDomain {
            homeRealms.append(domain)
        }
    }
}
