import Addresses
package import FoundationEssentials
package import Secrets

/// Who signed in, as the ID token tells (OpenID Connect Core 1.0, 2).
///
/// It came from the token endpoint itself over TLS, which stands for its signature (3.1.3.7, rule 6) if its issuer publishes no keys
/// (`IssuerKeys`); everything else of that clause is checked.
package struct IDToken: Sendable, Equatable {
    /// How far the clocks of an authority's servers may be apart, in seconds.
    private static let skew = 300.0
    /// OpenID Connect Core 1.0, 2.
    private static let longestSubject = 255

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
    /// The signature's algorithm; nil if the header doesn't say.
    package let algorithm: String?
    /// Which of the issuer's keys it is signed with; nil if the header doesn't say.
    let keyID: String?
    private let authorizedParty: String?
    private let payload: Data

    /// Reads a token's claims; nothing is checked yet.
    ///
    /// - Throws: `broken` if it is no JSON web token.
    package init(_ token: Secret) throws(OAuthError) {
        let parts = token.reveal().pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]).map({ Data($0) }),
            let claims = try? JSONDecoder().decode(Payload.self, from: payload)
        else { throw OAuthError(.untrusted, "the authority returned an ID token that cannot be read") }
        let header = Base64URL.decode(parts[0]).flatMap { try? JSONDecoder().decode(Header.self, from: Data($0)) }
        algorithm = header?.alg
        keyID = header?.kid
        authorizedParty = claims.azp
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

        /// Whether the token must say all that OpenID Connect wants it to.
        ///
        /// That is when it was made, how it is signed and, if it is for several, who asked for it. Some authorities leave
        /// some of it out.
        package var isStrict = false

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
            throw Self.wrong(
                "names a different issuer than its authority: \(issuer.displayable(limit: 200))",
                hint: OAuthError.checkAuthority(issuer))
        }
        guard audiences.contains(expectation.audience) else { throw Self.wrong("is for another application") }
        if expectation.isStrict { try checkForm(for: expectation.audience) }
        let time = sent?.timeIntervalSince1970 ?? issued.map(Double.init) ?? Date.now.timeIntervalSince1970
        guard time < Double(expires) + Self.skew else { throw Self.wrong("had expired when it was sent") }
        if let notBefore, time < Double(notBefore) - Self.skew {
            throw Self.wrong("was not valid yet when it was sent")
        }
        if expectation.isStrict, let issued, Double(issued) > time + Self.skew {
            throw Self.wrong("was made after it was sent")
        }
        if let expected = expectation.nonce, nonce != expected {
            throw Self.wrong("belongs to another sign-in", hint: "sign in again")
        }
    }

    /// Checks what every token must say, whoever it is for.
    private func checkForm(for audience: String) throws(OAuthError) {
        guard let algorithm, algorithm.lowercased() != "none" else { throw Self.wrong("is not signed") }
        guard audiences.count == 1 || authorizedParty == audience else {
            throw Self.wrong("is for several applications, and was not asked for by this one")
        }
        guard issued != nil else { throw Self.wrong("does not say when it was made") }
        guard (1...Self.longestSubject).contains(subject.utf8.count) else {
            throw Self.wrong("does not say in \(Self.longestSubject) characters who signed in")
        }
    }

    private static func wrong(_ text: String, hint: String? = nil) -> OAuthError {
        OAuthError(.untrusted, "the ID token \(text)", hint: hint)
    }

    private struct Payload: Decodable {
        var iss: String
        var aud: OneOrMore
        var exp: LenientNumber
        var iat: LenientNumber?
        var nbf: LenientNumber?
        var nonce: String?
        var sub: String
        var azp: String?
    }

    private struct Header: Decodable {
        var alg: String?
        var kid: String?
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
