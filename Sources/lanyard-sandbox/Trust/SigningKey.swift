import Addresses
import CryptoExtras
import FoundationEssentials
public import JSON
public import JWTKit

/// The key that signs and verifies this sandbox's tokens.
struct SigningKey: Sendable {
    private let keys: JWTKeyCollection
    private let identifier: String
    /// The JSON Web Key Set that the authority publishes (RFC 7517).
    let published: JSONValue

    init() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let primitives = try key.publicKey.getKeyPrimitives()
        identifier = newSecret(bytes: 20)
        keys = try await JWTKeyCollection().add(
            rsa: Insecure.RSA.PrivateKey(backing: key), digestAlgorithm: .sha256,
            kid: JWKIdentifier(string: identifier))
        published = [
            "keys": [
                [
                    "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(identifier), "x5t": .string(identifier),
                    "n": .string(Base64URL.encode(primitives.modulus)),
                    "e": .string(Base64URL.encode(primitives.publicExponent)),
                ]
            ]
        ]
    }

    func sign(_ claims: Claims) async throws -> String {
        try await keys.sign(claims, kid: JWKIdentifier(string: identifier), header: ["typ": "JWT", "alg": "RS256"])
    }

    /// Returns the claims of a token signed with this key; nil for anything else, including `alg: none`.
    ///
    /// The caller must check the expiry and audience.
    func verify(_ token: String) async -> Claims? {
        guard let header = Claims(part: token.prefix { $0 != "." }),
            header["alg"]?.string == "RS256", header["kid"]?.string == identifier
        else { return nil }
        return try? await keys.verify(token, as: Claims.self)
    }
}

/// A token's claims, or its header.
typealias Claims = [String: JSONValue]

extension Claims: @retroactive JWTPayload {
    /// Reads a part of a token; nil if it is no JSON object in base64.
    init?(part: Substring) {
        guard let bytes = Base64URL.decode(part), let members = JSONValue(bytes: bytes)?.members else { return nil }
        self = members
    }

    /// Does nothing: each resource checks the claims itself.
    public func verify(using algorithm: some JWTAlgorithm) {}
}
