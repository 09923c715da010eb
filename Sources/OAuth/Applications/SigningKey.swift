import Crypto
import CryptoExtras
import FoundationEssentials

/// A private key, and what it signs with.
struct SigningKey: Sendable {
    /// The public key, as its certificate contains it.
    let publicKey: Data
    /// The algorithms that it can sign with (RFC 7518, 3.1), the most common one first.
    let algorithms: [String]
    private let signature: @Sendable (Data, String) throws -> Data

    private init(_ publicKey: Data, _ algorithms: [String], by sign: @escaping @Sendable (Data, String) throws -> Data)
    {
        (self.publicKey, self.algorithms, signature) = (publicKey, algorithms, sign)
    }

    /// Reads a key; nil unless it is RSA with 2048 bits or more, or of a curve that has an algorithm.
    init?(der: [UInt8]) {
        if let key = try? _RSA.Signing.PrivateKey(derRepresentation: der) {
            self.init(key.publicKey.pkcs1DERRepresentation, ["RS256", "PS256"]) {
                try key.signature(for: SHA256.hash(data: $0), padding: $1 == "PS256" ? .PSS : .insecurePKCS1v1_5)
                    .rawRepresentation
            }
        } else if let key = try? P256.Signing.PrivateKey(derRepresentation: der) {
            self.init(key.publicKey.x963Representation, ["ES256"]) { data, _ in
                try key.signature(for: data).rawRepresentation
            }
        } else if let key = try? P384.Signing.PrivateKey(derRepresentation: der) {
            self.init(key.publicKey.x963Representation, ["ES384"]) { data, _ in
                try key.signature(for: data).rawRepresentation
            }
        } else if let key = try? P521.Signing.PrivateKey(derRepresentation: der) {
            self.init(key.publicKey.x963Representation, ["ES512"]) { data, _ in
                try key.signature(for: data).rawRepresentation
            }
        } else {
            return nil
        }
    }

    /// Signs data with one of its algorithms.
    func sign(_ data: Data, by algorithm: String) throws -> Data { try signature(data, algorithm) }
}
