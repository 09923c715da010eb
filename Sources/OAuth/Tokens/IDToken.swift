import Addresses
package import FoundationEssentials
package import Secrets

/// Who signed in, as the ID token tells (OpenID Connect Core 1.0, 2).
///
/// It came from the token endpoint itself over TLS, which stands for its signature (3.1.3.7, rule 6); everything else of
/// that clause is checked.
package struct IDToken: Sendable, Equatable {
    /// How far the clocks of an authority's servers may be apart, in seconds.
    private static let skew = 300.0

    /// `iss`.
    package let issuer: String
    /// `aud`.
    package let audiences: [String]
    let expires: Int
    let issued: Int?
    let notBefore: Int?
    let nonce: String?
    /// `sub`: the account, for this issuer.
    package let subject: String
    private let payload: Data

    /// Reads a token's claims; nothing is checked yet.
    ///
    /// - Throws: `broken` if it is no JSON web token.
    package init(_ token: Secret) throws(OAuthError) {
        let parts = token.reveal().pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]).map({ Data($0) }),
            let claims = try? JSONDecoder().decode(Payload.self, from: payload)
        else { throw OAuthError(.broken, "the authority gave an ID token that cannot be read") }
        issuer = claims.iss
        audiences = claims.aud.values
        expires = claims.exp.value
        issued = claims.iat?.value
        notBefore = claims.nbf?.value
        nonce = claims.nonce
        subject = claims.sub
        self.payload = payload
    }

    /// The token's claims as a type that has further ones; nil if they aren't of its types.
    package func claims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        try? JSONDecoder().decode(type, from: payload)
    }

    /// What the token must say.
    package struct Expectation: Sendable {
        /// The issuer, byte for byte.
        var issuer: String
        /// The client ID.
        var audience: String
        /// The nonce sent with the authorization request; nil if there was none.
        var nonce: String?

        /// Makes an expectation.
        package init(issuer: String, audience: String, nonce: String?) {
            self.issuer = issuer
            self.audience = audience
            self.nonce = nonce
        }
    }

    /// Checks the token (OpenID Connect Core 1.0, 3.1.3.7).
    ///
    /// Its times are judged by the clock of the authority, which has just sent it: this computer's may be hours off, and the
    /// token is none the worse for it.
    ///
    /// - Parameters:
    ///   - expectation: what the token must say.
    ///   - sent: when the authority sent it, by its own clock; nil if it didn't say, which leaves when it made it.
    /// - Throws: `broken`, naming the claim that is wrong.
    package func check(_ expectation: Expectation, sent: Date?) throws(OAuthError) {
        guard issuer.utf8.elementsEqual(expectation.issuer.utf8) else {
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

    private static func wrong(_ text: String, hint: String? = nil) -> OAuthError {
        OAuthError(.broken, "the ID token \(text)", hint: hint)
    }

    private struct Payload: Decodable {
        var iss: String
        var aud: OneOrMore
        var exp: LenientNumber
        var iat: LenientNumber?
        var nbf: LenientNumber?
        var nonce: String?
        var sub: String
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
