import Addresses
import JSON
import OAuth
package import PluginWire
import Secrets

/// A token response with the additional members of Microsoft's authorities.
struct EntraTokens: Sendable, Equatable {
    /// The lifetime if the response has none.
    private static let usualLifetime = 3_600

    let response: TokenResponse

    var expiresIn: Int {
        response.expiresIn ?? response.lifetime(nil, until: response["expires_on"]) ?? Self.usualLifetime
    }
    var extendedExpiresIn: Int? { response.lifetime(response["ext_expires_in"], until: response["ext_expires_on"]) }
    var refreshIn: Int? { response.lifetime(response["refresh_in"], until: response["refresh_on"]) }
    var familyID: String? { response["foci"]?.string }
    var clientInfo: String? { response["client_info"]?.string }

    /// Adds the members that a response has besides OAuth's; one of another type counts as absent.
    init(_ response: TokenResponse) { self.response = response }
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
            let info = JSONValue(bytes: bytes), info.members != nil, info.hasTexts("uid", "utid")
        else { return nil }
        uid = info["uid"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        utid = info["utid"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `uid.utid` in lower case; nil if either half is missing.
    package var homeAccountID: String? {
        guard let uid, let utid else { return nil }
        return "\(uid).\(utid)".lowercased()
    }
}

/// The ID token of a Microsoft authority, which says who signed in.
struct EntraClaims: Sendable, Equatable {
    let token: IDToken

    var objectID: String? { token.claims["oid"]?.string }
    var tenantID: String? { token.claims["tid"]?.string }
    var name: String? { token.claims["name"]?.string }
    var username: String? {
        let claims = token.claims
        return [claims["preferred_username"], claims["upn"], claims["emails"]?.elements.first, claims["email"]]
            .compactMap { $0?.string }.first { !$0.isEmpty }
    }
    /// The `logout_hint` for ending the session.
    var loginHint: String? { token.claims["login_hint"]?.string }

    /// Parses a token's claims without checking them.
    ///
    /// - Throws: `broken` if it isn't a JSON web token.
    init(_ text: Secret) throws(OAuthError) {
        token = try IDToken(text)
        let emails = token.claims["emails"] ?? .null
        guard token.claims.hasTexts("oid", "tid", "name", "preferred_username", "upn", "email", "login_hint"),
            emails == .null || emails.texts != nil
        else { throw OAuthError(.broken, "the authority returned an ID token that cannot be read") }
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
