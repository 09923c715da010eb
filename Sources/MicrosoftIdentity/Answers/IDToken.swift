import Addresses
import FoundationEssentials
import PluginWire
import Secrets

/// Who signed in, as the id token tells (OpenID Connect Core 1.0, 2).
///
/// It came from the token endpoint itself over TLS, which stands for its signature (3.1.3.7, rule 6); everything else of
/// that clause is checked.
struct IDToken: Sendable, Equatable {
    /// How far the clocks of an authority's servers may be apart, in seconds.
    private static let skew = 300.0

    let issuer: String
    let audiences: [String]
    let expires: Int
    let issued: Int?
    let notBefore: Int?
    let nonce: String?
    let subject: String
    let objectID: String?
    let tenantID: String?
    let name: String?
    let username: String?
    /// What to name the session by when it is ended.
    let loginHint: String?

    /// Reads a token's claims; nothing is checked yet.
    ///
    /// - Throws: `internal` where it is no JSON web token.
    init(_ token: Secret) throws(PluginError) {
        let parts = token.reveal().pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])),
            let claims = try? JSONDecoder().decode(Payload.self, from: payload)
        else { throw PluginError(.internal, "the authority gave an id token that cannot be read") }
        issuer = claims.iss
        audiences = claims.aud.values
        expires = claims.exp.value
        issued = claims.iat?.value
        notBefore = claims.nbf?.value
        nonce = claims.nonce
        subject = claims.sub
        objectID = claims.oid
        tenantID = claims.tid
        name = claims.name
        loginHint = claims.loginHint
        username = [claims.preferredUsername, claims.upn, claims.emails?.first, claims.email]
            .compactMap(\.self).first { !$0.isEmpty }
    }

    /// What the token must say.
    struct Expectation: Sendable {
        /// The OpenID configuration's issuer.
        var issuer: String
        /// Hosts that may stand for the issuer's.
        var aliases: [String]
        /// The client id.
        var audience: String
        /// The nonce sent with the authorization request; nil where there was none.
        var nonce: String?
    }

    /// Checks the token (OpenID Connect Core 1.0, 3.1.3.7).
    ///
    /// Its times are judged by the clock of the authority, which has just sent it: this computer's may be hours off, and the
    /// token is none the worse for it.
    ///
    /// - Parameters:
    ///   - expectation: what the token must say.
    ///   - sent: when the authority sent it, by its own clock; nil if it didn't say, which leaves when it made it.
    /// - Throws: `internal`, naming the claim that is wrong.
    func check(_ expectation: Expectation, sent: Date?) throws(PluginError) {
        guard hasIssuer(expectation) else {
            throw Self.wrong("names another issuer than its authority: \(issuer.displayable(limit: 200))")
        }
        guard audiences.contains(expectation.audience) else { throw Self.wrong("is for another application") }
        let time = sent?.timeIntervalSince1970 ?? issued.map(Double.init) ?? Date.now.timeIntervalSince1970
        guard time < Double(expires) + Self.skew else { throw Self.wrong("had expired when it was sent") }
        if let notBefore, time < Double(notBefore) - Self.skew {
            throw Self.wrong("was not valid yet when it was sent")
        }
        if let expected = expectation.nonce, nonce != expected {
            throw Self.wrong("belongs to another sign-in", hint: "sign in again")
        }
    }

    /// Whether the issuer is the configuration's for the token's tenant, at any host of the environment.
    private func hasIssuer(_ expectation: Expectation) -> Bool {
        let expected = expectation.issuer.replacing(bytes: "{tenantid}", with: tenantID ?? "")
        guard let named = try? WebAddress(issuer), let wanted = try? WebAddress(expected) else { return false }
        let isSameHost =
            named.environment == wanted.environment
            || (expectation.aliases.contains(named.environment) && expectation.aliases.contains(wanted.environment))
        return isSameHost && named.segments.map { $0.lowercased() } == wanted.segments.map { $0.lowercased() }
    }

    private static func wrong(_ text: String, hint: String? = nil) -> PluginError {
        PluginError(.internal, "the id token \(text)", hint: hint)
    }

    private struct Payload: Decodable {
        var iss: String
        var aud: OneOrMore
        var exp: LenientNumber
        var iat: LenientNumber?
        var nbf: LenientNumber?
        var nonce: String?
        var sub: String
        var oid: String?
        var tid: String?
        var name: String?
        var preferredUsername: String?
        var upn: String?
        var email: String?
        var emails: [String]?
        var loginHint: String?

        enum CodingKeys: String, CodingKey {
            case iss, aud, exp, iat, nbf, nonce, sub, oid, tid, name, upn, email, emails
            case preferredUsername = "preferred_username"
            case loginHint = "login_hint"
        }
    }

    private struct OneOrMore: Decodable {
        var values: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            values =
                if let one = try? container.decode(String.self) { [one] } else { try container.decode([String].self) }
        }
    }
}
