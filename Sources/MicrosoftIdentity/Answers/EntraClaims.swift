import Addresses
import OAuth
import Secrets

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
