import Addresses
package import FoundationEssentials
import HTTP
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

    private let header: Header?
    private let claims: Claims
    private let payload: Data

    /// The `iss` claim.
    package var issuer: String { claims.iss }
    /// The `aud` claim.
    package var audiences: [String] { claims.aud.values }
    /// The `sub` claim, which identifies the account at this issuer.
    package var subject: String { claims.sub }
    /// The signature's algorithm; nil if the header doesn't name it.
    package var algorithm: String? { header?.alg }
    /// The ID of the issuer's signing key; nil if the header doesn't name it.
    var keyID: String? { header?.kid }

    /// Parses a token's claims without checking them.
    ///
    /// - Throws: `broken` if it isn't a JSON web token.
    package init(_ token: Secret) throws(OAuthError) {
        guard let token = WebToken(token.reveal()), let payload = token.payload.map({ Data($0) }),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        else { throw OAuthError(.untrusted, "the authority returned an ID token that cannot be read") }
        header = try? JSONDecoder().decode(Header.self, from: Data(token.header))
        self.claims = claims
        self.payload = payload
    }

    /// Decodes the claims as a type with additional claims; nil if their types don't match.
    package func claims<Wanted: Decodable>(_ type: Wanted.Type) -> Wanted? {
        try? JSONDecoder().decode(type, from: payload)
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
        let issued = claims.iat.map { Double($0.value) }
        let time = sent?.timeIntervalSince1970 ?? issued ?? Date.now.timeIntervalSince1970
        guard time < Double(claims.exp.value) + Self.skew else { throw Self.wrong("had expired when it was sent") }
        if let start = claims.nbf?.value, time < Double(start) - Self.skew {
            throw Self.wrong("was not valid yet when it was sent")
        }
        if expectation.isStrict, let issued, issued > time + Self.skew {
            throw Self.wrong("was made after it was sent")
        }
        if let expected = expectation.nonce, claims.nonce != expected {
            throw Self.wrong("belongs to another sign-in", hint: "sign in again")
        }
    }

    /// Checks the additional rules of a strict expectation.
    private func checkForm(for audience: String) throws(OAuthError) {
        guard let algorithm, algorithm.lowercased() != "none" else { throw Self.wrong("is not signed") }
        guard audiences.count == 1 || claims.azp == audience else {
            throw Self.wrong("is for several applications, and was not asked for by this one")
        }
        guard claims.iat != nil else { throw Self.wrong("does not say when it was made") }
        guard (1...Self.longestSubject).contains(subject.utf8.count) else {
            throw Self.wrong("does not say in \(Self.longestSubject) characters who signed in")
        }
    }

    private static func wrong(_ text: String, hint: String? = nil) -> OAuthError {
        OAuthError(.untrusted, "the ID token \(text)", hint: hint)
    }

    private struct Claims: Decodable, Equatable {
        var iss: String
        var aud: OneOrMore
        var exp: LenientNumber
        var iat: LenientNumber?
        var nbf: LenientNumber?
        var nonce: String?
        var sub: String
        var azp: String?
    }

    private struct Header: Decodable, Equatable {
        var alg: String?
        var kid: String?
    }

    private struct OneOrMore: Decodable, Equatable {
        var values: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            values =
                if let one = try? container.decode(String.self) { [one] } else { try container.decode([String].self) }
        }
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
        guard answer.status == 200, let document = answer.json(Document.self) else {
            throw .unreadable(from: authority, not: "a key set (HTTP \(answer.status))")
        }
        return IssuerKeys(keys: document.keys.prefix(most).compactMap(\.key))
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

    private struct Document: Decodable {
        var keys: [Entry]
    }

    /// A key in the set; nil if its type isn't supported.
    private struct Entry: Decodable {
        var key: JWK?

        init(from decoder: any Decoder) throws { key = try? JWK(from: decoder) }
    }
}

extension Secret {
    /// Decodes the unverified claims of a JSON web token; nil if it isn't one, or the types don't match.
    package func unverifiedClaims<Claims: Decodable>(_ type: Claims.Type) -> Claims? {
        WebToken(reveal())?.payload.flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }
}
