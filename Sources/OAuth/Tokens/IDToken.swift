import Addresses
package import FoundationEssentials
import HTTP
package import JSON
import JWTKit
package import Secrets

/// An ID token, which says who signed in (OpenID Connect Core 1.0, 2).
///
/// The token came directly from the token endpoint over TLS, which replaces checking its signature (3.1.3.7, rule 6) if
/// the issuer publishes no keys (`IssuerKeys`). All other rules of that clause are checked.
package struct IDToken: Sendable, Equatable {
    /// The tolerance for differences between the clocks of an authority's servers, in seconds.
    private static let skew = 300.0
    /// The maximum length of `sub` (OpenID Connect Core 1.0, 2).
    private static let longestSubject = 255

    /// The claims.
    package let claims: JSONValue
    /// The `iss` claim.
    package let issuer: String
    /// The `aud` claim.
    package let audiences: [String]
    /// The `sub` claim, which identifies the account at this issuer.
    package let subject: String
    /// The `exp` claim.
    private let end: Int
    /// The signature's algorithm; nil if the header doesn't name it.
    package let algorithm: String?
    /// The ID of the issuer's signing key; nil if the header doesn't name it.
    let keyID: String?

    /// Parses a token's claims without checking them.
    ///
    /// - Throws: `broken` if it isn't a JSON web token.
    package init(_ token: Secret) throws(OAuthError) {
        guard let token = WebToken(token.reveal()), let claims = token.payload.flatMap({ JSONValue(bytes: $0) }),
            let issuer = claims["iss"]?.string, let audiences = claims["aud"]?.texts,
            let subject = claims["sub"]?.string, let end = claims["exp"]?.boundedNumber,
            claims.hasTexts("nonce", "azp"),
            ["iat", "nbf"].allSatisfy({ (claims[$0] ?? .null) == .null || claims[$0]?.boundedNumber != nil })
        else { throw OAuthError(.untrusted, "the authority returned an ID token that cannot be read") }
        (self.claims, self.issuer, self.audiences, self.subject, self.end) = (claims, issuer, audiences, subject, end)
        let header = JSONValue(bytes: token.header)
        (algorithm, keyID) = (header?["alg"]?.string, header?["kid"]?.string)
    }

    /// The required contents of the token.
    package struct Expectation: Sendable {
        /// The issuer, compared byte for byte.
        var issuer: String
        /// The client ID.
        var audience: String
        /// The nonce of the authorization request; nil if there was none.
        var nonce: String?

        /// Whether the token must contain everything that OpenID Connect requires.
        ///
        /// That includes its issue time, its signature's algorithm and, if it has several audiences, the authorized
        /// party. Some authorities omit some of these.
        package var isStrict = false

        /// Creates a lenient expectation.
        package init(issuer: String, audience: String, nonce: String?) {
            self.issuer = issuer
            self.audience = audience
            self.nonce = nonce
        }
    }

    /// Validates the token (OpenID Connect Core 1.0, 3.1.3.7).
    ///
    /// Its times are compared with the clock of the authority, which has just sent it: this computer's clock may be
    /// hours off, which doesn't make the token invalid.
    ///
    /// - Parameters:
    ///   - expectation: The required contents.
    ///   - sent: When the authority sent the token, by its own clock; if nil, the token's issue time is used.
    /// - Throws: `broken`, naming the wrong claim.
    package func check(_ expectation: Expectation, sent: Date?) throws(OAuthError) {
        guard issuer.utf8.elementsEqual(expectation.issuer.utf8) else {
            throw Self.wrong(
                "names a different issuer than its authority: \(issuer.displayable(limit: 200))",
                hint: OAuthError.checkAuthority(issuer))
        }
        guard audiences.contains(expectation.audience) else { throw Self.wrong("is for another application") }
        if expectation.isStrict { try checkForm(for: expectation.audience) }
        let issued = claims["iat"]?.boundedNumber.map(Double.init)
        let time = sent?.timeIntervalSince1970 ?? issued ?? Date.now.timeIntervalSince1970
        guard time < Double(end) + Self.skew else { throw Self.wrong("had expired when it was sent") }
        if let start = claims["nbf"]?.boundedNumber, time < Double(start) - Self.skew {
            throw Self.wrong("was not valid yet when it was sent")
        }
        if expectation.isStrict, let issued, issued > time + Self.skew {
            throw Self.wrong("was made after it was sent")
        }
        if let expected = expectation.nonce, claims["nonce"]?.string != expected {
            throw Self.wrong("belongs to another sign-in", hint: "sign in again")
        }
    }

    /// Checks the additional rules of a strict expectation.
    private func checkForm(for audience: String) throws(OAuthError) {
        guard let algorithm, algorithm.lowercased() != "none" else { throw Self.wrong("is not signed") }
        guard audiences.count == 1 || claims["azp"]?.string == audience else {
            throw Self.wrong("is for several applications, and was not asked for by this one")
        }
        guard claims["iat"]?.boundedNumber != nil else { throw Self.wrong("does not say when it was made") }
        guard (1...Self.longestSubject).contains(subject.utf8.count) else {
            throw Self.wrong("does not say in \(Self.longestSubject) characters who signed in")
        }
    }

    private static func wrong(_ text: String, hint: String? = nil) -> OAuthError {
        OAuthError(.untrusted, "the ID token \(text)", hint: hint)
    }

    /// Whether the token is signed with a public-key algorithm rather than with the client secret.
    package var isSignedForAll: Bool { algorithm.map { !$0.hasPrefix("HS") } ?? false }
}

/// The public keys of an issuer, for verifying its signatures (RFC 7517).
package struct IssuerKeys: Sendable {
    /// The limit of keys; no issuer uses more.
    private static let most = 64

    private let keys: [JWK]

    /// Fetches an issuer's keys.
    ///
    /// - Throws: `unavailable` if they can't be read.
    package static func fetch(
        _ url: String, of authority: String, over transport: Transport
    ) async throws(OAuthError) -> IssuerKeys {
        let answer = try await transport.get(url)
        guard answer.status == 200, case .array(let keys)? = answer.json?["keys"] else {
            throw .unreadable(from: authority, not: "a key set (HTTP \(answer.status))")
        }
        // Some are of types that aren't supported.
        let known = keys.prefix(most).compactMap { try? JSONDecoder().decode(JWK.self, from: Data($0.encoded())) }
        return IssuerKeys(keys: known)
    }

    /// Verifies that one of the keys signed a token.
    ///
    /// - Throws: `untrusted` if none did.
    package func verify(_ token: Secret, _ claims: IDToken) async throws(OAuthError) {
        let named = keys.filter { claims.keyID == nil || $0.keyIdentifier.map { $0.string == claims.keyID } ?? true }
        for key in named where await Self.verifies(token, by: key) { return }
        throw OAuthError(
            .untrusted, "the ID token is not signed with a key that its issuer publishes",
            hint: "check that nothing else answers in the issuer's place")
    }

    private static func verifies(_ token: Secret, by key: JWK) async -> Bool {
        var key = key
        key.keyIdentifier = JWKIdentifier(string: "the only one")
        let collection = try? await JWTKeyCollection().add(jwk: key, isDefault: true)
        return (try? await collection?.verify(token.reveal(), as: Anything.self)) != nil
    }

    private struct Anything: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

extension Secret {
    /// The unverified claims of a JSON web token; nil if it isn't one.
    package var unverifiedClaims: JSONValue? { WebToken(reveal())?.payload.flatMap { JSONValue(bytes: $0) } }
}
