import HTTP
import JWTKit
package import Secrets

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

extension IDToken {
    /// Whether the token is signed with a public-key algorithm rather than with the client secret.
    package var isSignedForAll: Bool { algorithm.map { !$0.hasPrefix("HS") } ?? false }
}
